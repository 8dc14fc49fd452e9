/// Enforces a rate: in any interval, it lets through at most the rate's `burst` plus the rate times the interval.
///
/// Reads no clock. Unused capacity accumulates up to the burst, which covers the lateness of timers. Capacity beyond
/// that is lost and not made up for.
package struct TokenBucket: Sendable {
    /// The rate.
    package let rate: Rate
    /// The moment at which the bucket would have been empty, had it filled steadily since.
    private var emptyAt: Moment

    /// Creates a full bucket.
    package init(_ rate: Rate) {
        self.rate = rate
        // The clock counts from the boot, which may have been lately.
        self.emptyAt = Moment(nanoseconds: -Int64(rate.burst) * rate.nanosecondsEach)
    }

    /// Creates a bucket that is empty now.
    package init(_ rate: Rate, emptyAt now: Moment) {
        self.rate = rate
        self.emptyAt = now
    }

    /// Returns how many notifications may be sent now.
    package func available(at now: Moment) -> Int {
        max(0, min(rate.burst, Int((now - emptyAt).wholeNanoseconds / rate.nanosecondsEach)))
    }

    /// Records that `count` notifications are sent now. More than are available leave a debt.
    package mutating func record(_ count: Int, at now: Moment) {
        let full = Moment(nanoseconds: now.nanoseconds - Int64(rate.burst) * rate.nanosecondsEach)
        emptyAt = max(emptyAt, full) + .nanoseconds(Int64(count) * rate.nanosecondsEach)
    }

    /// Returns when to ask again about `count` notifications: once they may be sent, or once a fifth of a burst may.
    ///
    /// Waiting for single notifications would wake the caller for each one.
    package func next(for count: Int) -> Moment {
        let wanted = max(1, min(count, rate.burst / 5))
        return emptyAt + .nanoseconds(Int64(wanted) * rate.nanosecondsEach)
    }
}
