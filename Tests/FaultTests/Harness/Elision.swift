import Foundation
import LinuxIO
import TestSupport
import Testing

/// A daemon that leaves out one sync, or none, and loses its power where that sync is missed, in the model of
/// `TestSupport/MemoryVolume`.
struct Elision: Sendable {
    /// Where the power is lost.
    enum Stage: String, CaseIterable {
        /// A long job is being sent, whose file its producer never synced.
        case underWay
        /// A job is being sent that must not be sent twice, and nothing has synced its outcomes.
        case announced
        /// A job has ended, and the journal has forgotten it.
        case forgotten
        /// A job is about to come to its archive, where its result file is.
        case resultOut
        /// A job has just come to its archive, beside its result file.
        case archived
        /// A job is parked that somebody had changed while it was sent, and the journal has forgotten it.
        case held

        /// What must hold after it; what is in `hold/` waits for its operator, and is neither lost nor told.
        var demands: [Invariant] {
            self == .held ? [.onePlace, .fewDoubled, .noRemains, .atRest] : Invariant.allCases
        }
    }

    let stage: Stage
    var site: SyncSite?
    var order = MemoryVolume.Order.loose
    /// How many trees that may be found then are tried, the extreme ones first.
    var count = 3
    var seed: UInt64 = 1

    /// Runs it.
    ///
    /// - Returns: for each tree the verdict, and whether what the stage demands holds; it ends with the first where it does not.
    /// - Throws: what keeps it from being run.
    func outcomes() async throws -> [(verdict: Verdict, isGood: Bool)] {
        try await Bench.running(stage.setup) { bench in
            try await bench.prepare(stage)
            let path = bench.ground + "/spool"
            var volume = try MemoryVolume(
                copying: Directory.open(path: path), order: order, unsynced: stage == .underWay ? ["weather/new"] : [])
            // Long enough that its end, whose feedback is synced, does not come before the loss of power; short enough for the
            // journal to hold its bytes, so that its file is not.
            let later = Drop(number: 2, count: 800)
            if stage.endsWithAnother {
                try volume.put(later.name, in: path + "/weather/new", Array(later.text.utf8), isSafe: true)
            }
            let trace = bench.home + "/trace"
            var environment = ["PUSHSPOOL_TRACE": trace, "PUSHSPOOL_FAILPOINT_UNDER": path]
            environment["PUSHSPOOL_ELIDE"] = site?.rawValue
            try await bench.withDaemon(environment) { daemon in
                try await bench.reach(stage, later: later, daemon)
                try await daemon.destroy()
            }
            let changes = FileChange.decode(Array(try Data(contentsOf: URL(fileURLWithPath: trace))))
            try volume.apply(stage.cut(changes))
            return try await judge(bench, volume.crashStates(seed: seed, count: count))
        }
    }

    private func judge(
        _ bench: Bench, _ states: [CrashState]
    ) async throws -> [(verdict: Verdict, isGood: Bool)] {
        let path = bench.ground + "/spool"
        try bench.syncAsUsual()
        let before = try await bench.entries().count
        var outcomes: [(verdict: Verdict, isGood: Bool)] = []
        for (index, state) in states.enumerated() {
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try state.materialize(at: Directory.open(path: path))
            let others = before..<(try await bench.entries().count)
            let verdict = try await bench.judge(
                "\(self) state \(index)", allowance: stage.allowance, without: others, within: .seconds(10))
            outcomes.append((verdict, stage.demands.allSatisfy { verdict.holds($0) }))
            if outcomes.last?.isGood == false { break }
        }
        return outcomes
    }
}

extension Elision: CustomStringConvertible {
    var description: String {
        "B13 sync-elision \(site?.rawValue ?? "none"): \(stage.rawValue), \(order.rawValue)"
    }
}

extension Elision.Stage {
    /// How the bench is set up.
    fileprivate var setup: Bench.Setup {
        // Slow enough that a job is still under way when a busy machine has seen that the stage is reached.
        var setup = Bench.Setup(latency: .milliseconds(60), daemon: MemoryVolume.smallJournal)
        if self == .archived || self == .resultOut { setup.script = "nth=1 answer reason=BadDeviceToken" }
        if self == .announced {
            setup.app = "on_doubt: report"
            // Else the next sync of outcomes takes the announcements along.
            setup.daemon = Self.rareSyncs
        }
        return setup
    }

    fileprivate static let rareSyncs = "journal: {size: 8MiB, sync_interval: 60s, sync_records: 1000000}"

    /// How many may be sent twice; `nil`: window and group.
    fileprivate var allowance: Int? { self == .announced ? 0 : nil }

    /// Whether another job is on its way then, which makes durable that the journal has forgotten the first.
    fileprivate var endsWithAnother: Bool { self == .forgotten || self == .held }

    /// The changes up to the loss of power.
    fileprivate func cut(_ changes: [FileChange]) -> [FileChange] {
        guard self == .archived || self == .resultOut else { return changes }
        let end = changes.firstIndex { change in
            guard case .renamed(let from, _, let to, let name) = change, from != to, to.contains("/done/") else {
                return false
            }
            return String(decoding: name, as: UTF8.self).hasSuffix(".result.json") == (self == .resultOut)
        }
        return Array(changes.prefix((end ?? changes.count - 1) + 1))
    }
}

extension Bench {
    /// Drops what the stage begins with.
    fileprivate func prepare(_ stage: Elision.Stage) async throws {
        switch stage {
        case .underWay: try drop(Drop(number: 1, count: 3_000, more: #","record":"all""#, filling: 240))
        case .announced: try drop(Drop(number: 1, count: 3_000))
        case .forgotten: try drop(Drop(number: 1, count: 600))
        case .archived, .resultOut: try drop(Drop(number: 1, count: 3))
        case .held:
            try drop(Drop(number: 1, count: 1_500))
            try await withDaemon { _ in try await arrived(500) }
            let entry = try #require(claimed("weather").first)
            let url = URL(fileURLWithPath: "\(spool)/weather/work/node-a/\(entry)")
            let text = try String(contentsOf: url, encoding: .utf8)
            try Data(text.replacingOccurrences(of: #""alert":"1""#, with: #""alert":"2""#).utf8).write(to: url)
        }
    }

    /// Lets the daemons that follow sync their journal as the others do.
    fileprivate func syncAsUsual() throws {
        let file = try String(contentsOfFile: home + "/etc/pushspool.yaml", encoding: .utf8)
        let usual = file.replacingOccurrences(of: Elision.Stage.rareSyncs, with: MemoryVolume.smallJournal)
        try write("etc/pushspool.yaml", usual)
    }

    /// Waits until the stage is reached.
    fileprivate func reach(_ stage: Elision.Stage, later: Drop, _ daemon: Child) async throws {
        switch stage {
        case .underWay:
            try await arrived(1_000)
            try await eventually("feedback") { !names(in: "weather/feedback").isEmpty }
        case .announced: try await arrived(300)
        case .forgotten:
            try await eventually("the job in its archive") { try isIdle() }
            try await sendMore(later)
        case .archived, .resultOut:
            try await eventually("the job in its archive") { try isIdle() }
        case .held:
            try await eventually("the job held: \(daemon.log.suffix(2000))") { !names(in: "weather/hold").isEmpty }
            try await sendMore(later)
        }
    }

    /// Sends a job after the journal has forgotten the first one: so that it is durable that it has.
    private func sendMore(_ later: Drop) async throws {
        let command = [try BuiltProgram.path, "journal", "\(spool)/.pushspool/node-a/journal"]
        try await eventually("the end of the first job in the journal") {
            try await tool(command, logs: home + "/logs").contains("CLEANED")
        }
        let count = try await entries().count
        try drop(later)
        try await arrived(count + 250)
    }
}
