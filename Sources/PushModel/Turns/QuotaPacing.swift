/// Slows an app down whose gateway says that its quota is used up.
///
/// First all of the app waits. Then it goes on at half the pace that it had, or from nothing if that is faster, and grows to its
/// rate within a minute; after that there is no limit. A refusal in that minute begins again, from the pace of then. Google asks
/// senders to ramp up from nothing to the most in at least a minute
/// (<https://firebase.google.com/docs/cloud-messaging/scale-fcm>).
package struct QuotaPacing: Sendable {
    /// For how long the pace grows, in seconds.
    private static let ramp = 60.0
    /// The rate to grow to if the app has none: Google's quota for a project, in notifications a second.
    private static let quota = 10_000.0
    /// For how long notifications are counted to know the pace.
    private static let period = Duration.seconds(5)

    private struct Hold {
        /// When the app may go on.
        var end: Moment
        /// The pace before, in notifications a second.
        let pace: Double
        /// The rate to grow to, which is at least the pace.
        let rate: Double
        /// How many were written since the end.
        var spent = 0

        /// When growing from nothing has caught up with growing from half the pace to all of it, in seconds after the end.
        private var crossing: Double { ramp * pace / (2 * rate - pace) }

        /// The pace so many seconds after the end, in notifications a second.
        func limit(after passed: Double) -> Double {
            max(pace * (0.5 + 0.5 * passed / ramp), rate * passed / ramp)
        }

        /// How many may be written in so many seconds after the end: the integral of the limit.
        func sum(after passed: Double) -> Double {
            let early = min(passed, crossing)
            return pace * early * (0.5 + 0.25 * early / ramp) + rate * (passed * passed - early * early) / (2 * ramp)
        }

        /// How many seconds after the end so many may be written: the inverse of the sum.
        func passed(before count: Double) -> Double {
            let left = count - sum(after: crossing)
            return left <= 0
                ? ramp * ((1 + 4 * count / (pace * ramp)).squareRoot() - 1)
                : (crossing * crossing + 2 * ramp * left / rate).squareRoot()
        }
    }

    /// The notifications of the present period, and of the one before if that was not long ago.
    private var counts: (now: Int, before: Int) = (0, 0)
    private var starts: (now: Moment, before: Moment) = (.zero, .zero)
    private var hold: Hold?

    /// Creates a pacing without a limit.
    package init() {}

    /// Notes that the quota is used up.
    ///
    /// - Parameters:
    ///   - length: How long the app waits.
    ///   - rate: The rate to grow to, if the app has one.
    ///   - now: The current time.
    /// - Returns: Whether that is news: the app did not wait before.
    package mutating func refused(for length: Duration, rate: Rate?, at now: Moment) -> Bool {
        // Without anything written since, it is the answer to a request from before.
        if let end = hold?.end, now < end || hold?.spent == 0 {
            hold?.end = max(end, now + length)
            return false
        }
        let pace = max(1, min(pace(at: now), limit(at: now) ?? .infinity))
        hold = Hold(end: now + length, pace: pace, rate: max(pace, rate?.perSecond ?? Self.quota))
        return true
    }

    /// Forgets the hold.
    package mutating func end() { hold = nil }

    /// How many notifications may be written now.
    package func available(at now: Moment) -> Int {
        guard let hold else { return .max }
        guard now >= hold.end else { return 0 }
        let passed = Self.seconds(now - hold.end)
        guard passed < Self.ramp else { return .max }
        return max(0, Int(hold.sum(after: passed)) - hold.spent)
    }

    /// Notes that notifications were written.
    package mutating func record(_ count: Int, at now: Moment) {
        let elapsed = now - starts.now
        if elapsed >= Self.period {
            let isLately = elapsed < Self.period + Self.period
            (counts, starts) = ((0, isLately ? counts.now : 0), (now, isLately ? starts.now : now))
        }
        counts.now += count
        guard let hold, now >= hold.end else { return }
        if Self.seconds(now - hold.end) < Self.ramp { self.hold?.spent += count } else { self.hold = nil }
    }

    /// When the next notification may be written, if none may now.
    package func next(at now: Moment) -> Moment {
        guard let hold, now >= hold.end else { return hold?.end ?? now }
        let passed = min(Self.ramp, hold.passed(before: Double(hold.spent + 1)))
        // A little later, lest rounding leaves it one short.
        return max(now + .milliseconds(1), hold.end + .seconds(passed) + .microseconds(1))
    }

    /// The pace that is allowed now, in notifications a second; `nil` if there is no limit.
    private func limit(at now: Moment) -> Double? {
        guard let hold, now >= hold.end else { return nil }
        let passed = Self.seconds(now - hold.end)
        return passed < Self.ramp ? hold.limit(after: passed) : nil
    }

    private func pace(at now: Moment) -> Double {
        Double(counts.now + counts.before) / max(1, Self.seconds(now - starts.before))
    }

    private static func seconds(_ duration: Duration) -> Double { Double(duration.wholeNanoseconds) / 1e9 }
}
