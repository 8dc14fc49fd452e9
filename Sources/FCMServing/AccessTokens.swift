package import PushModel

/// The access tokens that a token endpoint has issued. Several of an account are valid at once.
package struct AccessTokens: Sendable {
    /// What an access token allows.
    package struct Grant: Hashable, Sendable {
        /// The e-mail address of the service account.
        package let account: String
        /// Whether it allows sending.
        package let coversSending: Bool
        /// When it expires.
        package let expiration: WallTime

        /// Creates a grant.
        package init(account: String, coversSending: Bool, expiration: WallTime) {
            (self.account, self.coversSending, self.expiration) = (account, coversSending, expiration)
        }
    }

    private var grants: [ArraySlice<UInt8>: Grant] = [:]

    /// The number of tokens beyond which those that expired long ago are forgotten.
    private static let limit = 10_000

    /// Creates an empty store.
    package init() {}

    /// Stores a token.
    package mutating func insert(_ token: [UInt8], _ grant: Grant, at now: WallTime) {
        if grants.count >= Self.limit { grants = grants.filter { $0.value.expiration + .seconds(3600) > now } }
        grants[token[...]] = grant
    }

    /// Ends all tokens at once, as if each had expired.
    package mutating func expireAll(at now: WallTime) {
        grants = grants.mapValues {
            Grant(account: $0.account, coversSending: $0.coversSending, expiration: min(now, $0.expiration))
        }
    }

    /// Returns what a request's token allows.
    ///
    /// - Throws: The error that refuses a request without a token, with an unknown one, or with an expired one.
    package func grant(of token: ArraySlice<UInt8>?, at now: WallTime) throws(GoogleError) -> Grant {
        guard let token else { throw .credentialsMissing }
        guard let grant = grants[token] else { throw .credentialsInvalid }
        guard now < grant.expiration else { throw .accessTokenExpired }
        return grant
    }
}
