import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Deaths of the process that nobody announces; `PUSHSPOOL_KILLS=n` has n of each kind.
@Suite(.serialized) struct KillTests {
    private static let kills =
        ProcessInfo.processInfo.environment["PUSHSPOOL_KILLS"].flatMap(Int.init) ?? trials(6, full: 100)

    /// So many must have met a daemon with jobs under way, or the run shows little; of a few chance may spare most.
    private static let leastHits = kills / (isFullRun ? 3 : 6)

    @Test(arguments: ["http2", "binary"])
    func `kill -9 at random moments under four producers loses nobody and doubles few`(wire: String) async throws {
        let setup = Bench.Setup(wire: wire, latency: .milliseconds(5), apps: ["storm", "weather"])
        try await Bench.running(setup) { bench in
            let hits = try await bench.kill(Self.kills)
            let verdict = try await bench.judge("A3 kill9-random \(wire), \(Self.kills) kills, \(hits) in work")
            #expect(verdict.isGood, "\(verdict)")
            #expect(hits > Self.leastHits && verdict.jobCount > Self.kills, "the kills came too early")
        }
    }

    @Test(arguments: ["http2", "binary"])
    func `kill -9 makes nobody get twice what must not be, and tells exactly who was in doubt`(wire: String)
        async throws
    {
        let setup = Bench.Setup(
            wire: wire, latency: .milliseconds(5), apps: ["storm", "weather"], app: "on_doubt: report")
        try await Bench.running(setup) { bench in
            var doubts = Doubts()
            let hits = try await bench.kill(Self.kills) {
                try doubts.note(bench)
                return doubts.count > 0
            }
            let title = "A3 kill9-random report \(wire), \(Self.kills) kills, \(hits) in work, \(doubts.count) in doubt"
            let verdict = try await bench.judge(title, allowance: 0)
            #expect(verdict.isGood && verdict.doubleCount == 0, "\(verdict)")
            #expect(try doubts.differences(in: bench) == [])
            #expect(hits > Self.leastHits && doubts.count > 0, "the kills came too early")
        }
    }
}

extension Bench {
    /// Kills one daemon after the other while producers drop jobs.
    ///
    /// - Parameters:
    ///   - count: how many, or up to five times as many: on a busy machine the first ones may come before anything is sent.
    ///   - look: called after each death; whether the deaths so far are enough.
    /// - Returns: how many had jobs under way.
    /// - Throws: what `look` throws; `NotInTime`.
    func kill(_ count: Int, _ look: () throws -> Bool = { true }) async throws -> Int {
        var generator = SeededGenerator(seed: seed)
        var (hits, killCount, isEnough) = (0, 0, false)
        try await Producers(bench: self, seed: seed).running {
            while killCount < count || !isEnough && killCount < 5 * count {
                killCount += 1
                try await withDaemon { daemon in
                    // One in five dies while it starts.
                    if Int.random(in: 0..<5, using: &generator) > 0 { try await daemon.says("app started") }
                    try await moment(.milliseconds(Int.random(in: 1...600, using: &generator)))
                    try await daemon.destroy()
                    hits += setup.apps.allSatisfy { claimed($0).isEmpty } ? 0 : 1
                    isEnough = try look()
                }
            }
        }
        try await finishReleasing()
        return hits
    }
}
