/// Pauses that double from a first one up to a ceiling, spread by jitter so that many clients do not come back at once.
package struct BackOff: Hashable, Sendable {
    /// The pause after the first failure.
    package let first: Duration
    /// The longest pause.
    package let ceiling: Duration

    /// Creates a back-off; a negative first pause counts as none, a ceiling below the first pause as that.
    package init(first: Duration, ceiling: Duration) {
        self.first = max(.zero, first)
        self.ceiling = max(self.first, ceiling)
    }

    /// Returns the pause after the given number of failures in a row, between half of it and all of it.
    ///
    /// - Parameters:
    ///   - failures: How many there were, 1 for the first.
    ///   - random: Where the jitter comes from.
    /// - Returns: The pause.
    package func pause(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let full = longestPause(after: failures).wholeNanoseconds
        return .nanoseconds(Int64.random(in: full / 2...full, using: &random))
    }

    /// Returns the pause after the given number of failures in a row, 1 for the first, that jitter shortens by half at
    /// most.
    package func longestPause(after failures: Int) -> Duration {
        let doublings = min(max(failures, 1) - 1, 40)
        return .nanoseconds(min(ceiling.wholeNanoseconds, saturatingShift(first.wholeNanoseconds, by: doublings)))
    }

    private func saturatingShift(_ value: Int64, by doublings: Int) -> Int64 {
        value > Int64.max >> Int64(doublings) ? .max : value << Int64(doublings)
    }
}
