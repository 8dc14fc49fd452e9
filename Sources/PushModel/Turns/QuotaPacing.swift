/// Slows an app down whose gateway says that its quota is used up.
///
/// First all of the app waits. Then it goes on at half the pace that it had, and grows back to it within a minute; after
/// that there is no limit. A refusal in that minute begins again, from the pace of then. Google asks senders to ramp up
/// so (<https://firebase.google.com/docs/cloud-messaging/scale-fcm>).
package struct QuotaPacing: Sendable {
    /// For how long the pace grows, in seconds.
    private static let ramp = 60.0
    /// For how long notifications are counted to know the pace.
    private static let period = Duration.seconds(5)

    private struct Hold {
        /// When the app may go on.
        var end: Moment
        /// The pace before, in notifications a second.
        let pace: Double
        /// How many were written since the end.
        var spent = 0
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
    ///   - now: The current time.
    /// - Returns: Whether that is news: the app did not wait before.
    package mutating func refused(for length: Duration, at now: Moment) -> Bool {
        // Without anything written since, it is the answer to a request from before.
        if let end = hold?.end, now < end || hold?.spent == 0 {
            hold?.end = max(end, now + length)
            return false
        }
        hold = Hold(end: now + length, pace: max(1, limit(at: now) ?? pace(at: now)))
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
        return max(0, Int(hold.pace * passed * (0.5 + 0.25 * passed / Self.ramp)) - hold.spent)
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
        let nanoseconds = Int64(1e9 / (limit(at: now) ?? 1))
        return now + .nanoseconds(max(1_000_000, nanoseconds))
    }

    /// The pace that is allowed now, in notifications a second; `nil` if there is no limit.
    private func limit(at now: Moment) -> Double? {
        guard let hold, now >= hold.end else { return nil }
        let passed = Self.seconds(now - hold.end)
        return passed < Self.ramp ? hold.pace * (0.5 + 0.5 * passed / Self.ramp) : nil
    }

    private func pace(at now: Moment) -> Double {
        Double(counts.now + counts.before) / max(1, Self.seconds(now - starts.before))
    }

    private static func seconds(_ duration: Duration) -> Double { Double(duration.wholeNanoseconds) / 1e9 }
}
