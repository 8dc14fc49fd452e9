package import Document
package import PushModel

/// A request for an access token with an assertion of a service account (RFC 7523 §2.1, RFC 7519), as Google's token
/// endpoint reads it.
package struct TokenRequest: Sendable {
    /// The e-mail address of the service account: `iss`.
    package let account: String
    /// The id of the account's key: `kid`; `nil` if the assertion names none.
    package let keyID: String?
    /// The bytes that the signature covers.
    package let signingInput: [UInt8]
    /// The signature.
    package let signature: [UInt8]
    private let claims: Node

    /// Reads the form in the body of a request.
    ///
    /// - Throws: The error that refuses a form without an assertion of RS256.
    package init(form body: [UInt8], parser: inout some DocumentParser) throws(TokenError) {
        let form = Form(body)
        guard let grant = form["grant_type"], !grant.isEmpty else { throw .missing("grant_type") }
        guard grant == Self.grantType else {
            throw TokenError("unsupported_grant_type", "Invalid grant_type: \(grant)")
        }
        guard let assertion = form["assertion"], !assertion.isEmpty else { throw .missing("assertion") }
        let text = Array(assertion.utf8)
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0], &parser),
            let claims = Self.object(parts[1], &parser), let signature = Base64.url.decode(parts[2])
        else { throw TokenError("invalid_grant", "Bad Request") }
        guard header["alg"]?.string == "RS256" else { throw .badSignature }
        guard let account = claims["iss"]?.string else { throw .unknownAccount }
        (self.account, self.claims, self.signature) = (account, claims, signature)
        keyID = header["kid"]?.string
        signingInput = Array(text[..<parts[1].endIndex])
    }

    /// The only `grant_type` of a service account.
    package static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// The scopes that allow sending.
    package static let sendingScopes: Set = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    /// The longest time from `iat` to `exp`, in seconds.
    package static let longestLife: Int64 = 3600
    /// How far `iat` may be ahead of the clock, in seconds. Google does not say how far; a client must not rely on it.
    package static let tolerance: Int64 = 60

    /// Whether the scopes of the request allow sending.
    package var coversSending: Bool { !Self.sendingScopes.isDisjoint(with: scopes) }

    private var scopes: [String] { (claims["scope"]?.string ?? "").split(separator: " ").map(String.init) }

    /// Checks the claims, except `iss`.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - audiences: The URLs of the endpoint.
    /// - Returns: Why the request is refused; `nil` if it is not.
    package func fault(at now: WallTime, audiences: Set<String>) -> TokenError? {
        guard claims["sub"] == nil else {
            return TokenError(
                "unauthorized_client",
                "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.",
                status: 401)
        }
        guard let audience = claims["aud"]?.string, audiences.contains(audience) else {
            return TokenError("invalid_grant", "Invalid JWT: Failed audience check.")
        }
        guard hasGoodTimes(at: now.epochSeconds) else { return .badTimes }
        guard !scopes.isEmpty else { return TokenError("invalid_scope", "Empty or missing scope not allowed.") }
        guard scopes.allSatisfy({ $0.hasPrefix("https://www.googleapis.com/auth/") }) else {
            return TokenError("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
        }
        return nil
    }

    private func hasGoodTimes(at now: Int64) -> Bool {
        guard let issued = seconds("iat"), let expires = seconds("exp") else { return false }
        return issued <= now + Self.tolerance && expires > now && expires > issued
            && expires - issued <= Self.longestLife
    }

    /// A time among the claims, which must be a number.
    private func seconds(_ claim: String) -> Int64? {
        guard let seconds = claims[claim]?.integer, abs(seconds) < 1 << 40 else { return nil }
        return Int64(seconds)
    }

    private static func object(_ part: ArraySlice<UInt8>, _ parser: inout some DocumentParser) -> Node? {
        guard let json = Base64.url.decode(part) else { return nil }
        do throws(Diagnostic) {
            let root = try parser.parse(json).root
            return root.kind == .mapping ? root : nil
        } catch {
            // Not an assertion. Its sender learns that from the answer.
            return nil
        }
    }
}

/// The fields of a form (`application/x-www-form-urlencoded`, WHATWG URL §5).
private struct Form {
    private let fields: [String: String]

    init(_ body: [UInt8]) {
        let pairs = body.split(separator: UInt8(ascii: "&")).compactMap { field -> (String, String)? in
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : [])
            else { return nil }
            return (name, value)
        }
        fields = Dictionary(pairs) { first, _ in first }
    }

    subscript(name: String) -> String? { fields[name] }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
