package import APNSModel

/// When a provider token is to be replaced. Counts from its signing, never from its first use.
///
/// Apple wants a new one no sooner than 20 and no later than 60 minutes after the one before, and checks the former
/// connection by connection. Ours comes after 40 to 50, spread by chance, so that clocks may differ a little.
package struct TokenSchedule: Hashable, Sendable {
    /// What a token is good for at some time.
    package enum State: Hashable, Sendable {
        /// Use it.
        case current
        /// Use it, but get a new one.
        case due
        /// Gateways refuse it.
        case expired
        /// It was signed when the clock was ahead of what it is now; gateways may refuse it.
        case fromFuture
    }

    /// The ages at which a token is renewed, in seconds.
    package static let renewalAges: ClosedRange<Int64> = 40 * 60...50 * 60
    /// The least time between two tokens of a connection, in seconds.
    package static let leastPause: Int64 = 20 * 60
    /// How far a clock may be set back before tokens count as signed in the future, in seconds.
    package static let tolerance: Int64 = 60

    /// When the token was signed, in seconds since 1970.
    package let issuedAt: Int64
    /// When the next one is due, in seconds since 1970.
    package let renewsAt: Int64
    /// Whether it was signed because a gateway called the one before it expired.
    package let isReplacement: Bool

    /// Plans the renewal of a token.
    ///
    /// - Parameters:
    ///   - issuedAt: When it was signed, in seconds since 1970.
    ///   - isReplacement: Whether a gateway had called the one before it expired.
    ///   - random: Where the spread comes from.
    package init(issuedAt: Int64, isReplacement: Bool = false, using random: inout some RandomNumberGenerator) {
        self.issuedAt = issuedAt
        self.renewsAt =
            issuedAt.addingReportingOverflow(Int64.random(in: Self.renewalAges, using: &random)).partialValue
        self.isReplacement = isReplacement
    }

    /// What the token is good for now.
    package func state(at now: WallTime) -> State {
        guard let age = age(at: now), age >= -Self.tolerance else { return .fromFuture }
        if age >= ProviderToken.lifetime { return .expired }
        return now.epochSeconds >= renewsAt ? .due : .current
    }

    /// Whether a gateway's word that the token has expired is a reason to sign another one.
    ///
    /// Once it always is. If the other one is called expired as well, within 20 minutes, this machine's clock is wrong:
    /// more tokens would only be refused as too many.
    package func allowsReplacement(at now: WallTime) -> Bool {
        guard isReplacement, let age = age(at: now) else { return true }
        return age >= Self.leastPause || age < -Self.tolerance
    }

    /// How old the token is in seconds; `nil` if no number tells.
    private func age(at now: WallTime) -> Int64? {
        let (age, isAbsurd) = now.epochSeconds.subtractingReportingOverflow(issuedAt)
        return isAbsurd ? nil : age
    }
}
