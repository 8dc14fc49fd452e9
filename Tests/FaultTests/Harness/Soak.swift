import Foundation
import TestSupport
import Testing

/// One daemon after the other under load for a long time, while its surroundings change.
struct Soak {
    /// What a daemon uses.
    struct Usage {
        let memory: Int
        let descriptors: Int
        let threads: Int

        /// What a daemon uses now; memory in KiB.
        init(of daemon: Child) throws {
            (memory, threads) = (try daemon.status("VmRSS"), try daemon.status("Threads"))
            let folder = "/proc/\(daemon.process.processIdentifier)/fd"
            descriptors = try FileManager.default.contentsOfDirectory(atPath: folder).count
        }
    }

    /// What one daemon used, from its start on.
    struct Life: CustomStringConvertible {
        fileprivate(set) var usages: [Usage] = []

        /// Whether the last third of a life that was long enough used no more than the one before it, a little aside.
        var isFlat: Bool {
            guard usages.count >= 30 else { return true }
            return growth(\.memory) <= 8 << 10 && growth(\.descriptors) <= 32 && growth(\.threads) <= 8
        }

        /// By how much the most of the last third is above a fifth more than the most of the middle one.
        private func growth(_ path: KeyPath<Usage, Int>) -> Int {
            let third = usages.count / 3
            let (middle, last) = (usages[third..<2 * third], usages[(2 * third)...])
            return (last.map { $0[keyPath: path] }.max() ?? 0) - (middle.map { $0[keyPath: path] }.max() ?? 0) * 6 / 5
        }

        var description: String {
            let third = max(1, usages.count / 3)
            let parts = stride(from: 0, to: usages.count, by: third).map { usages[$0..<min($0 + third, usages.count)] }
            return parts.map { part in
                let (memory, descriptors) = (part.map(\.memory).max() ?? 0, part.map(\.descriptors).max() ?? 0)
                return "\(memory / 1024) MiB \(descriptors) descriptors \(part.map(\.threads).max() ?? 0) threads"
            }.joined(separator: ", ")
        }
    }

    let bench: Bench
    /// How long it takes.
    let length: Duration
    /// What each daemon used.
    private(set) var lives: [Life] = []
    /// How often each change was made.
    private(set) var changes: [Change: Int] = [:]
    private var generator = SeededGenerator(seed: seed)

    init(_ bench: Bench, _ length: Duration) {
        (self.bench, self.length) = (bench, length)
    }

    /// Lets daemons live and die under load until the time is over, and releases what is held.
    mutating func run() async throws {
        let end = ContinuousClock.now + length
        try await Producers(bench: bench, seed: seed, backlog: 40, pause: .seconds(4)).running {
            while ContinuousClock.now < end { try await live(until: end) }
        }
        for app in bench.setup.apps { try await bench.give(["resume", app]) }
        while bench.setup.apps.contains(where: bench.isHolding) {
            try await bench.give(["release", "--all"])
            try await bench.finish(within: .seconds(600))
        }
    }

    /// One daemon's life: a fourth to an eighth of the time.
    private mutating func live(until end: ContinuousClock.Instant) async throws {
        let death = min(end, .now + length / Double.random(in: 4...8, using: &generator))
        var life = Life()
        try await bench.withDaemon { daemon in
            try await daemon.says("app started")
            while ContinuousClock.now < death {
                try await moment(.seconds(3))
                life.usages.append(try Usage(of: daemon))
                try await change()
            }
            // Half of them are not asked.
            if Bool.random(using: &generator) { #expect(try await daemon.stop() == 0, "\(daemon.lastWords)") }
        }
        report("soak: a daemon of \(life.usages.count * 3) s: \(life)")
        lives.append(life)
    }

    // MARK: Changes

    /// What somebody changes while a daemon runs.
    enum Change: CaseIterable {
        case reload, hold, release, pause, resume, oldArchive, nothing
    }

    private mutating func change() async throws {
        let change = Change.allCases.randomElement(using: &generator) ?? .nothing
        let app = bench.setup.apps.randomElement(using: &generator) ?? "weather"
        changes[change, default: 0] += 1
        switch change {
        case .reload: try reload(app)
        case .hold: try await bench.give(["hold", "--all", "--app", app])
        case .release: try await bench.give(["release", "--all"])
        case .pause: try await bench.give(["pause", app])
        case .resume: for app in bench.setup.apps { try await bench.give(["resume", app]) }
        case .oldArchive: try makeOldArchive(app)
        case .nothing: break
        }
    }

    /// Sets a rate in an app's file, or takes it out again.
    private func reload(_ app: String) throws {
        let (name, rate) = ("etc/apps/\(app).yaml", "rate: 1000/s\n")
        let text = try String(contentsOfFile: "\(bench.home)/\(name)", encoding: .utf8)
        try bench.write(name, text.contains(rate) ? text.replacingOccurrences(of: rate, with: "") : text + rate)
    }

    /// Makes a job that was archived long ago, which the daemon must delete.
    private func makeOldArchive(_ app: String) throws {
        let day = "\(bench.spool)/\(app)/done/2020-01-0\(Int.random(in: 1...9))"
        try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: URL(fileURLWithPath: day + "/old.json"))
    }
}
