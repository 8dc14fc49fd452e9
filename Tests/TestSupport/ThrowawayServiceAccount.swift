package import OpenSSL

/// A service account with a key of its own, whose file looks as Google issues it.
package struct ThrowawayServiceAccount: Sendable {
    /// The key. Making one is slow, and tests do not change it, so all have the same.
    private static let key = Result<ThrowawayRSAKey, any Error> { try ThrowawayRSAKey() }

    /// The account's key.
    package let key: ThrowawayRSAKey
    /// The value of `token_uri`.
    package var tokenURI = "https://oauth2.googleapis.com/token"

    /// Creates the account `sender` of the project `weather-4711`.
    ///
    /// - Throws: `TLSError` when out of memory.
    package init() throws { key = try Self.key.get() }

    /// The content of its file.
    package var file: [UInt8] {
        let pem = String(decoding: key.privateKeyPEM, as: UTF8.self).replacing("\n", with: "\\n")
        return Array(
            """
            {
              "type": "service_account",
              "project_id": "weather-4711",
              "private_key_id": "0123456789abcdef0123456789abcdef01234567",
              "private_key": "\(pem)",
              "client_email": "sender@weather-4711.iam.gserviceaccount.com",
              "client_id": "100000000000000000000",
              "auth_uri": "https://accounts.google.com/o/oauth2/auth",
              "token_uri": "\(tokenURI)",
              "universe_domain": "googleapis.com"
            }

            """.utf8)
    }
}
