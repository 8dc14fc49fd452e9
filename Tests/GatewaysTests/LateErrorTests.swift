import GatewaySimulator
import Gateways
import PushModel
import TestSupport
import Testing

/// Errors that arrive when much more has been written (PyAPNs' promise).
@Suite(.timeLimit(.minutes(10)))
struct LateErrorTests {
    @Test func `a late error on the first of a thousand costs the other 999 nothing`() async throws {
        let plan = BenchPlan("nth=1 refuse status=8 delay=1s") { $0.confirmation = .silence(.seconds(4)) }
        try await plan.run { bench in
            try await bench.submit(1000)
            try await bench.settle()
            #expect(bench.record.indices("rejected") == [0])
            #expect(bench.record.outcomes[0]?.refusal?.reason == "BadDeviceToken")
            #expect(bench.record.acceptedCount == 999)
            #expect(Sample.accepted(await bench.simulator.ledger) == Array(1..<1000))
            #expect(bench.record.reports.map(\.resentCount) == [999])
            #expect(bench.record.surplusCount == 0)
        }
    }

    @Test func `an error behind an acceptance by silence takes it back`() async throws {
        let plan = BenchPlan("nth=2 refuse status=8 delay=1700ms times=1") { $0.confirmation = .silence(.seconds(1)) }
        try await plan.run { bench in
            try await bench.submit(10)
            try await bench.collect { $0.correctionCount == 1 && $0.outcomes.count == 10 }
            #expect(bench.record.indices("rejected") == [1])
            #expect(Sample.accepted(await bench.simulator.ledger) == [0] + Array(2..<10))
            #expect(bench.record.reports.map(\.revokedCount) == [8])
        }
    }

    @Test(arguments: [1, 3])
    func `many refusals, shutdowns and half errors lose nothing`(connectionLimit: Int) async throws {
        let count = trials(10_000, full: 100_000)
        var plan = BenchPlan("every=2500 half times=5; every=997 refuse status=8; every=3000 shutdown") {
            $0.connectionLimit = connectionLimit
            $0.window = 1000
            $0.confirmation = .silence(.seconds(3))
        }
        plan.detail = .numbered(limit: count)
        try await plan.run { bench in
            try await bench.submit(count)
            try await bench.settle()
            check(bench.record, await bench.simulator.ledger, count, isOrdered: connectionLimit == 1)
        }
    }

    private func check(_ record: Record, _ ledger: Ledger, _ count: Int, isOrdered: Bool) {
        let rejected = record.indices("rejected")
        #expect(record.acceptedCount + rejected.count == count)
        #expect((0...5).contains(ledger.refusedCountByStatus[8, default: 0] - rejected.count))
        let counts = ledger.tally.counts + Array(repeating: 0, count: count - ledger.tally.counts.count)
        let lost = ledger.tally.missing(below: count, atMost: count).filter { record.outcomes[$0] == .accepted }
        #expect(lost.isEmpty, "\(record.reports.map { ($0.fault.message, $0.revokedCount, $0.lostCount) })")
        let twice = counts.reduce(0) { $0 + max(0, Int($1) - 1) } + rejected.count { counts[$0] > 0 }
        #expect(twice <= record.doubtfulCount, "\(twice) doubles, \(record.doubtfulCount) in doubt")
        #expect(record.surplusCount == 0)
        if isOrdered { #expect(ledger.tally.descentCount <= 5) }
    }
}
