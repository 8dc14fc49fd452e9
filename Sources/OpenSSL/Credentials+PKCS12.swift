import COpenSSL

extension Credentials {
    /// Loads credentials from a PKCS#12 container (`.p12`), modern or as exported by the Mac's keychain.
    ///
    /// - Parameters:
    ///   - container: The file's bytes.
    ///   - passphrase: The passphrase of the export; both `nil` and empty open a container exported without one.
    /// - Returns: The first key in it, its certificate, and the chain to its authority.
    /// - Throws: `TLSError` of category `credentials`. Report it to the user; message and hint name what to change.
    package static func pkcs12(_ container: [UInt8], passphrase: Secret? = nil) throws(TLSError) -> Credentials {
        let (content, errors) = try unsafe read(container, passphrase, in: nil)
        if let content { return try content.credentials() }
        guard errors.lacksAlgorithm else { throw containerFault(errors, passphrase) }
        let library = try LegacyLibrary()
        let (old, failure) = try unsafe read(container, passphrase, in: library.pointer)
        // OpenSSL 3.0 takes the algorithms of the container from the library, but not those of a key in it.
        guard let old else {
            throw failure.lacksAlgorithm ? .oldKeyEncryption(failure) : containerFault(failure, passphrase)
        }
        return try old.moved(by: library).credentials()
    }

    private static func containerFault(_ errors: LibraryErrors, _ passphrase: Secret?) -> TLSError {
        guard !errors.has(ERR_LIB_PKCS12, PKCS12_R_MAC_ABSENT) else { return .noMAC }
        // Without a MAC only the decryption tells whether the passphrase is right.
        guard
            errors.has(ERR_LIB_PKCS12, PKCS12_R_MAC_VERIFY_FAILURE)
                || errors.has(ERR_LIB_PKCS12, PKCS12_R_PKCS12_CIPHERFINAL_ERROR)
        else {
            return .unreadable("the PKCS#12 file", errors)
        }
        return passphrase == nil ? .passphraseNeeded : .wrongPassphrase
    }

    /// Opens `bytes` with the algorithms of `library`, and returns the content or the errors.
    private static func read(
        _ bytes: [UInt8], _ passphrase: Secret?, in library: OpaquePointer?
    ) throws(TLSError) -> (PKCS12Content?, LibraryErrors) {
        LibraryErrors.clear()
        var container = unsafe PKCS12_init_ex(NID_pkcs7_data, library, nil)
        defer { unsafe PKCS12_free(container) }
        let isRead = unsafe bytes.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return unsafe d2i_PKCS12(&container, &start, buffer.count) != nil
        }
        guard isRead else { throw MistakenFile.insteadOfContainer(bytes, LibraryErrors.drain()) }
        var (key, certificate, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
        let parse = { (text: UnsafePointer<CChar>?) in
            unsafe PKCS12_parse(container, text, &key, &certificate, &others)
        }
        let result = unsafe passphrase?.withCString(parse) ?? parse(nil)
        let errors = LibraryErrors.drain()
        guard result == 1 else { return (nil, errors) }
        return try unsafe (PKCS12Content(key: key, certificate: certificate, others: others), errors)
    }
}

/// The content of a container.
private final class PKCS12Content {
    var key: KeyHandle?
    /// The certificate of the key.
    var certificate: CertificateHandle?
    var others: CertificateList

    init(key: OpaquePointer?, certificate: OpaquePointer?, others: OpaquePointer?) throws(TLSError) {
        if let key = unsafe key { unsafe self.key = KeyHandle(adopting: key) } else { self.key = nil }
        if let certificate = unsafe certificate {
            unsafe self.certificate = CertificateHandle(adopting: certificate)
        } else {
            self.certificate = nil
        }
        if let others = unsafe others {
            unsafe self.others = CertificateList(adopting: others)
        } else {
            self.others = try CertificateList()
        }
    }

    private init(
        key: consuming KeyHandle?, certificate: consuming CertificateHandle?, others: consuming CertificateList
    ) {
        self.key = key
        self.certificate = certificate
        self.others = others
    }

    /// Moves everything out of a private library context.
    func moved(by library: borrowing LegacyLibrary) throws(TLSError) -> PKCS12Content {
        let list = try CertificateList()
        for index in 0..<others.count {
            guard let other = unsafe others.borrow(index) else { continue }
            let copy = try unsafe library.moved(other)
            try unsafe list.append(copy.pointer)
        }
        var movedKey: KeyHandle?
        var movedCertificate: CertificateHandle?
        if let key = key.take() { movedKey = try library.moved(key) }
        if let certificate = certificate.take() {
            movedCertificate = try unsafe library.moved(certificate.pointer)
        }
        return PKCS12Content(key: movedKey, certificate: movedCertificate, others: list)
    }

    /// Transfers ownership of the key and the certificate.
    func credentials() throws(TLSError) -> Credentials {
        let first = unsafe certificate?.pointer ?? others.borrow(0)
        guard let first = unsafe first else {
            throw TLSError(
                .credentials(.noCertificate), "the PKCS#12 file holds no certificate",
                hint: "export the certificate and its key together")
        }
        let name = unsafe CertificateFacts(reading: first).displayName
        guard let key = key.take() else { throw .noPrivateKey(for: name) }
        guard let certificate = certificate.take() else { throw .keyMismatch(certificate: name) }
        return try Credentials(certificate: certificate, key: key, pool: others)
    }
}
