import TestSupport
import Testing

/// A wall clock that is set while jobs wait.
@Suite struct ClockStepTests {
    private static let day = 86_400

    /// Sets the clock of a daemon with an app whose gateway does not answer, once it has taken a job.
    private func waiting(
        step: Int, _ job: String, _ body: @Sendable (Bench, Program) async throws -> Void
    ) async throws {
        try await Bench.running(try .init(app: "gateway: localhost:1")) { bench in
            let sabotage = try await Sabotage(on: bench)
            try await bench.withDaemon(drain: 0, sabotage) { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job)
                try await daemon.says("connection ended")
                try sabotage.begin(.step, "\(step)")
                try await body(bench, daemon)
                try await daemon.says("the clock was set")
            }
        }
    }

    @Test(.catalogue("J77 clock-step, the daemon", checks: []))
    func `a clock that is set forward by days gives up no job that waits`() async throws {
        try await waiting(step: 2 * Self.day, job(1)) { bench, _ in
            // Longer than it takes to see that a job is late.
            try await moment(.seconds(3))
            try bench.configureApp("weather")
            #expect(try await bench.end(of: "waits.json").accepted == 1)
            try bench.drop("next.json", job(2))
            #expect(try await bench.end(of: "next.json").accepted == 1)
        }
    }

    @Test(.catalogue("J77 clock-step, back", checks: []))
    func `a clock that is set back gives a job no more time`() async throws {
        try await waiting(step: -Self.day, job(1, #","give_up_after":"5s""#)) { bench, _ in
            let line = try await bench.end(of: "waits.json")
            #expect(line.unsent == 1 && line.code == "unsent")
        }
    }
}
