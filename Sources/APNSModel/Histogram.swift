/// How often something took how long: counts by upper bounds, and the sum of all.
///
/// Adding searches among some dozen bounds and allocates nothing. What was added is never taken back.
package struct Histogram: Hashable, Sendable {
    /// The upper bounds in nanoseconds, ascending; each counts what took as long or less.
    package let bounds: [Int64]
    /// How many lie between each bound and the one before; the last ones are beyond all bounds.
    package private(set) var counts: [Int]
    /// How many were added.
    package private(set) var count = 0
    /// How long they took together, in seconds.
    package private(set) var seconds = 0.0

    /// Creates an empty one with these bounds, which must ascend.
    package init(bounds: [Duration]) {
        self.bounds = bounds.map(\.wholeNanoseconds)
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// For answers over a network: 1 ms to 30 s.
    package static let ofAnswers = Histogram(
        bounds: [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000].map(milliseconds))

    /// For what a job waits for or takes: 10 ms to a day.
    package static let ofJobs = Histogram(
        bounds: [
            10, 50, 100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000,
        ].map(milliseconds))

    /// For syncs of a file: 0.5 ms to 5 s.
    package static let ofSyncs = Histogram(
        bounds: [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000].map(milliseconds))

    private static func milliseconds(_ number: Double) -> Duration { .milliseconds(number) }

    /// Adds `count` that took so long each. What took less than no time, since a clock was set back, took none.
    package mutating func add(_ count: Int = 1, nanoseconds: Int64) {
        let length = max(0, nanoseconds)
        var bucket = 0
        while bucket < bounds.count, bounds[bucket] < length { bucket += 1 }
        counts[bucket] += count
        self.count += count
        seconds += Double(count) * Double(length) / 1e9
    }

    /// Takes over what another with the same bounds has counted, and leaves that one empty.
    package mutating func absorb(_ other: inout Histogram) {
        guard other.count > 0 else { return }
        precondition(bounds == other.bounds, "only what was counted alike can be added")
        for bucket in counts.indices {
            counts[bucket] += other.counts[bucket]
            other.counts[bucket] = 0
        }
        count += other.count
        seconds += other.seconds
        (other.count, other.seconds) = (0, 0)
    }
}
