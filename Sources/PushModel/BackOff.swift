/// Pauses that double from a first one up to a ceiling, with jitter so that many clients do not reconnect at the same time.
package struct BackOff: Hashable, Sendable {
    /// Which way chance changes a pause.
    package enum Jitter: Hashable, Sendable {
        /// It shortens the pause by half at most.
        case shortens
        /// It lengthens the pause by a fifth at most, for gateways that ask for a least pause.
        case lengthens
    }

    /// The pause after the first failure.
    package let first: Duration
    /// The longest pause.
    package let ceiling: Duration
    /// Which way chance changes a pause.
    package let jitter: Jitter

    /// Creates a back-off. A negative first pause counts as zero; the ceiling is at least the first pause.
    package init(first: Duration, ceiling: Duration, jitter: Jitter = .shortens) {
        self.jitter = jitter
        self.first = max(.zero, first)
        self.ceiling = max(self.first, ceiling)
    }

    /// The longest pause between attempts that there is, unless the configuration says otherwise.
    package static let usualCeiling = Duration.seconds(4 * 3600)

    /// The pauses between failed connects: from a second on, up to a minute and to `ceiling`.
    package static func ofConnects(ceiling: Duration = usualCeiling) -> BackOff {
        BackOff(first: .seconds(1), ceiling: min(.seconds(60), ceiling))
    }

    /// The pauses after refusals that blame the app: from two seconds on, up to `ceiling`.
    package static func ofRefusals(ceiling: Duration) -> BackOff {
        BackOff(first: min(.seconds(2), ceiling), ceiling: ceiling)
    }

    /// Returns the pause after a number of consecutive failures: the full pause, shortened or lengthened by chance.
    ///
    /// - Parameters:
    ///   - failures: The number of consecutive failures, 1 for the first.
    ///   - random: The source of the jitter.
    /// - Returns: The pause.
    package func pause(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let full = longestPause(after: failures).wholeNanoseconds
        return switch jitter {
        case .shortens: .nanoseconds(Int64.random(in: full / 2...full, using: &random))
        case .lengthens: .nanoseconds(Int64.random(in: full...full + full / 5, using: &random))
        }
    }

    /// Returns the full pause after a number of consecutive failures, 1 for the first.
    package func longestPause(after failures: Int) -> Duration {
        let doublings = min(max(failures, 1) - 1, 40)
        return .nanoseconds(min(ceiling.wholeNanoseconds, saturatingShift(first.wholeNanoseconds, by: doublings)))
    }

    private func saturatingShift(_ value: Int64, by doublings: Int) -> Int64 {
        value > Int64.max >> Int64(doublings) ? .max : value << Int64(doublings)
    }
}
