/// A set of notification indices, stored as runs: for example the unfinished or the rejected notifications of a job.
///
/// Runs are sorted, never empty and never adjacent. Settling in file order costs O(1), even if every second index was
/// settled before. A change in the middle costs O(log *n*) to find and O(*n*) to shift, where *n* is the number of
/// runs, bounded by the window.
package struct IndexRuns: Hashable, Sendable {
    /// The runs in ascending order. O(*n*) after runs were removed from the front; `runCount`, `first` and `last` are O(1).
    package var runs: [Range<Int>] { head == 0 ? storage : Array(storage[head...]) }
    /// The number of runs. O(1).
    package var runCount: Int { storage.count - head }
    /// The lowest run. O(1).
    package var first: Range<Int>? { storage[head...].first }
    /// The highest run. O(1).
    package var last: Range<Int>? { storage[head...].last }
    /// The number of indices.
    package private(set) var count = 0
    /// The runs of the set from `head` on; before it, removed runs. Has no removed runs if the set is empty.
    private var storage: [Range<Int>] = []
    private var head = 0

    /// Creates an empty set.
    package init() {}

    /// Creates a set of one run.
    package init(_ range: Range<Int>) {
        insert(range)
    }

    /// Creates a set of runs in any order, overlapping or not.
    package init(_ ranges: some Sequence<Range<Int>>) {
        for range in ranges { insert(range) }
    }

    /// Whether the set is empty.
    package var isEmpty: Bool { runCount == 0 }

    /// Returns whether the index is in the set.
    package func contains(_ index: Int) -> Bool {
        let position = firstRun(endingAfter: index)
        return position < storage.count && storage[position].lowerBound <= index
    }

    /// Returns the parts of `range` that are in the set, in ascending order.
    package func intersection(_ range: Range<Int>) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var position = firstRun(endingAfter: range.lowerBound)
        while position < storage.count, storage[position].lowerBound < range.upperBound {
            let part = storage[position].clamped(to: range)
            if !part.isEmpty { parts.append(part) }
            position += 1
        }
        return parts
    }

    /// Adds the indices of `range`.
    ///
    /// - Returns: How many of them were new.
    @discardableResult
    package mutating func insert(_ range: Range<Int>) -> Int {
        guard !range.isEmpty else { return 0 }
        if let last = storage.last, last.upperBound < range.lowerBound {
            storage.append(range)
            count += range.count
            return range.count
        }
        // Merge the runs that overlap or touch the range.
        let start = firstRun(endingAfter: range.lowerBound - 1)
        var (end, merged, covered) = (start, range, 0)
        while end < storage.count, storage[end].lowerBound <= range.upperBound {
            merged = min(merged.lowerBound, storage[end].lowerBound)..<max(merged.upperBound, storage[end].upperBound)
            covered += storage[end].count
            end += 1
        }
        storage.replaceSubrange(start..<end, with: CollectionOfOne(merged))
        count += merged.count - covered
        return merged.count - covered
    }

    /// Removes the indices of `range`.
    ///
    /// - Returns: How many of them were in the set.
    @discardableResult
    package mutating func subtract(_ range: Range<Int>) -> Int {
        guard !range.isEmpty else { return 0 }
        let start = firstRun(endingAfter: range.lowerBound)
        var (end, removed) = (start, 0)
        var pieces: [Range<Int>] = []
        while end < storage.count, storage[end].lowerBound < range.upperBound {
            let run = storage[end]
            removed += run.clamped(to: range).count
            if run.lowerBound < range.lowerBound { pieces.append(run.lowerBound..<range.lowerBound) }
            if run.upperBound > range.upperBound { pieces.append(range.upperBound..<run.upperBound) }
            end += 1
        }
        replace(start..<end, with: pieces)
        count -= removed
        return removed
    }

    /// Removes the runs before a position. Shifts the others only if they are fewer.
    private mutating func removeFirst(until position: Int) {
        head = position
        guard head * 2 > storage.count else { return }
        storage.removeFirst(head)
        head = 0
    }

    /// Replaces runs, in place if their number stays the same, as it does when settling in order.
    private mutating func replace(_ positions: Range<Int>, with pieces: [Range<Int>]) {
        if pieces.isEmpty, positions.lowerBound == head {
            removeFirst(until: positions.upperBound)
        } else if positions.count == 1, pieces.count == 1 {
            storage[positions.lowerBound] = pieces[0]
        } else {
            storage.replaceSubrange(positions, with: pieces)
        }
    }

    /// Returns the position of the first run whose upper bound is greater than `index`.
    private func firstRun(endingAfter index: Int) -> Int {
        var (low, high) = (head, storage.count)
        while low < high {
            let middle = low + (high - low) / 2
            if storage[middle].upperBound > index { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension IndexRuns {
    /// Returns whether both sets have the same indices.
    package static func == (one: Self, other: Self) -> Bool { one.storage[one.head...] == other.storage[other.head...] }

    /// Feeds the runs to a hasher.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(storage[head...])
    }
}
