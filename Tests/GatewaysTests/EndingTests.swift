import APNSBinary
import GatewaySimulator
import Gateways
import PushModel
import Testing

/// How connections end, with an answer that says little or with none (the table of the protocol's resending rules).
@Suite(.timeLimit(.minutes(10)))
struct EndingTests {
    @Test(arguments: ["identifier=zero", "identifier=77777"])
    func `a refusal that names none of ours is hunted down`(naming: String) async throws {
        try await BenchPlan("token=00000007 refuse status=8 \(naming)").run { bench in
            try await bench.submit(40)
            try await bench.settle()
            #expect(bench.record.indices("rejected") == [7])
            #expect(bench.record.acceptedCount == 39)
            let ledger = await bench.simulator.ledger
            #expect(Set(Sample.accepted(ledger)) == Set(0..<40).subtracting([7]))
            #expect(ledger.acceptedCount - 39 <= bench.record.doubtfulCount)
        }
    }

    @Test func `two unnamed refusals do not multiply the good ones behind`() async throws {
        let plan = BenchPlan("token=00000007 refuse identifier=zero; token=00000011 refuse identifier=zero")
        try await plan.run { bench in
            try await bench.submit(200)
            try await bench.settle()
            #expect(bench.record.indices("rejected") == [7, 17])
            let ledger = await bench.simulator.ledger
            #expect(ledger.duplicates.values.allSatisfy { $0 <= 5 })
        }
    }

    @Test(
        arguments: [
            "nth=15 half", "nth=15 half bytes=5", "nth=15 junk", "after=14 close", "after=14 cut", "after=14 reset",
            "nth=15 half then=reset",
        ])
    func `an end without an answer loses nothing`(script: String) async throws {
        try await BenchPlan(script + " times=1").run { bench in
            try await bench.submit(10)
            try await bench.settle()
            try await bench.submit(20)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 30)
            let ledger = await bench.simulator.ledger
            #expect(Set(Sample.accepted(ledger)) == Set(0..<30))
            #expect(bench.record.doubtfulCount == 20)
            #expect(ledger.duplicates.count <= 4)
            #expect(ledger.duplicates.values.allSatisfy { $0 == 2 })
        }
    }

    @Test(arguments: [true, false])
    func `the probe proves what was before it`(namesZero: Bool) async throws {
        var plan = BenchPlan { $0.confirmation = .probe }
        plan.rules.namesZeroForEmptyTokens = namesZero
        try await plan.run { bench in
            try await bench.submit(1000)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 1000)
            #expect(Sample.accepted(await bench.simulator.ledger) == Array(0..<1000))
            #expect(bench.record.doubtfulCount == 0)
        }
    }

    @Test func `an error before the probe is not taken for its answer`() async throws {
        let plan = BenchPlan("nth=3 refuse status=8 delay=300ms") { $0.confirmation = .probe }
        try await plan.run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.indices("rejected") == [2])
            #expect(Sample.accepted(await bench.simulator.ledger) == [0, 1, 3, 4, 5, 6, 7, 8, 9])
        }
    }

    @Test func `what a black hole swallowed is not taken for accepted under the probe`() async throws {
        let plan = BenchPlan("nth=4 blackhole times=1") {
            $0.confirmation = .probe
            $0.timeouts.answer = .milliseconds(300)
        }
        try await plan.run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.reports.first?.fault.message.contains("probe") == true)
            #expect(Set(Sample.accepted(await bench.simulator.ledger)) == Set(0..<10))
        }
    }

    @Test func `an error is read while writing blocks`() async throws {
        var plan = BenchPlan("connection=1 after=0 slow rate=2000000 times=1; nth=50 refuse status=8 delay=300ms") {
            $0.confirmation = .silence(.seconds(4))
        }
        plan.detail = .numbered(limit: 5000)
        try await plan.run { bench in
            try await bench.submit(5000, payloadByteCount: 2000)
            try await bench.settle()
            #expect(bench.record.indices("rejected") == [49])
            #expect(bench.record.acceptedCount == 4999)
            let tally = await bench.simulator.ledger.tally
            #expect(tally.missing(below: 5000) == [49])
            #expect(tally.repeatedCount == 0 && tally.descentCount == 0)
            #expect(bench.record.doubtfulCount == 0)
        }
    }

    @Test func `a close that answers command 0 is hunted down`() async throws {
        var plan = BenchPlan { $0.format = .simple }
        plan.rules.unregistered = [Sample.token(7)]
        try await plan.run { bench in
            try await bench.submit(40)
            try await bench.settle()
            #expect(bench.record.indices("rejected") == [7])
            #expect(bench.record.acceptedCount == 39)
            #expect(Set(Sample.accepted(await bench.simulator.ledger)) == Set(0..<40).subtracting([7]))
            #expect(bench.record.stops.isEmpty)
        }
    }

    @Test func `several connections each speak for themselves`() async throws {
        let plan = BenchPlan("connection=1-3 nth=5 per=connection refuse status=8") {
            $0.connectionLimit = 3
            $0.window = 200
        }
        try await plan.run { bench in
            try await bench.submit(3000, batchSize: 50)
            try await bench.settle()
            let ledger = await bench.simulator.ledger
            #expect(bench.record.indices("rejected") == ledger.refused.map { Sample.number(of: $0.token) }.sorted())
            #expect(bench.record.indices("rejected").count == 3)
            #expect(Sample.accepted(ledger).sorted() == bench.record.indices("accepted"))
            #expect(
                ledger.connections.allSatisfy { ledger.entries(ofConnection: $0.number).first?.identifier ?? 1 == 1 })
        }
    }
}
