package import APNSModel
import Document
package import PushModel

/// A token that authenticates the sender: a JSON Web Token signed with ES256 (RFC 7519, RFC 7518 §3.4; Apple,
/// "Establishing a token-based connection to APNs").
///
/// Its bearer can send as the team for an hour, so it is never printed.
package struct ProviderToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// How long after `issuedAt` gateways accept a token, and how far `issuedAt` may be ahead of their clock, in
    /// seconds.
    package static let lifetime: Int64 = 3600

    /// The key and team that signed it.
    package let identity: ProviderIdentity
    /// When it was signed, in seconds since 1970-01-01T00:00:00Z.
    package let issuedAt: Int64
    /// The token: header, claims and signature in base64url, separated by full stops. A secret.
    package let text: String

    /// Creates a token from its parts.
    ///
    /// - Parameters:
    ///   - identity: The key and team that signed it.
    ///   - issuedAt: The signed time, in seconds since 1970.
    ///   - signature: The signature of `signingInput(identity:issuedAt:)`, R and S of 32 bytes each.
    package init(identity: ProviderIdentity, issuedAt: Int64, signature: [UInt8]) {
        var text = Self.signingInput(identity: identity, issuedAt: issuedAt)
        text.append(UInt8(ascii: "."))
        Base64.url.append(signature, to: &text)
        self.init(identity: identity, issuedAt: issuedAt, text: String(decoding: text, as: UTF8.self))
    }

    init(identity: ProviderIdentity, issuedAt: Int64, text: String) {
        self.identity = identity
        self.issuedAt = issuedAt
        self.text = text
    }

    /// The value of the header `authorization`. A secret.
    package var authorization: String { "bearer " + text }

    /// Identity and signing time; no part of the token.
    package var description: String {
        "provider token of \(identity), signed \(WallTime(epochSeconds: issuedAt).rfc3339)"
    }

    /// Hides the token from `dump`.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// The bytes to sign: header and claims, with the time as a number, and only the fields that Apple requires.
    package static func signingInput(identity: ProviderIdentity, issuedAt: Int64) -> [UInt8] {
        var input: [UInt8] = []
        // Letters and digits need no escapes.
        Base64.url.append("{\"alg\":\"ES256\",\"kid\":\"\(identity.keyID)\"}".utf8, to: &input)
        input.append(UInt8(ascii: "."))
        Base64.url.append("{\"iss\":\"\(identity.teamID)\",\"iat\":\(issuedAt)}".utf8, to: &input)
        return input
    }

    /// Checks the token's time as a gateway with a correct clock does.
    ///
    /// - Returns: `nil` if the time is valid, else the reason to refuse it.
    package func fault(at now: WallTime) -> Reason? {
        // A received time may be any number.
        let (age, isAbsurd) = now.epochSeconds.subtractingReportingOverflow(issuedAt)
        return isAbsurd || age > Self.lifetime || age < -Self.lifetime ? .expiredProviderToken : nil
    }
}
