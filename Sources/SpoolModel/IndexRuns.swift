/// A set of notification indices, kept as runs: what is left of a job, or what was rejected of it.
///
/// Runs are sorted, never empty and never touch. Settling in file order costs O(1); a change in the middle costs
/// O(log *n*) to find and O(*n*) to shift, with *n* the number of runs, which a window bounds.
package struct IndexRuns: Hashable, Sendable {
    /// The runs in ascending order.
    package private(set) var runs: [Range<Int>] = []
    /// How many indices there are.
    package private(set) var count = 0

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

    /// Whether no index is left.
    package var isEmpty: Bool { runs.isEmpty }

    /// Returns whether the index is in the set.
    package func contains(_ index: Int) -> Bool {
        let position = firstRun(endingAfter: index)
        return position < runs.count && runs[position].lowerBound <= index
    }

    /// Returns the parts of `range` that are in the set, in ascending order.
    package func intersection(_ range: Range<Int>) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var position = firstRun(endingAfter: range.lowerBound)
        while position < runs.count, runs[position].lowerBound < range.upperBound {
            let part = runs[position].clamped(to: range)
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
        if let last = runs.last, last.upperBound < range.lowerBound {
            runs.append(range)
            count += range.count
            return range.count
        }
        // Runs that overlap or touch the range melt into one.
        let start = firstRun(endingAfter: range.lowerBound - 1)
        var (end, merged, covered) = (start, range, 0)
        while end < runs.count, runs[end].lowerBound <= range.upperBound {
            merged = min(merged.lowerBound, runs[end].lowerBound)..<max(merged.upperBound, runs[end].upperBound)
            covered += runs[end].count
            end += 1
        }
        runs.replaceSubrange(start..<end, with: CollectionOfOne(merged))
        count += merged.count - covered
        return merged.count - covered
    }

    /// Removes the indices of `range`.
    ///
    /// - Returns: How many of them were there.
    @discardableResult
    package mutating func subtract(_ range: Range<Int>) -> Int {
        guard !range.isEmpty else { return 0 }
        let start = firstRun(endingAfter: range.lowerBound)
        var (end, removed) = (start, 0)
        var pieces: [Range<Int>] = []
        while end < runs.count, runs[end].lowerBound < range.upperBound {
            let run = runs[end]
            removed += run.clamped(to: range).count
            if run.lowerBound < range.lowerBound { pieces.append(run.lowerBound..<range.lowerBound) }
            if run.upperBound > range.upperBound { pieces.append(range.upperBound..<run.upperBound) }
            end += 1
        }
        replace(start..<end, with: pieces)
        count -= removed
        return removed
    }

    /// Replaces runs in place where their number stays the same, which is what settling in order does.
    private mutating func replace(_ positions: Range<Int>, with pieces: [Range<Int>]) {
        if positions.count == 1, pieces.count == 1 {
            runs[positions.lowerBound] = pieces[0]
        } else {
            runs.replaceSubrange(positions, with: pieces)
        }
    }

    /// The position of the first run whose upper bound is beyond `index`.
    private func firstRun(endingAfter index: Int) -> Int {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = low + (high - low) / 2
            if runs[middle].upperBound > index { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
