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
        key = try TokenKeyFile.publicKey(in: publicKey)
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
        // A failed verification leaves entries in the thread's error queue.
        defer { LibraryErrors.clear() }
        do throws(TLSError) {
            let context = try DigestContext()
            guard unsafe EVP_DigestVerifyInit(context.pointer, nil, EVP_sha256(), nil, key.pointer) == 1 else {
                return false
            }
            return unsafe message.withUnsafeBufferPointer {
                unsafe EVP_DigestVerify(context.pointer, der, der.count, $0.baseAddress, $0.count) == 1
            }
        } catch {
            // Out of memory: nothing is proven.
            return false
        }
    }
}
