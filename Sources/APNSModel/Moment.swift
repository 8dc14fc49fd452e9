/// An instant of the boot clock (CLOCK_BOOTTIME), for pauses, deadlines and quiet times.
///
/// Cores take moments as arguments and never read a clock, so that a test can be at any moment it likes.
package struct Moment: Comparable, Hashable, Sendable {
    /// Nanoseconds since the machine booted, time asleep included.
    package let nanoseconds: Int64

    /// Creates the moment that many nanoseconds after boot.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The moment of boot, before every other.
    package static let zero = Moment(nanoseconds: 0)

    /// Returns whether the left moment is the earlier one.
    package static func < (left: Moment, right: Moment) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the moment that long after this one, at most the last one that can be told.
    package static func + (moment: Moment, duration: Duration) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return Moment(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the last moment, up to this one, that is a whole number of steps after boot. Whoever waits for such a moment
    /// wakes together with all others that do.
    package func roundedDown(toMultipleOf step: Duration) -> Moment {
        let step = max(1, step.wholeNanoseconds)
        return Moment(nanoseconds: nanoseconds - nanoseconds % step)
    }

    /// Returns how long after the right moment the left one is, at most 292 years either way.
    package static func - (left: Moment, right: Moment) -> Duration {
        .nanoseconds(left.nanoseconds.subtractingToLimits(right.nanoseconds))
    }
}

extension Duration {
    /// The duration in nanoseconds, cut to what 64 bits hold (292 years).
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowed ? (seconds < 0 ? .min : .max) : sum
    }
}
