import GatewaySimulator
import TestSupport
import Testing

/// Many notifications through a gateway that does everything at once that it may do.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2SweepTests {
    @Test func `goodbyes, refused streams, moving limits, small windows and tables: each accepted once`() async throws {
        let count = trials(10_000, full: 100_000)
        let script = """
            every=2500 goaway undone=4
            every=701 refuse-stream
            every=307 settings streams=1 table=256
            every=311 settings streams=1000 window=70000
            every=313 settings streams=37 table=0
            """
        var plan = HTTP2Plan(script)
        plan.detail = .numbered(limit: count)
        plan.manner.streamWindow = 70_000
        plan.manner.headerTable = 256
        try await plan.run { bench in
            try await bench.submit(count)
            try await bench.settle()
            #expect(bench.record.acceptedCount == count)
            #expect(bench.record.surplusCount == 0 && bench.record.doubtfulCount == 0)
            let ledger = await bench.simulator.ledger
            #expect(ledger.tally.repeatedCount == 0 && ledger.tally.missing(below: count).isEmpty)
            #expect(ledger.violations.isEmpty)
            #expect(ledger.connectionCount >= count / 2_500)
        }
    }
}
