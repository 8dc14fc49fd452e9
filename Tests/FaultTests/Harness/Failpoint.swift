import Foundation
import TestSupport
import Testing

/// Deaths, stops and errors at a file operation of the daemon's, by its number (`LinuxIO/Failpoints`).
struct Failpoint: Sendable, CustomStringConvertible {
    enum Action: String, Sendable {
        case kill, stop, eio, enospc
    }

    let number: Int
    let action: Action
    /// Whether all later operations that need space are meant too.
    var isLasting = false

    var description: String { "\(number)\(isLasting ? "+" : ""):\(action.rawValue)" }

    /// What a daemon's environment has to have for it; only operations in the bench's spool count.
    func environment(_ bench: Bench) -> [String: String] {
        ["PUSHSPOOL_FAILPOINT": description, "PUSHSPOOL_FAILPOINT_UNDER": bench.ground + "/spool"]
    }
}

/// Tries one file operation after the other, until a whole run has fewer.
enum Sweep {
    /// How many file operations a daemon makes at least for `Bench.dropTwenty`; it makes 540 to 620.
    private static let leastCount = 480

    /// Every so many-th operation is tried in a full run; `PUSHSPOOL_STEP=1` tries each.
    private static let usualStep = ProcessInfo.processInfo.environment["PUSHSPOOL_STEP"].flatMap(Int.init)
    /// How many trials run at a time: most of one is waiting.
    private static let places = 5

    /// Runs `trial` for every `step`-th number until one says that its daemon never came that far; in a quick run for a few
    /// numbers only, from all parts of a run.
    ///
    /// - Returns: how many trials hit something; at least one must have, or the program has no failpoints.
    /// - Throws: what `trial` throws.
    @discardableResult
    static func run(
        step: Int, quick count: Int, _ trial: @escaping @Sendable (Int) async throws -> Bool
    ) async throws -> Int {
        let step = max(1, usualStep ?? step)
        guard !isFullRun else { return try await run(step: step, from: Int(seed) % step + 1, trial) }
        var generator = SeededGenerator(seed: seed)
        let part = leastCount / count
        let numbers = (0..<count).map { $0 * part + Int.random(in: 1...part, using: &generator) }
        return try await withThrowingTaskGroup { group in
            for number in numbers { group.addTask { try await trial(number) } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    private static func run(
        step: Int, from first: Int, _ trial: @escaping @Sendable (Int) async throws -> Bool
    ) async throws -> Int {
        var (number, hits) = (first, 0)
        var goesOn = true
        while goesOn {
            let numbers = stride(from: number, to: number + Self.places * step, by: step)
            let results = try await withThrowingTaskGroup { group in
                for number in numbers { group.addTask { try await trial(number) } }
                return try await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            hits += results.count { $0 }
            goesOn = results.allSatisfy(\.self)
            number += Self.places * step
        }
        return hits
    }
}

extension Bench {
    /// Twenty jobs of every kind, dropped before the daemon starts, so that each run does much the same.
    func dropTwenty() throws {
        for number in 1...14 { try drop(Drop(number: number, count: number % 4 + 1)) }
        try drop(Drop(number: 15, count: 300))
        try drop(Drop(number: 16, count: 1_200))
        try drop(Drop(number: 17, count: 40, more: #","record":"all""#))
        try drop(Drop(number: 18, count: trials(150, full: 1_100), more: #","record":"all""#))
        try drop(Drop(number: 19, count: 3, more: #","on_doubt":"resend""#))
        try drop(Drop(number: 20, count: 1))
    }

    /// Runs a daemon until the failpoint has killed or stopped it, or nothing is left to do.
    ///
    /// - Parameters:
    ///   - point: where.
    ///   - more: what its environment has besides.
    ///   - body: looks at a daemon that is stopped, or at a dead one's spool; the daemon dies behind it.
    /// - Returns: whether it was killed or stopped.
    /// - Throws: what `body` throws.
    func run(
        to point: Failpoint, _ more: [String: String] = [:], _ body: (Child) async throws -> Void = { _ in }
    ) async throws -> Bool {
        var isHit = false
        try await withDaemon(point.environment(self).merging(more) { $1 }) { daemon in
            try await eventually("\(point) or the end of all jobs: \(daemon.log.suffix(2000))") {
                isHit = !daemon.process.isRunning || daemon.isStopped
                return try isHit || isIdle()
            }
            if isHit { try await body(daemon) }
        }
        return isHit
    }
}
