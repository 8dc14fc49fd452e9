import GatewaySimulator
import Gateways
import PushModel
import Testing

/// Connections that die without a word, and what may be sent twice.
@Suite(.timeLimit(.minutes(10)))
struct DoubtTests {
    @Test(arguments: [false, true])
    func `what was unconfirmed is sent again, and its count is told`(isReset: Bool) async throws {
        try await BenchPlan { $0.confirmation = .silence(.seconds(8)) }.run { bench in
            try await bench.submit(1)
            try await bench.settle()
            try await bench.submit(500)
            _ = try await bench.simulator.ledger { $0.acceptedCount == 501 }
            await bench.simulator.dropConnections(resetting: isReset)
            try await bench.settle()
            let ledger = await bench.simulator.ledger
            #expect(Sample.accepted(ledger) == Array(0..<501) + Array(1..<501))
            #expect(bench.record.doubtfulCount == 500)
            #expect(bench.record.surplusCount == 0)
        }
    }

    @Test(arguments: [false, true])
    func `what must not be sent twice is unknown instead`(isReset: Bool) async throws {
        try await BenchPlan { $0.confirmation = .silence(.seconds(8)) }.run { bench in
            try await bench.submit(1, onDoubt: .report)
            try await bench.settle()
            try await bench.submit(500, onDoubt: .report)
            _ = try await bench.simulator.ledger { $0.acceptedCount == 501 }
            await bench.simulator.dropConnections(resetting: isReset)
            try await bench.settle()
            try await bench.submit(10, onDoubt: .report)
            try await bench.settle()
            #expect(bench.record.indices("unknown") == Array(1..<501))
            #expect(bench.record.unknownCount == 500)
            #expect(Sample.accepted(await bench.simulator.ledger) == Array(0..<511))
        }
    }

    @Test func `a connection of proven credentials that dies soon leaves doubt`() async throws {
        try await BenchPlan("after=500 reset times=1") { $0.timeouts.idle = .milliseconds(1) }
            .run { bench in
                try await bench.submit(1)
                try await bench.settle()
                try await bench.submit(500, onDoubt: .report)
                try await bench.settle()
                #expect(bench.record.indices("unknown") == Array(1..<501))
                #expect(await bench.simulator.ledger.duplicates.isEmpty)
            }
    }

    @Test(arguments: 1...3) func `random cuts lose nothing and double only what was in doubt`(seed: Int) async throws {
        var plan = BenchPlan("probability=0.002 seed=\(seed) reset times=4") { $0.window = 500 }
        plan.detail = .numbered(limit: 3000)
        try await plan.run { bench in
            try await bench.submit(1)
            try await bench.settle()
            try await bench.submit(2999)
            try await bench.settle()
            let tally = await bench.simulator.ledger.tally
            #expect(bench.record.acceptedCount == 3000)
            #expect(tally.missing(below: 3000).isEmpty)
            let doubles = tally.counts.reduce(0) { $0 + Int($1) - 1 }
            #expect(doubles <= bench.record.doubtfulCount)
        }
    }
}
