import COpenSSL

/// An incremental SHA-256 digest (FIPS 180-4). 32 bytes.
@safe package struct Digest: ~Copyable {
    /// The length of a digest, in bytes.
    package static let byteCount = 32

    private let context: OpaquePointer

    /// Starts an empty digest. Traps when out of memory.
    package init() {
        guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("OpenSSL has no SHA-256: \(LibraryErrors.drain().text)")
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds the next piece.
    package mutating func update(_ bytes: Span<UInt8>) {
        let result = unsafe bytes.withUnsafeBufferPointer { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        precondition(result == 1, "SHA-256 failed")
    }

    /// Finishes the digest and returns its 32 bytes.
    package consuming func finish() -> [UInt8] {
        let sum = unsafe [UInt8](unsafeUninitializedCapacity: Self.byteCount) { space, count in
            var length: UInt32 = 0
            let result = unsafe EVP_DigestFinal_ex(context, space.baseAddress, &length)
            precondition(result == 1 && length == Self.byteCount, "SHA-256 failed")
            count = Self.byteCount
        }
        return sum
    }

    /// Returns the digest of `bytes`.
    package static func sha256(_ bytes: Span<UInt8>) -> [UInt8] {
        var digest = Digest()
        digest.update(bytes)
        return digest.finish()
    }

    /// Returns the first bytes of a digest as hexadecimal digits, two for each.
    package static func digits(of digest: [UInt8], byteCount: Int) -> String {
        digest.prefix(byteCount).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
