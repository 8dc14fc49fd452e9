/// How long to wait after a failure: doubling from the first pause to a ceiling, with jitter.
///
/// Without jitter the attempts are, for `connect`: 1, 2, 4, 8, 16, 32, 60, 60 … s; for `serverError`: 15, 30 min,
/// 1, 2, 4, 4 … h. Jitter takes up to a quarter off, so that those who failed together do not return together.
package struct RetryPolicy: Hashable, Sendable {
    /// The pause after the first failure.
    package let first: Duration
    /// The longest pause.
    package let ceiling: Duration

    /// Creates a policy.
    package init(first: Duration, ceiling: Duration) {
        self.first = first
        self.ceiling = ceiling
    }

    /// After a connection that did not come about.
    package static let connect = RetryPolicy(first: .seconds(1), ceiling: .seconds(60))
    /// After the gateway failed (HTTP 5xx, a second doubt).
    package static let serverError = RetryPolicy(first: .seconds(900), ceiling: .seconds(14_400))
    /// After the gateway asked to come back later.
    package static let later = RetryPolicy(first: .seconds(30), ceiling: .seconds(3600))

    /// Returns the pause after a number of attempts, from 1, that failed in a row.
    ///
    /// `random` is any 64 random bits, which decide how much jitter takes off. `minimum` is what the peer asked for
    /// (`Retry-After`): kept to, but cut to the ceiling.
    package func pause(afterAttempt attempt: Int, random: UInt64, minimum: Duration = .zero) -> Duration {
        var pause = min(first, ceiling)
        var left = attempt - 1
        while left > 0, pause < ceiling, pause != .zero {
            pause = pause > ceiling / 2 ? ceiling : pause * 2
            left -= 1
        }
        let jitter = pause / 4 * (Double(random >> 11) / Double(1 << 53))
        return max(pause - jitter, min(minimum, ceiling))
    }
}
