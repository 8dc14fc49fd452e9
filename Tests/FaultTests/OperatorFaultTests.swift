import Foundation
import TestSupport
import Testing

/// Deaths while operators hold, release, cancel and retry.
@Suite(.serialized) struct OperatorFaultTests {
    private static let name = "j1.json"
    private static let drop = Drop(number: 1, count: 1_200)

    /// Gives a command, to the daemon or, if it is dead, without one; what comes of it is seen in the spool.
    private func operate(_ bench: Bench, _ command: String) async throws {
        try await bench.give([command, "weather/" + Self.name], codes: [0, 1, 75])
    }

    /// Runs a daemon that dies at a file operation while it carries out commands in the middle of a job.
    private func run(_ bench: Bench, to point: Failpoint, _ commands: [[String]]) async throws -> Bool {
        var isHit = false
        try await bench.withDaemon(point.environment(bench)) { daemon in
            try await eventually("half of the job, or the end") {
                guard daemon.process.isRunning else { return true }
                return try await bench.entries().count > 600
            }
            for command in commands {
                try await operate(bench, command[0])
                guard command.count > 1 else { continue }
                try await eventually("\(command), or the end") {
                    !daemon.process.isRunning || bench.archived("weather").contains { $0.hasSuffix(Self.name) }
                }
                try await operate(bench, command[1])
            }
            try await eventually("the end of the job, or of the daemon") {
                try !daemon.process.isRunning || bench.isIdle()
            }
            isHit = !daemon.process.isRunning
        }
        return isHit
    }

    /// Lets what is held or ended go on, by hand or by command.
    private func letGo(_ bench: Bench, byHand: Bool) async throws {
        try await bench.finish()
        let held = "\(bench.spool)/weather/hold/\(Self.name)"
        if FileManager.default.fileExists(atPath: held), byHand {
            try FileManager.default.moveItem(atPath: held, toPath: "\(bench.spool)/weather/new/\(Self.name)")
        } else if FileManager.default.fileExists(atPath: held) {
            try await operate(bench, "release")
        } else if bench.archived("weather").contains(where: { $0.hasPrefix("failed/") && $0.hasSuffix(Self.name) }) {
            try await operate(bench, "retry")
        }
    }

    private func sweep(_ title: String, _ commands: [[String]]) async throws {
        var generator = SeededGenerator(seed: seed)
        let numbers = (0..<trials(4, full: 120)).map { _ in Int.random(in: 60...300, using: &generator) }
        var hits = 0
        for number in numbers {
            hits += try await Bench.running(.init(window: 20, latency: .milliseconds(20))) { bench in
                try bench.drop(Self.drop)
                let point = Failpoint(number: number, action: .kill)
                let isHit = try await run(bench, to: point, commands)
                try await letGo(bench, byHand: number.isMultiple(of: 2))
                let verdict = try await bench.judge("A1 kill9-sweep, \(title) at \(number)")
                // A job that is tried again is told twice.
                let invariants: [Invariant] = [.onePlace, .nobodyLost, .fewDoubled, .noRemains, .atRest]
                #expect(invariants.allSatisfy(verdict.holds), "\(verdict)")
                return isHit ? 1 : 0
            }
        }
        report("A1 kill9-sweep, \(title): \(hits) deaths")
        #expect(hits > 0, "the daemon has no failpoints, or ended before them")
    }

    @Test func `a death while a job is held and released loses nobody and doubles few`() async throws {
        try await sweep("hold and release", [["hold"], ["release"]])
    }

    @Test func `a death while a job is cancelled and tried again loses nobody and doubles few`() async throws {
        try await sweep("cancel and retry", [["cancel", "retry"]])
    }

    @Test func `what was not read of a job that is cancelled is told, though the daemon dies meanwhile`() async throws {
        try await Bench.running(.init(window: 20, latency: .milliseconds(20))) { bench in
            let count = trials(120_000, full: 300_000)
            try bench.drop(Drop(number: 1, count: count))
            try await bench.withDaemon { daemon in
                try await bench.arrived(100)
                let told = bench.names(in: "weather/feedback").count
                try await operate(bench, "cancel")
                try await eventually("some of it is told") { bench.names(in: "weather/feedback").count > told + 1 }
                try await daemon.destroy()
                #expect(try bench.lines("weather").count < count, "all of it was told before the daemon died")
            }
            let verdict = try await bench.judge("A1 kill9, while what was cancelled is told")
            #expect(verdict.isGood, "\(verdict)")
        }
    }
}
