import Synchronization
import TestSupport

/// Producers that drop jobs of all sizes while a daemon lives and dies.
struct Producers: Sendable {
    let bench: Bench
    let seed: UInt64
    /// How many jobs of an app may wait in `new/`: the rest of the machine is for the daemon.
    var backlog = trials(16, full: 40)
    /// About how many jobs they drop at most.
    var limit = Int.max
    /// How long each rests after eight jobs.
    var pause = Duration.zero

    /// Has four of them drop jobs while `body` runs.
    func running(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            let numbers = Numbers()
            for producer in 0..<4 {
                group.addTask { try await produce(numbers, SeededGenerator(seed: seed &+ UInt64(producer))) }
            }
            try await body()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func produce(_ numbers: Numbers, _ generator: SeededGenerator) async throws {
        var generator = generator
        while !Task.isCancelled {
            let waiting = bench.setup.apps.reduce(0) { $0 + bench.names(in: $1 + "/new").count }
            guard waiting < backlog * bench.setup.apps.count, bench.drops.count < limit else {
                // Cancelled meanwhile: that ends the loop.
                try? await moment(.milliseconds(15))
                continue
            }
            for _ in 0..<8 { try bench.drop(Drop(number: numbers.next(), count: Self.count(&generator))) }
            if pause > .zero { try? await moment(pause) }
        }
    }

    /// Most jobs are small; some have more recipients than a window, and a few are too long for the journal.
    private static func count(_ generator: inout SeededGenerator) -> Int {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0: 1_200
        case 1..<6: 400
        default: Int.random(in: 1...20, using: &generator)
        }
    }
}

/// Numbers for jobs, each given once.
private final class Numbers: Sendable {
    private let last = Atomic<Int>(0)

    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
