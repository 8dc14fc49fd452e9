import Foundation
import GatewaySimulator
import LinuxIO
import TestSupport
import Testing

/// Losses of power that no filesystem here would show, but that one may: a daemon's file operations are recorded, and
/// trees that a loss of power may leave at some point of them are put before the next daemon.
struct ModelCrash: Sendable {
    let seed: UInt64
    /// At which file operation each daemon ends: the first ones by a kill, the last one by a loss of power.
    let numbers: [Int]
    let order: MemoryVolume.Order
    /// How many of the trees that are possible then are tried.
    let count: Int
    /// The commands that are given without a daemon after the last kill. The power is lost while they run, or behind them.
    var commands: [[String]] = []

    /// Runs it.
    ///
    /// - Returns: a verdict for each tree; none if a daemon did not come as far as its number.
    /// - Throws: what keeps it from being run.
    func verdicts() async throws -> [Verdict] {
        try await Bench.running(.init(daemon: MemoryVolume.smallJournal)) { bench in
            try bench.dropTwenty()
            let path = bench.ground + "/spool"
            try Self.stamp(path)
            var volume = try MemoryVolume(copying: Directory.open(path: path), order: order)
            for (life, number) in numbers.enumerated() {
                let trace = bench.home + "/trace-\(life)"
                let point = Failpoint(number: number, action: .stop)
                guard try await bench.run(to: point, ["PUSHSPOOL_TRACE": trace]) else { return [] }
                try volume.apply(FileChange.decode(Array(Data(contentsOf: URL(fileURLWithPath: trace)))))
                // An operation that was under way at the end may be in only one of the two.
                let found = try MemoryVolume(copying: Directory.open(path: path), order: order)
                let isLast = life == numbers.count - 1 && commands.isEmpty
                guard isLast || volume.looksLike(found) else { return [] }
            }
            try await operate(bench, &volume)
            let before = try await bench.entries().count
            var verdicts: [Verdict] = []
            for (index, state) in volume.crashStates(seed: seed, count: count).enumerated() {
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                try state.materialize(at: Directory.open(path: path))
                try Self.stamp(path)
                let others = before..<(try await bench.entries().count)
                if !commands.isEmpty { try await letGo(bench) }
                verdicts.append(try await bench.judge("\(self) state \(index)", without: others))
            }
            return verdicts
        }
    }
}

extension ModelCrash {
    /// Gives all files one time of modification, which the model does not have and a remainder of a held job names.
    private static func stamp(_ path: String) throws {
        let time = Date(timeIntervalSince1970: 1_795_000_000)
        for name in FileManager.default.enumerator(atPath: path)?.compactMap({ $0 as? String }) ?? [] {
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path + "/" + name)
        }
    }

    /// Gives the commands, and applies their file operations up to a loss of power.
    private func operate(_ bench: Bench, _ volume: inout MemoryVolume) async throws {
        var changes: [FileChange] = []
        for (number, command) in commands.enumerated() {
            let trace = "\(bench.home)/command-\(number)"
            try await bench.give(
                command, ["PUSHSPOOL_TRACE": trace, "PUSHSPOOL_FAILPOINT_UNDER": bench.ground + "/spool"])
            changes += try FileChange.decode(Array(Data(contentsOf: URL(fileURLWithPath: trace))))
        }
        guard !changes.isEmpty else { return }
        var generator = SeededGenerator(seed: seed)
        let count =
            Bool.random(using: &generator) ? changes.count : Int.random(in: 0...changes.count, using: &generator)
        try volume.apply(Array(changes.prefix(count)))
    }

    /// Lets daemons finish, and releases what is held.
    private func letGo(_ bench: Bench) async throws {
        try await bench.finish()
        guard bench.isHolding("weather") else { return }
        try await bench.give(["release", "--all"])
        try await bench.finish()
    }
}

extension MemoryVolume {
    /// The model keeps every byte of it several times, and sshfs writes it through a pipe.
    static let smallJournal = "journal: {size: 8MiB}"
}

extension ModelCrash: CustomStringConvertible {
    var description: String {
        "B12 model-crash \(order) from \(seed) at \(numbers) \(commands.map { $0.joined(separator: " ") })"
    }
}
