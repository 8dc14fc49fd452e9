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

    /// Runs it.
    ///
    /// - Returns: a verdict for each tree; none if a daemon did not come as far as its number.
    /// - Throws: what keeps it from being run.
    func verdicts() async throws -> [Verdict] {
        try await Bench.running(.init(daemon: MemoryVolume.smallJournal)) { bench in
            try bench.dropTwenty()
            let path = bench.ground + "/spool"
            var volume = try MemoryVolume(copying: Directory.open(path: path), order: order)
            for (life, number) in numbers.enumerated() {
                let trace = bench.home + "/trace-\(life)"
                let point = Failpoint(number: number, action: .stop)
                guard try await bench.run(to: point, ["PUSHSPOOL_TRACE": trace]) else { return [] }
                try volume.apply(FileChange.decode(Array(Data(contentsOf: URL(fileURLWithPath: trace)))))
                // An operation that was under way at the end may be in only one of the two.
                let found = try MemoryVolume(copying: Directory.open(path: path), order: order)
                guard life == numbers.count - 1 || volume.looksLike(found) else { return [] }
            }
            let before = try await bench.entries().count
            var verdicts: [Verdict] = []
            for (index, state) in volume.crashStates(seed: seed, count: count).enumerated() {
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                try state.materialize(at: Directory.open(path: path))
                let others = before..<(try await bench.entries().count)
                verdicts.append(try await bench.judge("\(self) state \(index)", without: others))
            }
            return verdicts
        }
    }
}

extension MemoryVolume {
    /// The model keeps every byte of it several times, and sshfs writes it through a pipe.
    static let smallJournal = "journal: {size: 8MiB}"
}

extension ModelCrash: CustomStringConvertible {
    var description: String {
        "B12 model-crash \(order) from \(seed) at \(numbers)"
    }
}
