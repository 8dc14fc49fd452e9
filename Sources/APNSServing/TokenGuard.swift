package import APNSHTTP2
package import APNSModel
package import Document
package import PushModel

/// The provider tokens of one connection, as Apple's gateway judges them.
///
/// A token is verified once; while the client repeats it, only its age is checked.
package struct TokenGuard: Sendable {
    /// The times that a gateway allows (Apple, "Establishing a token-based connection to APNs").
    package struct Limits: Hashable, Sendable {
        /// How long a token is valid after it was signed.
        package var lifetime = Duration.seconds(60 * 60)
        /// How long a connection keeps a token before it may present another.
        package var updateInterval = Duration.seconds(20 * 60)

        /// Creates Apple's limits.
        package init() {}
    }

    private struct Current {
        let authorization: [UInt8]
        let token: ProviderToken
        let key: Int
        let firstUse: Moment
    }

    /// The times that are allowed.
    package var limits = Limits()
    private var current: Current?

    /// Creates the guard of a connection on which no token was presented.
    package init() {}

    /// The place of the key that signed the last valid token, as `key` of `fault` told it.
    package var key: Int? { current?.key }

    /// Judges a request's value of `authorization`.
    ///
    /// - Parameters:
    ///   - authorization: The value; `nil` if the request has none.
    ///   - now: The time by the boot clock and by the wall clock.
    ///   - parser: A JSON parser.
    ///   - key: Returns the place of the key with the token's names among the server's keys, if the signature was made with
    ///     it. Costs a verification; called only for another value than the last valid one.
    /// - Returns: Why the request may not be made; `nil` if it may.
    package mutating func fault(
        in authorization: ArraySlice<UInt8>?, at now: (moment: Moment, wallTime: WallTime),
        parser: inout some DocumentParser, key: (SignedProviderToken) -> Int?
    ) -> Reason? {
        guard let authorization else { return .missingProviderToken }
        if let current, authorization.isSame(as: current.authorization) {
            return timeFault(of: current.token, at: now.wallTime)
        }
        guard let text = ProviderToken.bearer(in: authorization),
            let signed = ProviderToken.parse(text, parser: &parser), let key = key(signed)
        else { return .invalidProviderToken }
        if let fault = timeFault(of: signed.token, at: now.wallTime) { return fault }
        if let current {
            let (old, new) = (current.token.identity, signed.token.identity)
            if new.teamID != old.teamID { return .invalidProviderToken }
            if new.keyID != old.keyID { return .unrelatedKeyIDInToken }
            if now.moment - current.firstUse < limits.updateInterval { return .tooManyProviderTokenUpdates }
        }
        current = Current(authorization: Array(authorization), token: signed.token, key: key, firstUse: now.moment)
        return nil
    }

    private func timeFault(of token: ProviderToken, at now: WallTime) -> Reason? {
        let age = now - WallTime(epochSeconds: token.issuedAt)
        return age > limits.lifetime || age < .zero - limits.lifetime ? .expiredProviderToken : nil
    }
}
