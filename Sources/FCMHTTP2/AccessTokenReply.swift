package import Document

/// The answer of a token endpoint (RFC 6749 §5).
package enum AccessTokenReply: Hashable, Sendable {
    /// A token, and for how many seconds it is valid.
    case granted(String, lifetime: Int64)
    /// The account, its key or this machine's clock is at fault: asking again does not help.
    case refused(Refusal)
    /// The endpoint failed, or the answer is not an endpoint's; the text says how. Ask again.
    case failed(String)

    /// Why an account gets no token.
    package struct Refusal: Hashable, Sendable {
        /// What the endpoint said, as a fragment.
        package let message: String
        /// What to do.
        package let hint: String
    }

    /// The longest body that is read, in bytes.
    package static let bodyLimit = 16_384

    /// Parses an answer.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The complete body.
    ///   - parser: A JSON parser.
    package init(status: Int, body: ArraySlice<UInt8>, parser: inout some DocumentParser) {
        let root = parser.document(in: body, limit: Self.bodyLimit)?.root
        switch status {
        case 200:
            guard let root, let token = root["access_token"]?.string,
                let lifetime = root["expires_in"]?.scalarText.flatMap({ Int64($0) }),
                root["token_type"]?.string?.lowercased() == "bearer"
            else {
                self = .failed("status 200 without an access token")
                return
            }
            self = .granted(token, lifetime: lifetime)
        case 400..<500 where status != 429:
            guard let error = root?["error"]?.string else {
                self = .failed("status \(status) with a body that is not a token endpoint's")
                return
            }
            self = .refused(Refusal(error: error, description: root?["error_description"]?.string ?? ""))
        default: self = .failed("status \(status)")
        }
    }
}

extension AccessTokenReply.Refusal {
    /// Creates the refusal of an error (RFC 6749 §5.2) with Google's description.
    fileprivate init(error: String, description: String) {
        let said = description.isEmpty ? "" : ": " + Diagnostic.quoted(description)
        message = "the token endpoint answered \(Diagnostic.quoted(error))\(said)"
        hint = Self.hint(error: error, description: description.lowercased())
    }

    private static func hint(error: String, description: String) -> String {
        let newKey = "create a new key in the Firebase console, and replace the file of credentials.service_account"
        switch error {
        case "invalid_grant" where description.contains("signature"):
            return "the key was deleted, or is not the account's; \(newKey)"
        case "invalid_grant" where description.contains("reasonable timeframe") || description.contains("iat"):
            return "set this machine's clock: it must agree with Google's within minutes"
        case "invalid_grant" where description.contains("not found"):
            return "the service account was deleted or disabled; enable it in the Google Cloud console, or \(newKey)"
        case "invalid_grant": return "check this machine's clock and the service account; or \(newKey)"
        case "invalid_scope", "invalid_request", "unsupported_grant_type":
            return "the endpoint does not take pushspool's request; check proxy: and token_gateway:"
        case "unauthorized_client", "invalid_client":
            return "the service account is disabled or may not ask for tokens; check it in the Google Cloud console"
        default: return "check the service account in the Google Cloud console"
        }
    }
}
