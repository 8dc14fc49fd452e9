/// An instant of the boot clock (CLOCK_BOOTTIME), for pauses, deadlines and quiet times.
///
/// Core logic takes moments as arguments and never reads a clock, so that a test can choose any moment.
package struct Moment: Comparable, Hashable, Sendable {
    /// Nanoseconds since the machine booted, including time asleep.
    package let nanoseconds: Int64

    /// Creates the moment `nanoseconds` after boot.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The moment of boot.
    package static let zero = Moment(nanoseconds: 0)

    /// Whether the left moment is earlier.
    package static func < (left: Moment, right: Moment) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the moment `duration` later, clamped to the representable range.
    package static func + (moment: Moment, duration: Duration) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return Moment(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the latest moment, up to this one, that is a multiple of `step` after boot. Timers rounded this way wake
    /// together.
    package func roundedDown(toMultipleOf step: Duration) -> Moment {
        let step = max(1, step.wholeNanoseconds)
        return Moment(nanoseconds: nanoseconds - nanoseconds % step)
    }

    /// Returns the time from the right moment to the left one, clamped to ±292 years.
    package static func - (left: Moment, right: Moment) -> Duration {
        .nanoseconds(left.nanoseconds.subtractingToLimits(right.nanoseconds))
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to 64 bits (292 years).
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowed ? (seconds < 0 ? .min : .max) : sum
    }
}
