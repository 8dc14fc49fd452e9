/// Signs with RS256, RSASSA-PKCS1-v1_5 and SHA-256 (RFC 7518 §3.3), using the key of one of Google's service accounts.
///
/// Sendable: nothing is written after `init`, and OpenSSL only reads the key when it signs.
@safe package final class RS256Signer: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let key: KeyHandle
    /// SHA-256 of the public key (SubjectPublicKeyInfo, DER), 32 bytes. The same for all forms of a key, and not
    /// secret.
    package let fingerprint: [UInt8]

    /// Reads a private key.
    ///
    /// - Parameter pem: PEM text with an unencrypted key of 2,048 to 8,192 bits: PKCS#8 as Google issues it, or PKCS#1.
    /// - Throws: `TLSError` of category `credentials`. Report it to the user; message and hint name what to change.
    package convenience init(pem: [UInt8]) throws(TLSError) {
        try self.init(adopting: TokenKeyFile.privateKey(in: pem, for: .rs256))
    }

    /// Takes ownership of an RSA key.
    init(adopting key: consuming KeyHandle) throws(TLSError) {
        let info = try key.publicKeyInfo()
        fingerprint = Digest.sha256(info.span)
        self.key = key
    }

    /// The first bytes of the fingerprint, and no part of the private key.
    package var description: String { "RSA key \(Digest.digits(of: fingerprint, byteCount: 4))…" }

    /// Hides the key from `dump`.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns the signature of `message`, as long as the key: 256 bytes with 2,048 bits. The same each time.
    ///
    /// Takes about a millisecond.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func sign(_ message: Span<UInt8>) throws(TLSError) -> [UInt8] { try key.signature(of: message) }

    /// Returns the verifier of this signer's signatures.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func verifier() throws(TLSError) -> RS256Verifier {
        try RS256Verifier(publicKey: key.publicKeyInfo())
    }

    /// The public key as PEM text.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func publicKeyPEM() throws(TLSError) -> [UInt8] { try key.publicKeyPEM() }
}
