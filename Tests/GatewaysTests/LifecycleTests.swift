import GatewaySimulator
import Gateways
import PushModel
import Testing

/// Changes of configuration, the end, idle times, and callers that have to wait.
@Suite(.timeLimit(.minutes(10)))
struct LifecycleTests {
    /// A hundred in doubt at most, for long enough to look at them.
    private let hundredSlowly: @Sendable (inout BinaryWire.Configuration) -> Void = {
        $0.window = 100
        $0.confirmation = .silence(.seconds(3))
    }

    @Test func `another configuration under load loses and doubles nothing`() async throws {
        var plan = BenchPlan { $0.window = 1000 }
        plan.detail = .numbered(limit: 5000)
        try await plan.run { bench in
            try await bench.submit(5000)
            for number in 1...3 {
                try await bench.collect { $0.outcomes.count >= number * 1000 }
                await bench.reconfigure(bench.configuration)
            }
            try await bench.settle()
            #expect(bench.record.acceptedCount == 5000)
            let ledger = await bench.simulator.ledger
            #expect(ledger.tally.isExactlyOnce(5000))
            #expect((2...4).contains(ledger.connections.count))
            #expect(bench.record.doubtfulCount == 0)
        }
    }

    @Test func `another identity is used from the next connection on`() async throws {
        try await Simulator.running { second in
            try await BenchPlan()
                .run { bench in
                    try await bench.submit(10)
                    try await bench.settle()
                    await bench.reconfigure(try Sample.configuration(of: second))
                    try await bench.submit(10)
                    try await bench.settle()
                    #expect(Sample.accepted(await bench.simulator.ledger) == Array(0..<10))
                    #expect(Sample.accepted(await second.ledger) == Array(10..<20))
                }
        }
    }

    @Test func `draining settles what is written and keeps the rest`() async throws {
        try await BenchPlan("", adjust: hundredSlowly).run { bench in
            try await bench.submit(1000)
            _ = try await bench.simulator.ledger { $0.acceptedCount == 100 }
            await bench.gateway.drain()
            try await bench.collect { $0.outcomes.count == 100 }
            #expect(await bench.gateway.pendingInDoubt == 0)
            #expect(await bench.gateway.remove(Sample.job).reduce(0) { $0 + $1.count } == 900)
            #expect(await bench.simulator.ledger.arrivedCount == 100)
        }
    }

    @Test func `what has waited too long is not sent`() async throws {
        try await BenchPlan().run { bench in
            var tokens = PackedBytes()
            tokens.append(Sample.token(7))
            let late = Attributes(expiration: Expiration(epochSeconds: 1_700_000_000))
            let batch = Batch(
                header: .init(job: Sample.job, attributes: late, onDoubt: .resend), firstIndex: 7, addresses: tokens,
                payloads: .shared(Payload(bytes: Array("{}".utf8))))
            try await bench.gateway.submit(batch)
            try await bench.submit(1)
            try await bench.collect { $0.outcomes.count == 2 }
            #expect(bench.record.outcomes == [7: .expired, 0: .accepted])
            #expect(Sample.accepted(await bench.simulator.ledger) == [0])
        }
    }

    @Test func `a job that is taken back leaves what is written`() async throws {
        try await BenchPlan("", adjust: hundredSlowly).run { bench in
            try await bench.submit(1000)
            _ = try await bench.simulator.ledger { $0.acceptedCount == 100 }
            let rest = await bench.gateway.remove(Sample.job)
            #expect(rest.flatMap(\.indices) == Array(100..<1000))
            try await bench.collect { $0.outcomes.count == 100 }
            #expect(Sample.accepted(await bench.simulator.ledger) == Array(0..<100))
        }
    }

    @Test func `an idle connection is closed, and another opened for the next work`() async throws {
        try await BenchPlan { $0.timeouts.idle = .milliseconds(1) }
            .run { bench in
                for _ in 1...3 {
                    try await bench.submit(5)
                    try await bench.settle()
                }
                let ledger = await bench.simulator.ledger
                #expect(ledger.connections.count >= 3)
                #expect(Sample.accepted(ledger) == Array(0..<15))
                #expect(bench.record.reports.isEmpty)
            }
    }

    @Test func `submitting waits while the queue is full, and can be given up`() async throws {
        // After a handshake some would be on their way for a moment, and leave room.
        try await BenchPlan("refuse-connection") {
            $0.connectBackOff = BackOff(first: .seconds(60), ceiling: .seconds(60))
        }
        .run { bench in
            try await bench.submit(GatewayConfiguration.queueLimit, batchSize: GatewayConfiguration.queueLimit)
            let gateway = bench.gateway
            let caller = Task { try await gateway.submit(Sample.batch(0..<1)) }
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            #expect(await gateway.remove(Sample.job).reduce(0) { $0 + $1.count } == GatewayConfiguration.queueLimit)
        }
    }

    @Test func `submitting goes on when the queue has room again`() async throws {
        let count = GatewayConfiguration.queueLimit + 5000
        var plan = BenchPlan()
        plan.detail = .numbered(limit: count)
        try await plan.run { bench in
            try await bench.submit(count)
            try await bench.settle()
            // Silence proves what the simulator's kernel has; the simulator itself may still be reading.
            let ledger = try await bench.simulator.ledger { $0.acceptedCount >= count }
            #expect(ledger.tally.isExactlyOnce(count))
            #expect(ledger.tally.descentCount == 0)
        }
    }
}
