import APNSModel
import SpoolModel

/// What an earlier daemon recorded of a job that is read once more: where to go on, and which lines may not be out.
struct Resumption {
    /// What was sent and has no outcome, and must not be sent again.
    let doubtful: IndexRuns
    /// Outcomes whose lines are told again.
    let untold: [JournalResult]
    /// How it ended, if it had.
    let final: JournalFinal?
    /// Whether those that were rejected or expired were too scattered to be kept.
    var isAbridged = false

    /// A range of a result, by the place of that.
    private struct Part {
        let range: Range<Int>
        let place: Int
        /// How far this one and those before it reach: a correction names indices that an earlier result names, too.
        var reach: Int
    }

    /// All ranges of `untold`, by where they begin.
    private let parts: [Part]

    /// Creates what is known of a job. Costs O(*n* log *n*), with *n* the ranges of all results.
    init(doubtful: IndexRuns, untold: [JournalResult], final: JournalFinal?, isAbridged: Bool = false) {
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

    /// The results whose lines are to be told of `indices`, each with its part of them, in the order of the results.
    ///
    /// Costs O(log *n*), and a look at each range that begins in front of the end of `indices` and behind the last that no range
    /// before reaches.
    func untold(in indices: Range<Int>) -> [(result: JournalResult, range: Range<Int>)] {
        let start = firstPart { $0.reach > indices.lowerBound }
        let end = firstPart { $0.range.lowerBound >= indices.upperBound }
        guard start < end else { return [] }
        let found = parts[start..<end].filter { $0.range.overlaps(indices) }
        return found.sorted { ($0.place, $0.range.lowerBound) < ($1.place, $1.range.lowerBound) }
            .map { (untold[$0.place], $0.range.clamped(to: indices)) }
    }

    /// The place of the first part of which this holds, as it does of all behind it.
    private func firstPart(where holds: (Part) -> Bool) -> Int {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(parts[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
