import TestSupport
import Testing

@testable import LinuxIO

struct DeadlineHeapTests {
    @Test func `entries leave in the order of their deadlines, whatever is removed or moved between`() {
        for seed in UInt64(0)..<50 {
            var random = SeededNumbers(seed: seed)
            var heap = DeadlineHeap()
            let start = ContinuousClock.now
            let entries = (0..<200).map { _ in DeadlineEntry() }
            for entry in entries { heap.insert(entry, at: start + .seconds(random.next(below: 50))) }
            for entry in entries where random.next(below: 3) == 0 { heap.remove(entry) }
            for entry in entries where random.next(below: 3) == 0 {
                heap.insert(entry, at: start + .seconds(random.next(below: 50)))
            }
            let expected = entries.filter(\.isScheduled).map(\.deadline).sorted()
            var found: [ContinuousClock.Instant] = []
            while let entry = heap.popExpired(at: start + .seconds(100)) { found.append(entry.deadline) }
            #expect(found == expected, "seed \(seed)")
        }
    }

    @Test func `an entry whose time has not come stays`() {
        var heap = DeadlineHeap()
        let now = ContinuousClock.now
        heap.insert(DeadlineEntry(), at: now + .seconds(1))
        #expect(heap.popExpired(at: now) == nil)
        #expect(heap.earliest == now + .seconds(1))
    }

    @Test func `removing what is not there changes nothing`() {
        var heap = DeadlineHeap()
        heap.remove(DeadlineEntry())
        #expect(heap.earliest == nil)
    }
}

/// A small generator (SplitMix64) whose numbers a seed decides.
private struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next(below bound: UInt64) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % bound)
    }
}
