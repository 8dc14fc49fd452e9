import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Deaths of the process that nobody announces.
@Suite struct KillTests {
    @Test(arguments: ["http2", "binary"])
    func `kill -9 at random moments under four producers loses nobody and doubles few`(wire: String) async throws {
        let kills = isFullRun ? 500 : 10
        let setup = Bench.Setup(wire: wire, latency: .milliseconds(5), apps: ["storm", "weather"])
        try await Bench.running(setup) { bench in
            var generator = SeededGenerator(seed: seed)
            var inWork = 0
            try await Producers(bench: bench, seed: seed).running {
                for _ in 0..<kills {
                    try await bench.withDaemon { daemon in
                        // One in five dies while it starts.
                        if Int.random(in: 0..<5, using: &generator) > 0 { try await daemon.says("app started") }
                        try await moment(.milliseconds(Int.random(in: 1...600, using: &generator)))
                        try await daemon.destroy()
                        inWork += bench.setup.apps.allSatisfy { bench.claimed($0).isEmpty } ? 0 : 1
                    }
                }
            }
            // One that was being read in several deaths is suspected of them; to release it is an operator's decision.
            for app in bench.setup.apps { try bench.releaseHeld(of: app) }
            let verdict = try await bench.judge("kill9-random \(wire) seed \(seed), \(kills) kills, \(inWork) in work")
            #expect(verdict.isGood, "\(verdict)")
            #expect(inWork > kills / 3 && verdict.jobCount > kills, "the kills came too early")
        }
    }
}
