import COpenSSL

/// A certificate and key from a `CertificateAuthority`, in every format that users have.
package struct IssuedIdentity: Sendable {
    /// The encoding of an encrypted private key.
    package enum KeyEncoding: Hashable, Sendable {
        /// `ENCRYPTED PRIVATE KEY`, AES-256.
        case pkcs8
        /// `EC PRIVATE KEY` with `Proc-Type: 4,ENCRYPTED`, AES-128, as older tools write it.
        case traditional
    }

    /// The encryption of a PKCS#12 container.
    package enum ContainerKind: Hashable, Sendable {
        /// AES-256 with PBKDF2, the default of OpenSSL 3.
        case modern
        /// 40-bit RC2 for certificates and triple DES for the key, as the Mac's keychain exports it.
        case legacy
    }

    /// The credentials for a `TLSContext`.
    package let credentials: Credentials

    /// The content of the certificate.
    package var facts: CertificateFacts { credentials.facts }

    /// The certificate alone, as PEM text.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func certificatePEM() throws(TLSError) -> [UInt8] { try pem(credentials.certificate) }

    /// The certificate alone, as DER.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func certificateDER() throws(TLSError) -> [UInt8] {
        let bio = try MemoryBIO()
        try require(unsafe i2d_X509_bio(bio.pointer, credentials.certificate.pointer))
        return bio.contents()
    }

    /// The certificates between this one and the root, as PEM text.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func chainPEM() throws(TLSError) -> [UInt8] {
        let bio = try MemoryBIO()
        for index in 0..<credentials.chain.count {
            try require(unsafe PEM_write_bio_X509(bio.pointer, credentials.chain.borrow(index)))
        }
        return bio.contents()
    }

    /// The private key as unencrypted PEM text (PKCS#8).
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func keyPEM() throws(TLSError) -> [UInt8] { try credentials.key.pkcs8PEM() }

    /// The private key as encrypted PEM text.
    ///
    /// - Parameters:
    ///   - passphrase: At most 1023 bytes; with a longer one the key cannot be read again.
    ///   - encoding: The format of the text.
    /// - Returns: One PEM block.
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func keyPEM(
        encryptedWith passphrase: Secret, as encoding: KeyEncoding = .pkcs8
    ) throws(TLSError) -> [UInt8] {
        let bio = try MemoryBIO()
        let key = unsafe credentials.key.pointer
        let count = Int32(passphrase.byteCount)
        let result = unsafe passphrase.withCString { text in
            switch encoding {
            case .pkcs8:
                unsafe PEM_write_bio_PKCS8PrivateKey(bio.pointer, key, EVP_aes_256_cbc(), text, count, nil, nil)
            case .traditional:
                unsafe text?.withMemoryRebound(to: UInt8.self, capacity: Int(count)) { bytes in
                    unsafe PEM_write_bio_PrivateKey_traditional(
                        bio.pointer, key, EVP_aes_128_cbc(), bytes, count, nil, nil)
                } ?? 0
            }
        }
        try require(result)
        return bio.contents()
    }

    /// Certificate, chain and key as a PKCS#12 container.
    ///
    /// - Parameters:
    ///   - passphrase: May be empty.
    ///   - kind: The encryption of the container.
    /// - Returns: The container's bytes.
    /// - Throws: `TLSError`; for the legacy kind, `credentials(.legacyProviderMissing)` if the legacy provider is not
    ///   installed.
    package func pkcs12(passphrase: Secret, kind: ContainerKind = .modern) throws(TLSError) -> [UInt8] {
        switch kind {
        case .modern:
            return try unsafe container(passphrase, key: NID_aes_256_cbc, certificate: NID_aes_256_cbc, in: nil)
        case .legacy:
            let library = try LegacyLibrary()
            return try unsafe container(
                passphrase, key: NID_pbe_WithSHA1And3_Key_TripleDES_CBC, certificate: NID_pbe_WithSHA1And40BitRC2_CBC,
                in: library.pointer)
        }
    }

    private func container(
        _ passphrase: Secret, key: Int32, certificate: Int32, in library: OpaquePointer?
    ) throws(TLSError) -> [UInt8] {
        let bio = try MemoryBIO()
        LibraryErrors.clear()
        let made = unsafe passphrase.withCString { text in
            unsafe PKCS12_create_ex(
                text, "identity", credentials.key.pointer, credentials.certificate.pointer, credentials.chain.pointer,
                key, certificate, 2_048, 2_048, 0, library, nil)
        }
        guard let made = unsafe made else { throw LibraryErrors.drain().asFailure() }
        defer { unsafe PKCS12_free(made) }
        try require(unsafe i2d_PKCS12_bio(bio.pointer, made))
        return bio.contents()
    }

    private func require(_ result: Int32) throws(TLSError) {
        guard result == 1 else { throw LibraryErrors.drain().asFailure() }
    }
}
