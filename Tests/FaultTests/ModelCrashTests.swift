import Foundation
import LinuxIO
import TestSupport
import Testing

/// Losses of power in the model of `TestSupport/MemoryVolume`.
@Suite(.serialized) struct ModelCrashTests {
    @Test(arguments: MemoryVolume.Order.allCases)
    func `no tree that a power loss may leave loses anybody`(order: MemoryVolume.Order) async throws {
        var generator = SeededGenerator(seed: seed)
        var verdicts: [Verdict] = []
        for _ in 0..<trials(2, full: 120) {
            let number = Int.random(in: 1...540, using: &generator)
            verdicts += try await ModelCrash(
                seed: generator.next() >> 32, numbers: [number], order: order, count: isFullRun ? 5 : 2
            ).verdicts()
        }
        for verdict in verdicts { #expect(verdict.isGood, "\(verdict)") }
        #expect(verdicts.count > 1, "the daemon has no failpoints, or ended before them")
    }

    /// What the first daemon moved and did not sync, the second one finds in its place.
    @Test(arguments: MemoryVolume.Order.allCases)
    func `no tree that a power loss after a death may leave loses anybody`(order: MemoryVolume.Order) async throws {
        var generator = SeededGenerator(seed: seed)
        var verdicts: [Verdict] = []
        for _ in 0..<trials(2, full: 24) {
            let numbers = [Int.random(in: 350...540, using: &generator), Int.random(in: 60...260, using: &generator)]
            verdicts += try await ModelCrash(
                seed: generator.next() >> 32, numbers: numbers, order: order, count: isFullRun ? 5 : 2
            ).verdicts()
        }
        for verdict in verdicts { #expect(verdict.isGood, "\(verdict)") }
        #expect(verdicts.count > 1, "the daemon has no failpoints, or ended before them")
    }

    private static let commands = [[["hold", "--all"]], [["hold", "--all"], ["release", "--all"]]]

    /// A command without a daemon has the journal forget what it moved.
    @Test(arguments: MemoryVolume.Order.allCases, commands)
    func `no tree that a power loss after a command may leave loses anybody`(
        order: MemoryVolume.Order, commands: [[String]]
    ) async throws {
        var generator = SeededGenerator(seed: seed)
        var verdicts: [Verdict] = []
        for _ in 0..<trials(2, full: 8) {
            var crash = ModelCrash(
                seed: generator.next() >> 32, numbers: [Int.random(in: 200...540, using: &generator)], order: order,
                count: isFullRun ? 4 : 2)
            crash.commands = commands
            verdicts += try await crash.verdicts()
        }
        // A job that is held and released is told in two parts.
        let invariants: [Invariant] = [.onePlace, .nobodyLost, .fewDoubled, .noRemains, .atRest]
        for verdict in verdicts { #expect(invariants.allSatisfy(verdict.holds), "\(verdict)") }
        #expect(verdicts.count > 1, "the daemon has no failpoints, or ended before them")
    }
}
