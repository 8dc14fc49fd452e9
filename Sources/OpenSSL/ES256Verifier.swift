import COpenSSL

/// Verifies ES256 signatures of one key.
///
/// Sendable: nothing is written after `init`, and OpenSSL only reads the key when it verifies.
@safe package final class ES256Verifier: @unchecked Sendable {
    private let key: KeyHandle

    /// Reads a public key.
    ///
    /// - Parameter publicKey: PEM text or DER of a public key on P-256 (SubjectPublicKeyInfo).
    /// - Throws: `TLSError` of category `credentials` for anything else. Report it to the user.
    package init(publicKey: [UInt8]) throws(TLSError) {
        key = try TokenKeyFile.publicKey(in: publicKey, for: .es256)
    }

    /// Whether the key's private half signed a message.
    ///
    /// - Parameters:
    ///   - signature: R and S of 32 bytes each, or DER; any bytes are allowed.
    ///   - message: The signed message.
    /// - Returns: `false` also for bytes that are not a signature.
    package func accepts(_ signature: [UInt8], of message: Span<UInt8>) -> Bool {
        let isRaw = signature.count == ES256Signer.signatureByteCount
        guard !signature.isEmpty, let der = isRaw ? ECDSASignature.der(fromRaw: signature) : signature else {
            return false
        }
        return key.accepts(der, of: message)
    }
}
