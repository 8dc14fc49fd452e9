package import APNSModel

/// A token that says who sends: a JSON Web Token signed with ES256 (RFC 7519, RFC 7518 §3.4; Apple, "Establishing a
/// token-based connection to APNs").
///
/// Whoever has it can send as its team for an hour, so it never prints itself.
package struct ProviderToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// How long gateways take one after `issuedAt`, and how far ahead of their clock that may be, in seconds.
    package static let lifetime: Int64 = 3600

    /// Whose token it is.
    package let identity: ProviderIdentity
    /// When it was signed, in seconds since 1970-01-01T00:00:00Z.
    package let issuedAt: Int64
    /// The token itself: header, claims and signature in base64url, with full stops between. A secret.
    package let text: String

    /// Puts a token together.
    ///
    /// - Parameters:
    ///   - identity: Whose key made the signature.
    ///   - issuedAt: The time that was signed.
    ///   - signature: The signature of `signingInput(identity:issuedAt:)`, R and S of 32 bytes each.
    package init(identity: ProviderIdentity, issuedAt: Int64, signature: [UInt8]) {
        var text = Self.signingInput(identity: identity, issuedAt: issuedAt)
        text.append(UInt8(ascii: "."))
        Base64URL.append(signature[...], to: &text)
        self.init(identity: identity, issuedAt: issuedAt, text: String(decoding: text, as: UTF8.self))
    }

    init(identity: ProviderIdentity, issuedAt: Int64, text: String) {
        self.identity = identity
        self.issuedAt = issuedAt
        self.text = text
    }

    /// The value of the header `authorization`. A secret.
    package var authorization: String { "bearer " + text }

    /// Whose it is and when it was signed; nothing of the token.
    package var description: String {
        "provider token of \(identity), signed \(WallTime(epochSeconds: issuedAt).rfc3339)"
    }

    /// Shows a dump no more than a log.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// What the signature is made over: header and claims, the time as a number, nothing that Apple does not ask for.
    package static func signingInput(identity: ProviderIdentity, issuedAt: Int64) -> [UInt8] {
        var input: [UInt8] = []
        // Letters and digits need no escapes.
        Base64URL.append(Array("{\"alg\":\"ES256\",\"kid\":\"\(identity.keyID)\"}".utf8)[...], to: &input)
        input.append(UInt8(ascii: "."))
        Base64URL.append(Array("{\"iss\":\"\(identity.teamID)\",\"iat\":\(issuedAt)}".utf8)[...], to: &input)
        return input
    }

    /// What a gateway whose clock is right says of the token's time.
    ///
    /// - Returns: `nil` when it is good; the reason to refuse it otherwise.
    package func fault(at now: WallTime) -> Reason? {
        // Times that the wire names may be any number.
        let (age, isAbsurd) = now.epochSeconds.subtractingReportingOverflow(issuedAt)
        return isAbsurd || age > Self.lifetime || age < -Self.lifetime ? .expiredProviderToken : nil
    }
}
