package import APNSModel

/// A span of time in equal parts, as a plot shows it: at most 96, each a usual length of time, cut at whole multiples of it.
package struct TimeBuckets: Hashable, Sendable {
    /// A mark under a plot.
    package struct Tick: Hashable, Sendable {
        /// Where, from 0 to 1.
        package let fraction: Double
        /// What stands there: a time of day, or a date.
        package let label: String

        /// Creates a mark.
        package init(fraction: Double, label: String) {
            (self.fraction, self.label) = (fraction, label)
        }
    }

    /// The most parts.
    package static let limit = 96
    private static let tickLimit = 8
    /// Usual lengths, in seconds: minutes, hours, days, weeks.
    private static let widths: [Int64] = [
        60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day,
        364 * day,
    ]
    private static let day: Int64 = 86_400

    /// The first time that is in the span.
    package let since: WallTime
    /// The first time behind it.
    package let until: WallTime
    /// How many seconds a part has.
    package let widthInSeconds: Int64
    /// How many parts there are.
    package let count: Int
    /// The beginning of the first part, in seconds since 1970.
    private let origin: Int64

    /// Divides a span; one without length, or with less, has one part of a minute.
    package init(since: WallTime, until: WallTime) {
        self.since = since
        self.until = max(until, since + .seconds(1))
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

    /// Returns in which part a time is; `nil` of one in none.
    package func index(of time: WallTime) -> Int? {
        guard contains(time) else { return nil }
        return Int((time.epochSeconds - origin) / widthInSeconds)
    }

    /// Returns when a part begins; that behind the last is when the last ends.
    package func start(of index: Int) -> WallTime {
        WallTime(epochSeconds: origin + Int64(index) * widthInSeconds)
    }

    /// Calls `body` with each part that a length of time is in, and with how much of that length, together 1 at most.
    ///
    /// A length that is none is whole in the part it is in.
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

    /// A few marks at whole hours, days or weeks.
    package var ticks: [Tick] {
        let length = Int64(count) * widthInSeconds
        let step = Self.widths.first { length / $0 <= Int64(Self.tickLimit) } ?? length / Int64(Self.tickLimit)
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

/// The quotient rounded down, also of times before 1970.
private func quotient(_ value: Int64, _ divisor: Int64) -> Int64 {
    value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
}
