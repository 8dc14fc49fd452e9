import TestSupport
import Testing

@testable import LinuxIO

struct DeadlineHeapTests {
    @Test func `entries leave in the order of their deadlines, whatever is removed or moved between`() {
        for seed in UInt64(0)..<50 {
            var random = SeededGenerator(seed: seed)
            var heap = DeadlineHeap()
            let start = ContinuousClock.now
            let entries = (0..<200).map { _ in DeadlineEntry() }
            for entry in entries { heap.insert(entry, at: start + .seconds(Int.random(in: 0..<50, using: &random))) }
            for entry in entries where Int.random(in: 0..<3, using: &random) == 0 { heap.remove(entry) }
            for entry in entries where Int.random(in: 0..<3, using: &random) == 0 {
                heap.insert(entry, at: start + .seconds(Int.random(in: 0..<50, using: &random)))
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
