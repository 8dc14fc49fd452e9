import GatewaySimulator
import Gateways
import LinuxIO
import PushModel
import TestSupport
import Testing

/// Defects of earlier senders that only show on a real connection.
@Suite(.timeLimit(.minutes(10)))
struct PriorArtTests {
    // samuraisam/pyapns#58, djacobs/PyAPNs#3: the first batch after an idle time vanished, though reported as sent.
    @Test(arguments: [false, true])
    func `writing into a dead connection is no success`(isReset: Bool) async throws {
        try await BenchPlan().run { bench in
            try await bench.submit(1)
            try await bench.settle()
            await bench.simulator.dropConnections(resetting: isReset)
            try await bench.submit(100)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 101)
            #expect(Set(Sample.accepted(await bench.simulator.ledger)) == Set(0..<101))
        }
    }

    // pyapns reset its delay when TCP connected, so that a refused certificate was shown every second for ever.
    @Test func `the pauses grow although TCP connects every time`() async throws {
        let plan = BenchPlan("fail-handshake") {
            $0.connectBackOff = BackOff(first: .milliseconds(1), ceiling: .milliseconds(256))
        }
        try await plan.run { bench in
            try await bench.submit(1)
            try await bench.collect { $0.reports.count == 9 }
            #expect(try #require(bench.record.reports.last).pause >= .milliseconds(128))
        }
    }

    // apns-client set its time limit for connecting as something else, and could wait for ever.
    @Test func `a peer that never answers the handshake is left in time`() async throws {
        try await onReactor { reactor in
            let silent = try Listener(on: try #require(SocketAddress(host: "127.0.0.1", port: 0)), reactor: reactor)
            let port = Int(silent.address.port)
            let plan = BenchPlan {
                $0.endpoint = Sample.endpoint(port)
                $0.timeouts.connect = .milliseconds(200)
            }
            try await plan.run { bench in
                try await bench.submit(1)
                try await bench.collect { $0.reports.count == 2 }
                #expect(bench.record.reports.allSatisfy { $0.fault.message.contains("ETIMEDOUT") })
            }
        }
    }

    // node-apn/node-apn#149: an empty token, answered with 0, had the whole window sent again without end.
    @Test func `an empty token answered with zero starts no storm`() async throws {
        var plan = BenchPlan()
        plan.rules.namesZeroForEmptyTokens = true
        try await plan.run { bench in
            var tokens = PackedBytes()
            for number in 0..<50 { tokens.append(number == 20 ? [] : Sample.token(number)) }
            try await bench.gateway.submit(
                Batch(
                    header: .init(job: Sample.job, attributes: Attributes()), firstIndex: 0, addresses: tokens,
                    payloads: .shared(Payload(bytes: Array("{}".utf8)))))
            try await bench.collect { $0.outcomes.count == 50 }
            #expect(bench.record.indices("rejected") == [20])
            let ledger = await bench.simulator.ledger
            let copies = ledger.duplicates.map { (Sample.number(of: $0.key), $0.value) }.sorted { $0.0 < $1.0 }
            #expect(copies.allSatisfy { $0.1 <= 6 }, "\(copies)")
            #expect(Set(Sample.accepted(ledger)) == Set(0..<50).subtracting([20]))
        }
    }

    // rpush/rpush#331: n bad tokens gave n copies to the good ones behind.
    @Test func `bad tokens multiply nothing`() async throws {
        var plan = BenchPlan()
        plan.rules.unregistered = Set((0..<20).map { Sample.token($0 * 5) })
        plan.rules.answerDelay = .milliseconds(20)
        try await plan.run { bench in
            try await bench.submit(200)
            try await bench.settle()
            #expect(bench.record.indices("rejected") == (0..<20).map { $0 * 5 })
            let ledger = await bench.simulator.ledger
            #expect(ledger.duplicates.isEmpty)
            #expect(Sample.accepted(ledger) == (0..<200).filter { $0 >= 100 || $0 % 5 != 0 })
        }
    }

    @Test func `an app of the wrong environment is told so`() async throws {
        try await BenchPlan("every=1 refuse status=8").run { bench in
            try await bench.submit(60)
            try await bench.settle()
            #expect(bench.record.suspicionCount == 1)
            #expect(bench.record.indices("rejected").count == 60)
        }
    }
}
