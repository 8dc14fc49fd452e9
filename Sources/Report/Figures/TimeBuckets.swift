package import PushModel

/// A time span in buckets of equal width for plots: at most 96, each of a common length, aligned to whole multiples of it.
///
/// The buckets of a longer span contain those of a shorter one whole, for spans of up to 95 years.
package struct TimeBuckets: Hashable, Sendable {
    /// A tick below a plot.
    package struct Tick: Hashable, Sendable {
        /// Its position, from 0 to 1.
        package let fraction: Double
        /// Its label: a time of day, or a date.
        package let label: String

        /// Creates a tick.
        package init(fraction: Double, label: String) {
            (self.fraction, self.label) = (fraction, label)
        }
    }

    /// The most buckets.
    package static let limit = 96
    private static let tickLimit = 8
    /// The common widths, in seconds: minutes, hours, days, weeks. Each is a multiple of the one before.
    private static let widths: [Int64] = [
        60, 300, 900, 1800, 3600, 7200, 21_600, 43_200, day, 7 * day, 28 * day, 364 * day,
    ]
    /// The common distances of ticks, in seconds.
    private static let steps: [Int64] = [
        60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day,
        364 * day,
    ]
    private static let day: Int64 = 86_400

    /// The start of the span.
    package let since: WallTime
    /// The end of the span, not included.
    package let until: WallTime
    /// The width of a bucket in seconds.
    package let widthInSeconds: Int64
    /// The number of buckets.
    package let count: Int
    /// The start of the first bucket, in seconds since 1970.
    private let origin: Int64

    /// Divides a span into buckets. An empty or negative span becomes one bucket of a minute.
    package init(since: WallTime, until: WallTime) {
        self.since = since
        self.until = max(until, since + .nanoseconds(1))
        let (first, last) = (since.epochSeconds, (self.until + .nanoseconds(-1)).epochSeconds)
        let fits = { (width: Int64) in
            quotient(last, width) - quotient(first, width) < Int64(Self.limit)
        }
        let longest = Self.widths[Self.widths.count - 1]
        let width = Self.widths.first(where: fits) ?? longest * ((last - first) / longest / Int64(Self.limit - 1) + 1)
        widthInSeconds = width
        origin = quotient(first, width) * width
        count = Int(quotient(last, width) - quotient(first, width)) + 1
    }

    /// Returns whether a time is in the span.
    package func contains(_ time: WallTime) -> Bool { since <= time && time < until }

    /// Returns the bucket of a time; `nil` if the time is outside the span.
    package func index(of time: WallTime) -> Int? {
        guard contains(time) else { return nil }
        return nearestIndex(of: time)
    }

    /// Returns the bucket of a time, or the bucket closest to it if the time is outside the span.
    func nearestIndex(of time: WallTime) -> Int {
        Int(min(max(0, quotient(time.epochSeconds - origin, widthInSeconds)), Int64(count) - 1))
    }

    /// Returns the buckets of the shortest span that contains both.
    func union(_ other: TimeBuckets) -> TimeBuckets {
        TimeBuckets(since: min(since, other.since), until: max(until, other.until))
    }

    /// Returns whether both have the same buckets, although their spans may begin and end elsewhere in them.
    func divides(as other: TimeBuckets) -> Bool {
        (origin, widthInSeconds, count) == (other.origin, other.widthInSeconds, other.count)
    }

    /// Returns the start of a bucket. The index after the last bucket gives the end of the last.
    package func start(of index: Int) -> WallTime {
        WallTime(epochSeconds: origin + Int64(index) * widthInSeconds)
    }

    /// Calls `body` with each bucket that an interval overlaps and its share of the interval; the sum is at most 1.
    ///
    /// An empty interval counts in full in the bucket that contains it.
    package func share(from begin: WallTime, to end: WallTime, _ body: (Int, Double) -> Void) {
        let length = Double((end - begin).wholeNanoseconds)
        guard length > 0 else {
            if let index = index(of: end) { body(index, 1) }
            return
        }
        let first = max(0, quotient(begin.epochSeconds - origin, widthInSeconds))
        let last = min(Int64(count) - 1, quotient(end.epochSeconds - origin, widthInSeconds))
        guard first <= last else { return }
        for index in Int(first)...Int(last) {
            let part = min(end, start(of: index + 1)) - max(begin, start(of: index))
            if part > .zero { body(index, Double(part.wholeNanoseconds) / length) }
        }
    }

    /// A few ticks at whole hours, days or weeks.
    package var ticks: [Tick] {
        let length = Int64(count) * widthInSeconds
        let step = Self.steps.first { length / $0 <= Int64(Self.tickLimit) } ?? length / Int64(Self.tickLimit)
        var ticks: [Tick] = []
        var time = -quotient(-origin, step) * step
        while time <= origin + length {
            let fraction = Double(time - origin) / Double(length)
            ticks.append(Tick(fraction: fraction, label: Self.label(time, step: step)))
            time += step
        }
        return ticks
    }

    private static func label(_ seconds: Int64, step: Int64) -> String {
        let text = WallTime(epochSeconds: seconds).rfc3339
        if step >= 28 * day { return String(text.prefix(7)) }
        let isMidnight = quotient(seconds, day) * day == seconds
        return isMidnight ? String(text.dropFirst(5).prefix(5)) : String(text.dropFirst(11).prefix(5))
    }
}

/// Returns the quotient rounded down, also for times before 1970.
private func quotient(_ value: Int64, _ divisor: Int64) -> Int64 {
    value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
}
