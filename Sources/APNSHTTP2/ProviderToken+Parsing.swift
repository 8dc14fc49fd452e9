package import Document

/// A provider token taken apart: what it says, and what proves it.
package struct SignedProviderToken: Sendable {
    /// What it says.
    package let token: ProviderToken
    /// What the signature must have been made over.
    package let signingInput: [UInt8]
    /// The signature: R and S of 32 bytes each, or the same as DER, which gateways also take.
    package let signature: [UInt8]
}

extension ProviderToken {
    /// The longest token that is looked at, in bytes; ours have fewer than 190.
    package static let byteLimit = 4096

    /// Takes the token out of a value of the header `authorization`.
    ///
    /// - Returns: `nil` when the scheme is not `bearer`, in any case.
    package static func bearer(in value: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let scheme = Array("bearer ".utf8)
        guard value.count > scheme.count, zip(value, scheme).allSatisfy({ $0 | 0x20 == $1 }) else { return nil }
        return value.dropFirst(scheme.count)
    }

    /// Reads a token. Whether the signature is right is for the caller to verify, whether its time is for
    /// `fault(at:)`.
    ///
    /// - Parameters:
    ///   - text: The token.
    ///   - parser: A parser of JSON.
    /// - Returns: `nil` for anything but an ES256 token with `kid`, `iss` and `iat`, the last a number, which may have a
    ///   fraction (RFC 7519 §2, NumericDate), or, as some senders have it and gateways take it, the same as a string.
    package static func parse(_ text: ArraySlice<UInt8>, parser: inout some DocumentParser) -> SignedProviderToken? {
        guard text.count <= byteLimit else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decode(parts[2]), !signature.isEmpty,
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

    /// The whole seconds of a time; `nil` if it is no number, or none that a clock shows.
    private static func seconds(_ text: String) -> Int64? {
        if let whole = Int64(text) { return whole }
        guard let number = Double(text), abs(number) < 1e15 else { return nil }
        return Int64(number.rounded(.down))
    }

    private static func object(_ part: ArraySlice<UInt8>, parser: inout some DocumentParser) -> Node? {
        guard let json = Base64URL.decode(part) else { return nil }
        do throws(Diagnostic) {
            return try parser.parse(json).root
        } catch {
            // No JSON, no token; who sent it learns that from the gateway's answer.
            return nil
        }
    }
}
