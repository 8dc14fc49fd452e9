import Document
package import HTTP2
package import PushModel

/// The request for an access token: an assertion that the account's key signs (RFC 7523 §2.1; Google, "Using OAuth 2.0 for
/// Server to Server Applications").
package struct AccessTokenRequest: Sendable {
    /// What the access token is for.
    package static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// How long an assertion is valid, in seconds: the most that Google allows.
    package static let assertionLifetime: Int64 = 3600
    /// How far assertions are dated back, in seconds, so that a clock that is a little fast does no harm.
    package static let backdating: Int64 = 10

    private static let grantType = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"

    /// The account that asks.
    package let account: ServiceAccount
    /// The bytes to sign with RS256: header and claims of the assertion in base64url, separated by a full stop.
    ///
    /// There is no `sub`: with it, Google would look for a delegation of the whole domain.
    package let signingInput: [UInt8]

    /// Creates the request for a token at a given time.
    package init(for account: ServiceAccount, at now: WallTime) {
        self.account = account
        let issuedAt = now.epochSeconds - Self.backdating
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", "RS256")
        header.member("typ", "JWT")
        header.member("kid", account.privateKeyID)
        header.endObject()
        var claims = JSONWriter()
        claims.beginObject()
        claims.member("iss", account.clientEmail)
        claims.member("scope", Self.scope)
        claims.member("aud", account.tokenURI.text)
        claims.member("iat", Int(issuedAt))
        claims.member("exp", Int(issuedAt + Self.assertionLifetime))
        claims.endObject()
        var input: [UInt8] = []
        Base64.url.append(header.bytes, to: &input)
        input.append(UInt8(ascii: "."))
        Base64.url.append(claims.bytes, to: &input)
        signingInput = input
    }

    /// Returns the body (`application/x-www-form-urlencoded`). A secret: for an hour it is good for access tokens.
    ///
    /// - Parameter signature: The signature of `signingInput`.
    /// - Returns: The assertion and the kind of grant.
    package func body(signature: [UInt8]) -> [UInt8] {
        var body = Array("grant_type=\(Self.grantType)&assertion=".utf8)
        body += signingInput
        body.append(UInt8(ascii: "."))
        Base64.url.append(signature, to: &body)
        return body
    }

    /// Returns the head of a request with a body of this length.
    package func head(bodyByteCount: Int) -> RequestHead {
        let uri = account.tokenURI
        return RequestHead(fields: [
            RequestHead.Field(":method", .text("POST")),
            RequestHead.Field(":scheme", .text("https")),
            RequestHead.Field(":authority", .text(uri.port == 443 ? uri.host : "\(uri.host):\(uri.port)")),
            RequestHead.Field(":path", .text(uri.path)),
            RequestHead.Field("content-type", .text("application/x-www-form-urlencoded")),
            RequestHead.Field("content-length", .text(String(bodyByteCount))),
        ])
    }
}
