import GatewaySimulator
import TestSupport
import Testing

/// Deaths while answers are lost: nobody knows then who was accepted.
@Suite(.serialized) struct AmbiguityTests {
    @Test(arguments: ["http2", "binary"])
    func `what must not be sent twice never is, whatever is lost and whoever dies`(wire: String) async throws {
        let setup = Bench.Setup(
            script: GatewayTests.ends(1...(isFullRun ? 60 : 8)), wire: wire, window: 30,
            latency: .milliseconds(10), app: GatewayTests.quickRetry + "\non_doubt: report")
        try await Bench.running(setup) { bench in
            try await bench.killAmidLosses()
            let verdict = try await bench.judge("H65 crash-in-ambiguity report \(wire)", allowance: 0)
            #expect(verdict.isGood && verdict.doubleCount == 0, "\(verdict)")
        }
    }

    @Test(arguments: ["http2", "binary"])
    func `deaths while answers are lost double no more than window and group`(wire: String) async throws {
        let setup = Bench.Setup(
            script: GatewayTests.ends(1...(isFullRun ? 60 : 8)), wire: wire, window: 30,
            latency: .milliseconds(10), app: GatewayTests.quickRetry)
        try await Bench.running(setup) { bench in
            try await bench.killAmidLosses()
            let verdict = try await bench.judge("H65 crash-in-ambiguity resend \(wire)")
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    /// The connection that drains still waits for most of its answers then, and the next has been opened.
    @Test(arguments: [1, 2])
    func `a death beside a connection that drains doubles no more than windows and group`(connections: Int) async throws
    {
        let setup = Bench.Setup(
            script: "nth=40 goaway", window: 60, connections: connections, group: 8, latency: .milliseconds(800),
            daemon: "journal: {sync_records: 8}")
        try await Bench.running(setup) { bench in
            try bench.drop(Drop(number: 1, count: 900))
            try await bench.withDaemon { daemon in
                try await eventually("the next connection: \(daemon.log.suffix(2000))") {
                    await bench.simulator.ledger.connections.count > connections
                }
                try await moment(.milliseconds(200))
                try await daemon.destroy()
            }
            let verdict = try await bench.judge("H65 crash-in-ambiguity beside a goaway, \(connections) connections")
            #expect(verdict.isGood && verdict.doubleCount > 0, "\(verdict)")
        }
    }

    @Test func `what was refused before a death is in no doubt, and is sent after it`() async throws {
        let setup = Bench.Setup(script: "times=40 answer reason=ServiceUnavailable", app: "on_doubt: report")
        try await Bench.running(setup) { bench in
            try bench.drop(Drop(number: 1, count: 40))
            try await bench.withDaemon { daemon in
                try await eventually("40 refusals on record") {
                    guard await bench.simulator.ledger.refusedCount == 40 else { return false }
                    var doubts = Doubts()
                    try doubts.note(bench)
                    return doubts.count == 0
                }
                try await daemon.destroy()
            }
            let verdict = try await bench.judge("H65 refused and killed", allowance: 0)
            #expect(verdict.isGood && verdict.doubleCount == 0, "\(verdict)")
            #expect(try bench.lines("weather").allSatisfy { $0.outcome != "unknown" })
        }
    }
}

extension Bench {
    /// Kills one daemon after the other while producers drop jobs and the gateway's connections end.
    fileprivate func killAmidLosses() async throws {
        var generator = SeededGenerator(seed: seed)
        // With windows of 30 and the silence after each, the rest of many more would take longer than the trial.
        let (jobs, life) = setup.wire == "binary" ? (trials(15, full: 60), 4_000) : (trials(40, full: 300), 700)
        try await Producers(bench: self, seed: seed, limit: jobs).running {
            for _ in 0..<trials(4, full: 100) {
                try await withDaemon { daemon in
                    try await moment(.milliseconds(Int.random(in: 100...life, using: &generator)))
                    try await daemon.destroy()
                }
            }
        }
        try await finishReleasing()
    }
}
