/// An instant of the wall clock in UTC, for user input and for stamps in lines and file names.
///
/// Never used for pauses or ordering, because a wall clock jumps.
package struct WallTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
    package let nanoseconds: Int64

    /// Creates the time `nanoseconds` after 1970-01-01T00:00:00Z.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Creates the time `epochSeconds` after 1970-01-01T00:00:00Z, clamped to the representable range (1677 to 2262).
    package init(epochSeconds: Int64) {
        let (product, overflow) = epochSeconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.nanoseconds = overflow ? (epochSeconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    package var epochSeconds: Int64 {
        nanoseconds.quotientRoundedDown(1_000_000_000)
    }

    /// Whether the left time is earlier.
    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the time `duration` later, clamped to the representable range.
    package static func + (time: WallTime, duration: Duration) -> WallTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return WallTime(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the time from the right time to the left one, clamped to ±292 years.
    package static func - (left: WallTime, right: WallTime) -> Duration {
        .nanoseconds(left.nanoseconds.subtractingToLimits(right.nanoseconds))
    }
}

extension Int64 {
    /// Divides by a positive number, and rounds down, also below zero.
    package func quotientRoundedDown(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }

    /// Returns the difference, clamped to the range of `Int64`.
    func subtractingToLimits(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }
}
