import GatewaySimulator
import Gateways
import PushModel
import Testing

/// What a gateway waits for when its owner records for good what becomes of notifications.
@Suite(.timeLimit(.minutes(10)))
struct RecordKeepingTests {
    private static let group = 10
    private static let window = 20

    private var http2: HTTP2Plan {
        var plan = HTTP2Plan()
        plan.manner.streamLimit = Self.window
        plan.recordKeeping = .durable(group: Self.group)
        return plan
    }

    private var binary: BenchPlan {
        var plan = BenchPlan {
            $0.window = Self.window
            $0.confirmation = .silence(.milliseconds(50))
        }
        plan.recordKeeping = .durable(group: Self.group)
        return plan
    }

    @Test func `no more is sent than a window and a group while nothing is recorded, over HTTP/2`() async throws {
        try await http2.run { try await fill($0) }
    }

    @Test func `no more is sent than a window and a group while nothing is recorded, over the binary protocol`()
        async throws
    {
        try await binary.run { try await fill($0) }
    }

    private func fill(_ bench: Bench<some Sendable>) async throws {
        try await bench.submit(1000)
        try await bench.collect { $0.outcomes.count == Self.window + Self.group }
        #expect(await bench.gateway.pendingInDoubt == 0)
        #expect(await bench.simulator.ledger.arrivedCount == Self.window + Self.group)
        await bench.recordAll(after: 0)
        try await bench.collectRecording { record in
            #expect(record.outcomes.count <= 1000)
            return record.outcomes.count == 1000
        }
        #expect(Sample.accepted(await bench.simulator.ledger).sorted() == Array(0..<1000))
    }

    @Test func `what must not be sent twice is written when it is announced, over HTTP/2`() async throws {
        try await http2.run { try await announce($0) }
    }

    @Test func `what must not be sent twice is written when it is announced, over the binary protocol`() async throws {
        try await binary.run { try await announce($0) }
    }

    private func announce(_ bench: Bench<some Sendable>) async throws {
        try await bench.submit(1000, onDoubt: .report)
        try await bench.collect { !$0.announcing.isEmpty }
        #expect(await bench.simulator.ledger.arrivedCount == 0)
        #expect(bench.record.announcing.reduce(0) { $0 + $1.count } <= Self.window)
        #expect(await bench.gateway.isAtWork)
        await bench.recordAll(after: 0)
        try await bench.collectRecording { $0.outcomes.count == 1000 }
        #expect(Sample.accepted(await bench.simulator.ledger).sorted() == Array(0..<1000))
        #expect(bench.record.unknownCount == 0)
    }

    @Test func `what is taken back before it is announced is never written`() async throws {
        try await http2.run { bench in
            try await bench.submit(100, onDoubt: .report)
            try await bench.collect { !$0.announcing.isEmpty }
            #expect(await bench.gateway.remove(Sample.job).reduce(0) { $0 + $1.count } == 100)
            await bench.recordAll(after: 0)
            bench.skip(to: 100)
            try await bench.submit(1)
            try await bench.collectRecording { $0.outcomes[100] == .accepted }
            #expect(Sample.accepted(await bench.simulator.ledger) == [100])
        }
    }

    @Test(arguments: ["nth=7 times=3 goaway undone=5", "nth=20 times=40 answer reason=ServiceUnavailable"])
    func `what the gateway has not processed is announced again before it is sent again`(script: String) async throws {
        var plan = HTTP2Plan(script)
        plan.recordKeeping = .durable(group: 1000)
        try await plan.run { try await announceAgain($0) }
    }

    @Test func `what the gateway has thrown away is announced again, over the binary protocol`() async throws {
        var plan = BenchPlan("every=97 refuse status=8 times=3") { $0.confirmation = .silence(.seconds(1)) }
        plan.recordKeeping = .durable(group: 1000)
        try await plan.run { try await announceAgain($0) }
    }

    private func announceAgain(_ bench: Bench<some Sendable>) async throws {
        try await bench.submit(500, onDoubt: .report)
        var announcedCount = 0
        while bench.record.outcomes.count < 500 {
            let before = bench.record.settledCount
            try await bench.collect { $0.settledCount > before || !$0.announcing.isEmpty }
            announcedCount += bench.record.announcing.reduce(0) { $0 + $1.count }
            await bench.recordAll(after: before)
        }
        #expect(bench.record.withdrawnCount > 0)
        #expect(announcedCount == 500 + bench.record.withdrawnCount)
        let ledger = await bench.simulator.ledger
        #expect(ledger.duplicates.isEmpty && ledger.acceptedCount == bench.record.acceptedCount)
    }
}
