import COpenSSL

/// Owns the state of one signature or verification with SHA-256.
@safe struct DigestContext: ~Copyable {
    let pointer: OpaquePointer

    init() throws(TLSError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw LibraryErrors.drain().asFailure() }
        unsafe pointer = context
    }

    deinit { unsafe EVP_MD_CTX_free(pointer) }
}

extension KeyHandle {
    /// Returns the signature of a message's SHA-256 as OpenSSL encodes it: DER for ECDSA, and for RSA the bytes of
    /// RSASSA-PKCS1-v1_5.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    func signature(of message: Span<UInt8>) throws(TLSError) -> [UInt8] {
        let context = try DigestContext()
        LibraryErrors.clear()
        guard unsafe EVP_DigestSignInit(context.pointer, nil, EVP_sha256(), nil, pointer) == 1 else {
            throw LibraryErrors.drain().asFailure()
        }
        var signature = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(pointer)))
        var count = signature.count
        let result = unsafe message.withUnsafeBufferPointer {
            unsafe EVP_DigestSign(context.pointer, &signature, &count, $0.baseAddress, $0.count)
        }
        guard result == 1 else { throw LibraryErrors.drain().asFailure() }
        return Array(signature[..<count])
    }

    /// Whether the key's private half made this signature of a message's SHA-256, encoded as by `signature(of:)`.
    func accepts(_ signature: [UInt8], of message: Span<UInt8>) -> Bool {
        // A failed verification leaves entries in the thread's error queue.
        defer { LibraryErrors.clear() }
        do throws(TLSError) {
            let context = try DigestContext()
            guard unsafe EVP_DigestVerifyInit(context.pointer, nil, EVP_sha256(), nil, pointer) == 1 else {
                return false
            }
            return unsafe message.withUnsafeBufferPointer {
                unsafe EVP_DigestVerify(context.pointer, signature, signature.count, $0.baseAddress, $0.count) == 1
            }
        } catch {
            // Out of memory: nothing is proven.
            return false
        }
    }

    /// The public half (SubjectPublicKeyInfo, DER).
    func publicKeyInfo() throws(TLSError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard unsafe i2d_PUBKEY_bio(bio.pointer, pointer) == 1 else { throw LibraryErrors.drain().asFailure() }
        return bio.contents()
    }

    /// The public half as PEM text.
    func publicKeyPEM() throws(TLSError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard unsafe PEM_write_bio_PUBKEY(bio.pointer, pointer) == 1 else { throw LibraryErrors.drain().asFailure() }
        return bio.contents()
    }

    /// The private key as PEM text: PKCS#8, unencrypted.
    func pkcs8PEM() throws(TLSError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard unsafe PEM_write_bio_PKCS8PrivateKey(bio.pointer, pointer, nil, nil, 0, nil, nil) == 1 else {
            throw LibraryErrors.drain().asFailure()
        }
        return bio.contents()
    }
}
