import COpenSSL

/// Signs with ES256, ECDSA over P-256 and SHA-256 (RFC 7518 §3.4), using a key of one of Apple's `.p8` files.
///
/// Sendable: nothing is written after `init`, and OpenSSL only reads the key when it signs.
@safe package final class ES256Signer: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    /// The length of a signature in bytes: R and S of 32 bytes each.
    package static let signatureByteCount = 64

    private let key: KeyHandle
    /// SHA-256 of the public key (SubjectPublicKeyInfo, DER), 32 bytes. The same for all forms of a key, and not
    /// secret.
    package let fingerprint: [UInt8]

    /// Reads a private key.
    ///
    /// - Parameter p8: PEM text with an unencrypted key: PKCS#8 as Apple issues it, or SEC 1.
    /// - Throws: `TLSError` of category `credentials`. Report it to the user; message and hint name what to change.
    package convenience init(p8: [UInt8]) throws(TLSError) {
        try self.init(adopting: TokenKeyFile.privateKey(in: p8, for: .es256))
    }

    /// Takes ownership of a key, which must be on P-256.
    init(adopting key: consuming KeyHandle) throws(TLSError) {
        let info = try key.publicKeyInfo()
        fingerprint = Digest.sha256(info.span)
        self.key = key
    }

    /// The first bytes of the fingerprint, and no part of the private key.
    package var description: String { "P-256 key \(Digest.digits(of: fingerprint, byteCount: 4))…" }

    /// Hides the key from `dump`.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns the signature of `message`: R, then S. It differs each time, because ECDSA is randomized.
    ///
    /// Takes some 20 to 100 microseconds.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func sign(_ message: Span<UInt8>) throws(TLSError) -> [UInt8] {
        try ECDSASignature.raw(fromDER: key.signature(of: message))
    }

    /// Returns the verifier of this signer's signatures.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func verifier() throws(TLSError) -> ES256Verifier {
        try ES256Verifier(publicKey: key.publicKeyInfo())
    }

    /// The public key as PEM text.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func publicKeyPEM() throws(TLSError) -> [UInt8] { try key.publicKeyPEM() }
}
