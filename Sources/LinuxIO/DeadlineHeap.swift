/// An action that runs at an instant unless its entry is removed from the `DeadlineHeap` first.
///
/// Unchecked because only the reactor's thread touches it (`ReactorLoop` asserts that).
class DeadlineEntry: @unchecked Sendable {
    fileprivate(set) final var deadline = ContinuousClock.Instant.now
    fileprivate final var position = -1

    /// Whether a heap holds the entry now.
    final var isScheduled: Bool { position >= 0 }

    /// Runs once the deadline has passed. The entry has left the heap by then.
    func deadlinePassed() {}
}

/// A binary heap of deadlines, earliest first. Entries know their position, so removal is O(log n) too.
struct DeadlineHeap {
    private var entries: [DeadlineEntry] = []

    /// The first deadline, or `nil` if the heap is empty.
    var earliest: ContinuousClock.Instant? { entries.first?.deadline }

    /// Adds an entry, or moves it if it is already there.
    mutating func insert(_ entry: DeadlineEntry, at deadline: ContinuousClock.Instant) {
        remove(entry)
        entry.deadline = deadline
        entry.position = entries.count
        entries.append(entry)
        siftUp(from: entry.position)
    }

    /// Removes an entry if it is in the heap.
    mutating func remove(_ entry: DeadlineEntry) {
        guard entry.isScheduled else { return }
        let hole = entry.position
        entry.position = -1
        let last = entries.removeLast()
        guard last !== entry else { return }
        entries[hole] = last
        last.position = hole
        siftDown(from: hole)
        siftUp(from: last.position)
    }

    /// Removes and returns the earliest entry if its deadline is not after `now`.
    mutating func popExpired(at now: ContinuousClock.Instant) -> DeadlineEntry? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        remove(first)
        return first
    }

    /// Removes and returns an arbitrary entry, to empty the heap.
    mutating func popAny() -> DeadlineEntry? {
        guard let last = entries.last else { return nil }
        remove(last)
        return last
    }

    private mutating func siftUp(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].deadline < entries[parent].deadline else { return }
            exchange(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            let left = 2 * parent + 1
            guard left < entries.count else { return }
            let right = left + 1
            let isRightFirst = right < entries.count && entries[right].deadline < entries[left].deadline
            let child = isRightFirst ? right : left
            guard entries[child].deadline < entries[parent].deadline else { return }
            exchange(child, parent)
            parent = child
        }
    }

    private mutating func exchange(_ one: Int, _ other: Int) {
        entries.swapAt(one, other)
        entries[one].position = one
        entries[other].position = other
    }
}
