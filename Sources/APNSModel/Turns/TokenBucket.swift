/// Keeps a rate: in any time `t` no more go than the rate's `burst` and what the rate allows in `t`.
///
/// Reads no clock. What is not used in time is kept up to the burst, which is enough for the lateness of timers; beyond that
/// it is lost, and not caught up with.
package struct TokenBucket: Sendable {
    /// The rate.
    package let rate: Rate
    /// The moment at which it would have been empty if it had filled steadily since.
    private var emptyAt: Moment

    /// Creates a full bucket.
    package init(_ rate: Rate) {
        self.rate = rate
        self.emptyAt = .zero
    }

    /// Creates a bucket that has been empty until now.
    package init(_ rate: Rate, emptyAt now: Moment) {
        self.rate = rate
        self.emptyAt = now
    }

    /// How many may go now.
    package func available(at now: Moment) -> Int {
        max(0, min(rate.burst, Int((now - emptyAt).wholeNanoseconds / rate.nanosecondsEach)))
    }

    /// Notes that so many go now. More than are available leave a debt.
    package mutating func take(_ count: Int, at now: Moment) {
        let full = Moment(nanoseconds: now.nanoseconds - Int64(rate.burst) * rate.nanosecondsEach)
        emptyAt = max(emptyAt, full) + .nanoseconds(Int64(count) * rate.nanosecondsEach)
    }

    /// When it is worth while to ask again on behalf of so many: as soon as they may go, or a fifth of a burst.
    ///
    /// Asking for each one by itself would wake somebody for every notification.
    package func next(for count: Int) -> Moment {
        let wanted = max(1, min(count, rate.burst / 5))
        return emptyAt + .nanoseconds(Int64(wanted) * rate.nanosecondsEach)
    }
}
