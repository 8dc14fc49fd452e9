/// Verifies RS256 signatures of one key.
///
/// Sendable: nothing is written after `init`, and OpenSSL only reads the key when it verifies.
@safe package final class RS256Verifier: @unchecked Sendable {
    private let key: KeyHandle

    /// Reads a public key.
    ///
    /// - Parameter publicKey: PEM text or DER of a public RSA key (SubjectPublicKeyInfo).
    /// - Throws: `TLSError` of category `credentials` for anything else. Report it to the user.
    package init(publicKey: [UInt8]) throws(TLSError) {
        key = try TokenKeyFile.publicKey(in: publicKey, for: .rs256)
    }

    /// Whether the key's private half signed a message. The signature may be any bytes.
    package func accepts(_ signature: [UInt8], of message: Span<UInt8>) -> Bool {
        key.accepts(signature, of: message)
    }
}
