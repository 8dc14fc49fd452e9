/// A histogram of durations: counts by upper bounds, and the sum of all durations.
///
/// Adding a duration compares it with about a dozen bounds and allocates nothing. Durations are never removed, except
/// by `absorb`.
package struct Histogram: Hashable, Sendable {
    /// The upper bounds in nanoseconds, ascending and inclusive.
    package let bounds: [Int64]
    /// The number of durations between each bound and the previous one. The last element counts those above all bounds.
    package private(set) var counts: [Int]
    /// The number of durations added.
    package private(set) var count = 0
    /// The sum of all durations, in seconds.
    package private(set) var seconds = 0.0

    /// Creates an empty histogram with these bounds, which must ascend.
    package init(bounds: [Duration]) {
        self.bounds = bounds.map(\.wholeNanoseconds)
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// For answers over a network: 1 ms to 30 s.
    package static let ofAnswers = Histogram(
        bounds: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000].map(milliseconds))

    /// For waiting and processing times of jobs: 10 ms to a day.
    package static let ofJobs = Histogram(
        bounds: [
            10, 50, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000,
        ].map(milliseconds))

    /// For file syncs: 0.5 ms to 5 s.
    package static let ofSyncs = Histogram(
        bounds: [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000].map(milliseconds))

    private static func milliseconds(_ number: Double) -> Duration { .milliseconds(number) }

    /// Adds `count` durations of the same length. Negative ones, from a clock that was set back, count as zero.
    package mutating func add(_ count: Int = 1, nanoseconds: Int64) {
        let length = max(0, nanoseconds)
        var bucket = 0
        while bucket < bounds.count, bounds[bucket] < length { bucket += 1 }
        counts[bucket] += count
        self.count += count
        seconds += Double(count) * Double(length) / 1e9
    }

    /// Adds the counts of a histogram with the same bounds, and empties that one.
    package mutating func absorb(_ other: inout Histogram) {
        guard other.count > 0 else { return }
        precondition(bounds == other.bounds, "histograms must have the same bounds")
        for bucket in counts.indices {
            counts[bucket] += other.counts[bucket]
            other.counts[bucket] = 0
        }
        count += other.count
        seconds += other.seconds
        (other.count, other.seconds) = (0, 0)
    }
}
