import GatewaySimulator
import Gateways
import PushModel
import Testing

/// Requests over loopback TLS to a gateway that checks every header and every frame.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2SendingTests {
    @Test func `each notification arrives once, with all its headers`() async throws {
        try await HTTP2Plan().run { bench in
            try await bench.submit(1_000)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 1_000)
            let ledger = await bench.simulator.ledger
            #expect(Sample.accepted(ledger).sorted() == Array(0..<1_000))
            #expect(ledger.connectionCount == 1 && ledger.violations.isEmpty)
            let request = try #require(ledger.accepted.first?.request)
            #expect(request.id == NotificationID(job: Sample.job, index: 0).description)
            #expect(request.topic == "com.example.weather" && request.pushType == "alert")
        }
    }

    @Test func `refusals name their notification, and the others go on`() async throws {
        try await HTTP2Plan("every=10 answer reason=BadDeviceToken").run { bench in
            try await bench.submit(200)
            try await bench.settle()
            #expect(bench.record.indices("rejected").count == 20)
            #expect(bench.record.outcomes[9]?.refusal?.verdict == .invalid)
            #expect(await bench.simulator.ledger.acceptedCount == 180)
        }
    }

    @Test func `a gateway that says goodbye gets the streams it left undone on another connection`() async throws {
        try await HTTP2Plan("every=250 goaway undone=3").run { bench in
            try await bench.submit(2_000)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 2_000 && bench.record.doubtfulCount == 0)
            let ledger = await bench.simulator.ledger
            #expect(ledger.duplicates.isEmpty && ledger.violations.isEmpty)
            #expect(ledger.connectionCount > 4)
        }
    }

    @Test func `refused streams are sent again`() async throws {
        try await HTTP2Plan("every=71 refuse-stream").run { bench in
            try await bench.submit(1_000)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 1_000)
            let ledger = await bench.simulator.ledger
            #expect(ledger.duplicates.isEmpty && ledger.connectionCount == 1)
        }
    }

    @Test func `a limit of streams, windows and tables that move are kept to`() async throws {
        let script = """
            every=97 settings streams=1
            every=101 settings streams=1000 window=100 table=0
            every=103 settings streams=7 window=70000 table=256
            """
        try await HTTP2Plan(script).run { bench in
            try await bench.submit(1_500, payloadByteCount: 300)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 1_500)
            let ledger = await bench.simulator.ledger
            #expect(ledger.duplicates.isEmpty && ledger.violations.isEmpty)
        }
    }

    @Test func `a cut connection loses nothing, and what may be doubled is counted`() async throws {
        try await HTTP2Plan("every=300 reset").run { bench in
            try await bench.submit(1_000)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 1_000)
            let ledger = await bench.simulator.ledger
            let surplus = ledger.duplicates.values.reduce(0) { $0 + $1 - 1 }
            #expect(surplus <= bench.record.doubtfulCount)
        }
    }

    @Test func `what must not be sent twice is unknown after a cut`() async throws {
        try await HTTP2Plan("nth=300 reset").run { bench in
            try await bench.submit(1_000, onDoubt: .report)
            try await bench.collect { $0.outcomes.count == 1_000 && $0.unknownCount > 0 }
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
            let unknown = bench.record.indices("unknown").count
            #expect(unknown > 0 && unknown == bench.record.unknownCount)
            #expect(bench.record.acceptedCount == 1_000 - unknown)
        }
    }

    @Test func `a gateway that falls silent is replaced`() async throws {
        let plan = HTTP2Plan("nth=10 mute") { $0.timeouts.answer = .seconds(1) }
        try await plan.run { bench in
            try await bench.submit(100)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 100)
            #expect(await bench.simulator.ledger.connectionCount >= 2)
        }
    }

    @Test func `what a lost connection leaves goes out on one that is idle`() async throws {
        var plan = HTTP2Plan("connection=1 latency delay=300ms\nconnection=1 nth=40 reset delay=200ms") {
            $0.connectionLimit = 2
        }
        plan.manner.streamLimit = 20
        try await plan.run { bench in
            try await bench.submit(60)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 60)
        }
    }

    @Test func `what is to be given up by now is not sent`() async throws {
        try await HTTP2Plan().run { bench in
            var header = Batch.Header(job: Sample.job, attributes: Attributes())
            header.giveUpAt = Moment(nanoseconds: 1)
            var tokens = PackedBytes()
            tokens.append(Sample.token(0))
            let payload = Payload(bytes: Array("{}".utf8))
            try await bench.gateway.submit(
                Batch(header: header, firstIndex: 0, addresses: tokens, payloads: .shared(payload)))
            try await bench.collect { $0.outcomes.count == 1 }
            #expect(bench.record.outcomes[0]?.refusal?.verdict == .later)
            #expect(await bench.simulator.ledger.arrivedCount == 0)
        }
    }

    @Test func `more connections are opened only when all streams are taken`() async throws {
        var plan = HTTP2Plan("latency delay=100ms") { $0.connectionLimit = 3 }
        plan.manner.streamLimit = 10
        try await plan.run { bench in
            try await bench.submit(5)
            try await bench.settle()
            #expect(await bench.simulator.ledger.connectionCount == 1)
            try await bench.submit(100)
            try await bench.settle()
            let ledger = await bench.simulator.ledger
            #expect(ledger.connectionCount == 3 && ledger.violations.isEmpty)
        }
    }

    @Test(arguments: ["continuation", "rst", "settings", "ping", "window"])
    func `a flood ends the connection or does no harm, and nothing is lost`(kind: String) async throws {
        try await HTTP2Plan("nth=5 flood of=\(kind) count=30000").run { bench in
            try await bench.submit(50)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 50)
        }
    }
}
