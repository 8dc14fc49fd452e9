import Document

/// An error of the token endpoint (RFC 6749 §5.2), with Google's texts.
package struct TokenError: Error, Hashable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// The code: the member `error`.
    package let code: String
    /// The text for people: the member `error_description`.
    package let text: String

    /// Creates an error.
    package init(_ code: String, _ text: String, status: Int = 400) {
        (self.status, self.code, self.text) = (status, code, text)
    }

    /// The body of the answer.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("error", code)
        writer.member("error_description", text)
        writer.endObject()
        return writer.bytes
    }

    /// The assertion was signed with another key, or the key was deleted.
    package static let badSignature = TokenError("invalid_grant", "Invalid JWT Signature.")
    /// The service account does not exist.
    package static let unknownAccount = TokenError("invalid_grant", "Invalid grant: account not found")
    /// The assertion is too old, from the future or valid for too long.
    package static let badTimes = TokenError(
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
    )

    /// The form lacks a field.
    static func missing(_ field: String) -> TokenError {
        TokenError("invalid_request", "Required parameter is missing: \(field)")
    }
}
