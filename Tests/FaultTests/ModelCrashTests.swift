import Foundation
import LinuxIO
import TestSupport
import Testing

/// Losses of power in the model of `TestSupport/MemoryVolume`.
@Suite(.serialized) struct ModelCrashTests {
    @Test(arguments: MemoryVolume.Order.allCases)
    func `no tree that a power loss may leave loses anybody`(order: MemoryVolume.Order) async throws {
        let verdicts = try await Self.verdicts(of: trials(2, full: 120)) { generator in
            let number = Int.random(in: 1...540, using: &generator)
            return ModelCrash(
                seed: generator.next() >> 32, numbers: [number], order: order, count: isFullRun ? 5 : 2)
        }
        for verdict in verdicts { #expect(verdict.isGood, "\(verdict)") }
    }

    /// What the first daemon moved and did not sync, the second one finds in its place.
    @Test(arguments: MemoryVolume.Order.allCases)
    func `no tree that a power loss after a death may leave loses anybody`(order: MemoryVolume.Order) async throws {
        let verdicts = try await Self.verdicts(of: trials(2, full: 24)) { generator in
            let numbers = [Int.random(in: 350...540, using: &generator), Int.random(in: 60...260, using: &generator)]
            return ModelCrash(
                seed: generator.next() >> 32, numbers: numbers, order: order, count: isFullRun ? 5 : 2)
        }
        for verdict in verdicts { #expect(verdict.isGood, "\(verdict)") }
    }

    private static let commands = [[["hold", "--all"]], [["hold", "--all"], ["release", "--all"]]]

    /// A command without a daemon has the journal forget what it moved.
    @Test(arguments: MemoryVolume.Order.allCases, commands)
    func `no tree that a power loss after a command may leave loses anybody`(
        order: MemoryVolume.Order, commands: [[String]]
    ) async throws {
        let verdicts = try await Self.verdicts(of: trials(2, full: 8)) { generator in
            var crash = ModelCrash(
                seed: generator.next() >> 32, numbers: [Int.random(in: 200...540, using: &generator)], order: order,
                count: isFullRun ? 4 : 2)
            crash.commands = commands
            return crash
        }
        // A job that is held and released is told in two parts.
        let invariants: [Invariant] = [.onePlace, .nobodyLost, .fewDoubled, .noRemains, .atRest]
        for verdict in verdicts { #expect(invariants.allSatisfy(verdict.holds), "\(verdict)") }
    }

    /// The verdicts on so many crashes. Some find a daemon that ended before its number, or just in a file operation, and
    /// say nothing; up to half as many more are then tried.
    private static func verdicts(
        of count: Int, _ make: (inout SeededGenerator) -> ModelCrash
    ) async throws -> [Verdict] {
        var generator = SeededGenerator(seed: seed)
        var (verdicts, crashCount) = ([Verdict](), 0)
        for _ in 0..<count * 3 / 2 + 4 where crashCount < count {
            let found = try await make(&generator).verdicts()
            verdicts += found
            if !found.isEmpty { crashCount += 1 }
        }
        #expect(crashCount >= (count + 1) / 2, "the daemon has no failpoints, or ended before them")
        return verdicts
    }
}
