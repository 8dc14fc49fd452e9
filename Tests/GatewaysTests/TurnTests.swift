import APNSBinary
import GatewaySimulator
import Gateways
import LinuxIO
import PushModel
import Testing

/// Lanes and rates, at a gateway of the binary protocol.
struct TurnTests {
    @Test func `a lane that is full does not keep urgent work out, which goes first`() async throws {
        // One of them may go out at once; the others wait for another rate.
        let plan = BenchPlan { $0.rate = Rate(1, per: .hour) }
        let count = GatewayConfiguration.queueLimit
        try await plan.run { bench in
            try await bench.gateway.submit(.laned(0..<count + 1, job: 1, .bulk))
            try await bench.gateway.submit(.laned(count + 1..<count + 2, job: 2, .urgent))
            var configuration = bench.configuration
            configuration.rate = nil
            await bench.reconfigure(configuration)
            let ledger = try await bench.simulator.ledger { $0.acceptedCount > count + 1 }
            #expect(Sample.accepted(ledger).prefix(2).contains(count + 1))
            #expect(ledger.acceptedCount == count + 2)
        }
    }

    @Test func `a rate is never exceeded`() async throws {
        let plan = BenchPlan { $0.rate = Rate(1000) }
        try await plan.run { bench in
            let start = WallClock.nanoseconds()
            try await bench.gateway.submit(Sample.batch(0..<2000))
            let ledger = try await bench.simulator.ledger { $0.acceptedCount >= 2000 }
            for (index, entry) in ledger.accepted.enumerated() {
                let passed = Double(entry.epochNanoseconds - start) / 1e9
                #expect(Double(index + 1) <= 100 + 1000 * passed, "\(index) after \(passed) s")
            }
        }
    }

    @Test func `another configuration changes the rate`() async throws {
        let plan = BenchPlan { $0.rate = Rate(1, per: .hour) }
        try await plan.run { bench in
            try await bench.gateway.submit(Sample.batch(0..<1000))
            var configuration = bench.configuration
            configuration.rate = nil
            await bench.reconfigure(configuration)
            #expect(try await bench.simulator.ledger { $0.acceptedCount >= 1000 }.acceptedCount == 1000)
        }
    }
}

extension Batch {
    /// Notifications of a job in a lane.
    fileprivate static func laned(_ range: Range<Int>, job: UInt128, _ lane: Lane) -> Batch {
        var tokens = PackedBytes()
        for number in range { tokens.append(Sample.token(number)) }
        var header = Header(job: JobID(bits: job), attributes: Attributes())
        header.lane = lane
        return Batch(
            header: header, firstIndex: range.lowerBound, addresses: tokens,
            payloads: .shared(Payload(bytes: Array(#"{"aps":{}}"#.utf8))))
    }
}
