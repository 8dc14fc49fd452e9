import GatewaySimulator
import TestSupport
import Testing

/// Jobs that pause while the gateway fails them, beside jobs that it takes.
@Suite struct PausingTests {
    /// Two jobs of so many recipients are more than may pause in memory.
    private static let count = 120_000

    @Test(
        .enabled(if: isFullRun, "takes minutes"), .catalogue("J72 many-paused, the daemon", checks: []),
        arguments: ["ServiceUnavailable", "TooManyRequests"])
    func `a job is sent although so many notifications of others pause`(reason: String) async throws {
        let modern = try Modern("payload=failing answer reason=\(reason)")
        try await modern.running { bench in
            try bench.configureModern("retry: {later: 1h}")
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                for (name, first) in [("one.json", 0), ("two.json", Self.count)] {
                    let tokens = first..<first + Self.count
                    try bench.drop(name, job(tokens: tokens, saying: "failing"), app: "modern")
                }
                let paused = try await bench.settledRefusals()
                try bench.drop("plain.json", job(2 * Self.count), app: "modern")
                #expect(try await bench.end(of: "plain.json", app: "modern").accepted == 1)
                #expect(paused < 200_000)
            }
        }
    }
}

extension Bench {
    /// How many notifications the gateway has refused, once it refuses no more of them.
    fileprivate func settledRefusals() async throws -> Int {
        var counts = [0, 0]
        try await eventually("refusals that stop", within: .seconds(400)) {
            counts = await [counts[1], simulator.ledger.refusedCount]
            try await moment(.seconds(1))
            return counts[0] > 50_000 && counts[0] == counts[1]
        }
        return counts[1]
    }
}
