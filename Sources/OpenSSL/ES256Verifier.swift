import COpenSSL

/// Tells signatures of one key from others (ES256).
///
/// Sendable: nothing is written after `init`, and OpenSSL only reads the key when it verifies.
@safe package final class ES256Verifier: @unchecked Sendable {
    private let key: KeyHandle

    /// Reads a public key.
    ///
    /// - Parameter publicKey: PEM text or DER of a public key of P-256 (SubjectPublicKeyInfo).
    /// - Throws: `TLSError` of category `credentials` when it is anything else: tell the user.
    package init(publicKey: [UInt8]) throws(TLSError) {
        key = try TokenKeyFile.publicKey(in: publicKey)
    }

    /// Tells whether a signature was made over a message with the key's private half.
    ///
    /// - Parameters:
    ///   - signature: R and S of 32 bytes each, or DER; any bytes may be asked about.
    ///   - message: What was signed.
    /// - Returns: `false` for whatever is no signature, too.
    package func accepts(_ signature: [UInt8], of message: Span<UInt8>) -> Bool {
        let isRaw = signature.count == ES256Signer.signatureByteCount
        guard !signature.isEmpty, let der = isRaw ? ECDSASignature.der(fromRaw: signature) : signature else {
            return false
        }
        // What is refused leaves entries in the thread's queue of errors, which nobody will ask for.
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
            // Without memory nothing is proven.
            return false
        }
    }
}
