package import Document

/// A parsed provider token: its claims and its signature.
package struct SignedProviderToken: Sendable {
    /// The token with its claims.
    package let token: ProviderToken
    /// The bytes that the signature covers.
    package let signingInput: [UInt8]
    /// The signature: R and S of 32 bytes each, or DER, which gateways also accept.
    package let signature: [UInt8]
}

extension ProviderToken {
    /// The longest token that is parsed, in bytes. Tokens made here have fewer than 190.
    package static let byteLimit = 4096

    /// Extracts the token from a value of the header `authorization`.
    ///
    /// - Returns: `nil` unless the scheme is `bearer`; case does not matter.
    package static func bearer(in value: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count, zip(value, scheme).allSatisfy({ $0 | 0x20 == $1 }) else { return nil }
        return value.dropFirst(scheme.count)
    }

    /// Parses a token. The caller must verify the signature, and check the time with `fault(at:)`.
    ///
    /// - Parameters:
    ///   - text: The token.
    ///   - parser: A JSON parser.
    /// - Returns: `nil` for anything but an ES256 token with `kid`, `iss` and `iat`. `iat` is a number, possibly with a
    ///   fraction (RFC 7519 §2, NumericDate), or the same as a string, which some senders use and gateways accept.
    package static func parse(_ text: ArraySlice<UInt8>, parser: inout some DocumentParser) -> SignedProviderToken? {
        guard text.count <= byteLimit else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64.url.decode(parts[2]), !signature.isEmpty,
            let header = object(parts[0], parser: &parser), header["alg"]?.string == "ES256",
            let keyID = header["kid"]?.string, let claims = object(parts[1], parser: &parser),
            let teamID = claims["iss"]?.string, let identity = ProviderIdentity(keyID: keyID, teamID: teamID),
            let issuedAt = claims["iat"]?.scalarText.flatMap(seconds)
        else { return nil }
        let token = ProviderToken(
            identity: identity, issuedAt: issuedAt, text: String(decoding: text, as: UTF8.self))
        let signed = text[..<parts[1].endIndex]
        return SignedProviderToken(token: token, signingInput: Array(signed), signature: signature)
    }

    /// The whole seconds of a time; `nil` if it is not a number or out of range.
    private static func seconds(_ text: String) -> Int64? {
        if let whole = Int64(text) { return whole }
        guard let number = Double(text), abs(number) < 1e15 else { return nil }
        return Int64(number.rounded(.down))
    }

    private static func object(_ part: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Node? {
        guard let json = Base64.url.decode(part) else { return nil }
        do throws(Diagnostic) {
            return try parser.parse(json).root
        } catch {
            // Not a token. Its sender learns that from the gateway's answer.
            return nil
        }
    }
}
