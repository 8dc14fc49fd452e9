import GatewaySimulator
import Gateways
import PushModel
import Testing

/// What is told of a connection that ends: why, and what of its notifications is sent again.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2ReportTests {
    @Test func `an overdue answer is told as such, and what may be doubled by it is counted`() async throws {
        try await HTTP2Plan("nth=10 withhold") { $0.timeouts.answer = .seconds(3) }.run { bench in
            try await bench.submit(20)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 20)
            let report = try #require(bench.record.reports.first)
            #expect(report.fault.message == "answer overdue" && !report.isRoutine)
            #expect(report.doubtfulCount >= 1)
            let doubles = await bench.simulator.ledger.duplicates
            #expect(doubles[Sample.token(9)] == 2 && doubles.count <= bench.record.doubtfulCount)
        }
    }

    @Test func `an overdue answer that must not be asked for again is unknown, and counted as that`() async throws {
        try await HTTP2Plan("nth=10 withhold") { $0.timeouts.answer = .seconds(3) }.run { bench in
            try await bench.submit(20, onDoubt: .report)
            try await bench.settle()
            #expect(bench.record.outcomes[9] == .unknown)
            try await bench.collect { !$0.reports.isEmpty }
            #expect(bench.record.unknownCount == bench.record.indices("unknown").count)
            #expect(bench.record.doubtfulCount == 0)
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
        }
    }

    @Test func `a body that waited for a window for too long is sent again and is no doubt`() async throws {
        let plan = HTTP2Plan("connection=1 after=0 windows grant=0") { $0.timeouts.answer = .seconds(3) }
        try await plan.run { bench in
            // The connection's window has room for sixteen bodies and a part of one. The rest is begun on another one.
            try await bench.submit(20, onDoubt: .report, payloadByteCount: 4_000)
            try await bench.settle()
            #expect(bench.record.acceptedCount == 20)
            #expect(bench.record.unknownCount == 0 && bench.record.resentCount == 1)
            #expect(await bench.simulator.ledger.duplicates.isEmpty)
        }
    }

    @Test func `a goodbye is everyday business, and what it left undone is counted`() async throws {
        try await HTTP2Plan("nth=50 goaway undone=3").run { bench in
            try await bench.submit(100)
            try await bench.settle()
            try await bench.collect { !$0.reports.isEmpty }
            #expect(bench.record.reports.allSatisfy { $0.isRoutine })
            let undone = await bench.simulator.ledger.discardedCount
            #expect(bench.record.resentCount >= undone && undone >= 3)
            #expect(bench.record.doubtfulCount == 0)
        }
    }
}
