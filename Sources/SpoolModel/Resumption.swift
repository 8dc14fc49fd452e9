package import JournalModel

/// An earlier daemon's records of a job that is read again: where to resume, and which lines may be unpublished.
package struct Resumption {
    /// Notifications that were sent, have no outcome and must not be resent.
    package let doubtful: IndexRuns
    /// Outcomes whose lines are published again.
    package let untold: [JournalResult]
    /// How the job ended; `nil` if it had not.
    package let final: JournalFinal?
    /// Whether the rejected and expired notifications were too scattered to list.
    package var isAbridged = false

    /// A range of a result, with the position of the result in `untold`.
    private struct Part {
        let range: Range<Int>
        let place: Int
        /// The highest upper bound of this range and those before it. Ranges may overlap, because a correction repeats indices.
        var reach: Int
    }

    /// All ranges of `untold`, sorted by their lower bounds.
    private let parts: [Part]

    /// Creates a resumption. Costs O(*n* log *n*) in the number *n* of ranges of all results.
    package init(doubtful: IndexRuns, untold: [JournalResult], final: JournalFinal?, isAbridged: Bool = false) {
        (self.doubtful, self.untold, self.final, self.isAbridged) = (doubtful, untold, final, isAbridged)
        var parts: [Part] = []
        for (place, result) in untold.enumerated() {
            for range in result.ranges where !range.isEmpty {
                parts.append(Part(range: range, place: place, reach: range.upperBound))
            }
        }
        parts.sort { ($0.range.lowerBound, $0.place) < ($1.range.lowerBound, $1.place) }
        for index in parts.indices.dropFirst() { parts[index].reach = max(parts[index].reach, parts[index - 1].reach) }
        self.parts = parts
    }

    /// Returns the results with unpublished lines in `indices`, each with its part of `indices`, in the order of `untold`.
    ///
    /// Costs O(log *n*), plus a check of each range from the first whose `reach` exceeds the start of `indices` to the last
    /// that begins before their end.
    package func untold(in indices: Range<Int>) -> [(result: JournalResult, range: Range<Int>)] {
        let start = firstPart { $0.reach > indices.lowerBound }
        let end = firstPart { $0.range.lowerBound >= indices.upperBound }
        guard start < end else { return [] }
        let found = parts[start..<end].filter { $0.range.overlaps(indices) }
        return found.sorted { ($0.place, $0.range.lowerBound) < ($1.place, $1.range.lowerBound) }
            .map { (untold[$0.place], $0.range.clamped(to: indices)) }
    }

    /// Returns the index of the first part that meets the condition; all later parts must meet it too.
    private func firstPart(where holds: (Part) -> Bool) -> Int {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(parts[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
