package import PushModel

/// The times at which a provider token must be replaced, counted from its signing, not from its first use.
///
/// Apple requires a new token no sooner than 20 and no later than 60 minutes after the last, and checks the former for
/// each connection separately. Ours are replaced after 40 to 50 minutes, at random, so that clocks may differ a little.
package struct TokenSchedule: Hashable, Sendable {
    /// The state of a token at a given time.
    package enum State: Hashable, Sendable {
        /// Use it.
        case current
        /// Use it, and sign a new one.
        case due
        /// Gateways refuse it.
        case expired
        /// It was signed in the future, because the clock was set back since. Gateways may refuse it.
        case fromFuture
    }

    /// The ages at which a token is renewed, in seconds.
    package static let renewalAges: ClosedRange<Int64> = 40 * 60...50 * 60
    /// The minimum time between two tokens on a connection, in seconds.
    package static let leastPause: Int64 = 20 * 60
    /// How far a clock may be set back before tokens count as signed in the future, in seconds.
    package static let tolerance: Int64 = 60

    /// When the token was signed, in seconds since 1970.
    package let issuedAt: Int64
    /// When the next one is due, in seconds since 1970.
    package let renewsAt: Int64
    /// Whether it was signed because a gateway called the previous token expired.
    package let isReplacement: Bool

    /// Schedules the replacement of a token.
    ///
    /// - Parameters:
    ///   - issuedAt: When it was signed, in seconds since 1970.
    ///   - isReplacement: Whether a gateway called the previous token expired.
    ///   - random: The source of the spread.
    package init(issuedAt: Int64, isReplacement: Bool = false, using random: inout some RandomNumberGenerator) {
        self.issuedAt = issuedAt
        self.renewsAt =
            issuedAt.addingReportingOverflow(Int64.random(in: Self.renewalAges, using: &random)).partialValue
        self.isReplacement = isReplacement
    }

    /// The state of the token now.
    package func state(at now: WallTime) -> State {
        guard let age = age(at: now), age >= -Self.tolerance else { return .fromFuture }
        if age >= ProviderToken.lifetime { return .expired }
        return now.epochSeconds >= renewsAt ? .due : .current
    }

    /// Whether a gateway's claim that the token has expired justifies signing another one.
    ///
    /// The first time it always does. If the replacement is called expired too, within 20 minutes, this machine's clock
    /// is wrong or a notification is at fault, and more tokens would only be refused as too many.
    package func allowsReplacement(at now: WallTime) -> Bool {
        guard isReplacement, let age = age(at: now) else { return true }
        return age >= Self.leastPause || age < -Self.tolerance
    }

    /// The token's age in seconds; `nil` if it overflows.
    private func age(at now: WallTime) -> Int64? {
        let (age, isAbsurd) = now.epochSeconds.subtractingReportingOverflow(issuedAt)
        return isAbsurd ? nil : age
    }
}
