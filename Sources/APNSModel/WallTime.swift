/// An instant of the wall clock, UTC: what users write, what is stamped into lines and file names.
///
/// Never used for pauses or order: a wall clock jumps.
package struct WallTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
    package let nanoseconds: Int64

    /// Creates the time that many nanoseconds after 1970-01-01T00:00:00Z.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Creates the time that many seconds after 1970-01-01T00:00:00Z, cut to what can be told (1677 to 2262).
    package init(epochSeconds: Int64) {
        let (product, overflow) = epochSeconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.nanoseconds = overflow ? (epochSeconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    package var epochSeconds: Int64 {
        nanoseconds.quotientRoundedDown(1_000_000_000)
    }

    /// Returns whether the left time is the earlier one.
    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the time that long after this one, at most the last one that can be told.
    package static func + (time: WallTime, duration: Duration) -> WallTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return WallTime(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns how long after the right time the left one is, at most 292 years either way.
    package static func - (left: WallTime, right: WallTime) -> Duration {
        .nanoseconds(left.nanoseconds.subtractingToLimits(right.nanoseconds))
    }
}

extension Int64 {
    func quotientRoundedDown(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }

    /// The difference, or the number closest to it.
    func subtractingToLimits(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }
}
