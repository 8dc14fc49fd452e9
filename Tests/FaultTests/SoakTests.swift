import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Hours under everything at once: `make soak HOURS=n`.
@Suite(.serialized) struct SoakTests {
    /// How long it takes; `nil`: it is not run.
    private static let length = ProcessInfo.processInfo.environment["PUSHSPOOL_SOAK"].flatMap(Double.init)
        .map { Duration.seconds($0 * 3600) }

    private static let script = """
        every=4001 goaway undone=20 reason=Shutdown
        every=30011 reset
        probability=0.002 seed=3 answer status=429 reason=TooManyRequests
        probability=0.002 seed=4 answer status=503 reason=ServiceUnavailable
        probability=0.001 seed=5 refuse-stream
        """

    @Test(.enabled(if: length != nil, "it takes hours: make soak HOURS=n"))
    func `hours of load, faults, changes and deaths lose nobody, and no life grows`() async throws {
        let length = try #require(Self.length)
        let setup = Bench.Setup(
            script: Self.script, latency: .milliseconds(20), apps: ["news", "storm", "weather"],
            app: GatewayTests.quickRetry,
            daemon: MemoryVolume.smallJournal + "\narchive: {keep_done: 1d, keep_failed: 1d}")
        try await Bench.running(setup) { bench in
            var soak = Soak(bench, length)
            try await soak.run()
            for life in soak.lives { #expect(life.isFlat, "\(life)") }
            let changes = Soak.Change.allCases.map { "\($0) \(soak.changes[$0] ?? 0)" }.joined(separator: ", ")
            let verdict = try await bench.judge(
                "I66 soak-24h, \(length), \(soak.lives.count) daemons, \(changes)", within: .seconds(600))
            // A job that is held and released is told in two parts.
            let invariants: [Invariant] = [.onePlace, .nobodyLost, .fewDoubled, .noRemains, .atRest]
            #expect(invariants.allSatisfy(verdict.holds), "\(verdict)")
            #expect(await bench.simulator.ledger.refusedCount > 0 && verdict.jobCount > 100, "\(verdict)")
        }
    }
}
