import COpenSSL

/// The two encodings of an ECDSA signature over P-256: DER in OpenSSL, and R followed by S in JOSE.
enum ECDSASignature {
    /// The length of R and of S, in bytes.
    private static let numberByteCount: Int32 = 32

    /// Returns R and S, 32 bytes each.
    static func raw(fromDER der: [UInt8]) throws(TLSError) -> [UInt8] {
        LibraryErrors.clear()
        let signature = unsafe der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &start, buffer.count)
        }
        guard let signature = unsafe signature else { throw LibraryErrors.drain().asFailure() }
        defer { unsafe ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: ES256Signer.signatureByteCount)
        let isWritten = unsafe raw.withUnsafeMutableBufferPointer { space in
            guard let start = space.baseAddress else { return false }
            let r = unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, numberByteCount)
            let s = unsafe BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + Int(numberByteCount), numberByteCount)
            return r == numberByteCount && s == numberByteCount
        }
        guard isWritten else { throw LibraryErrors.drain().asFailure() }
        return raw
    }

    /// Returns the DER form of R and S, 32 bytes each; `nil` when out of memory.
    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        let signature = unsafe ECDSA_SIG_new()
        defer { unsafe ECDSA_SIG_free(signature) }
        let (r, s) = unsafe raw.withUnsafeBufferPointer { buffer in
            let second = unsafe buffer.baseAddress.map { unsafe $0 + Int(numberByteCount) }
            return unsafe (
                BN_bin2bn(buffer.baseAddress, numberByteCount, nil), BN_bin2bn(second, numberByteCount, nil)
            )
        }
        // On success the signature owns the numbers.
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            return nil
        }
        var der: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_ECDSA_SIG(signature, &der)
        guard count > 0, let bytes = unsafe der else { return nil }
        defer { unsafe CRYPTO_free(bytes, nil, 0) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}
