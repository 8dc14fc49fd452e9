import COpenSSL

extension Credentials {
    /// Loads credentials from PEM text. The certificate of the key is ours; others may be part of its chain.
    ///
    /// - Parameters:
    ///   - certificate: PEM text with the certificate, and with the key unless `key` is given.
    ///   - key: PEM text with the private key: PKCS#8, PKCS#1 or SEC 1, encrypted or not.
    ///   - passphrase: Decrypts an encrypted key; not used for an unencrypted one.
    /// - Returns: Credentials whose key matches the certificate.
    /// - Throws: `TLSError` of category `credentials`. Report it to the user; message and hint name what to change.
    package static func pem(
        certificate: [UInt8], key: [UInt8]? = nil, passphrase: Secret? = nil
    ) throws(TLSError) -> Credentials {
        let file = PEMFile(certificate)
        if let damage = file.damage(.credentials(.unreadable)) { throw damage }
        guard file.hasCertificate else { throw MistakenFile.insteadOfCertificate(file) }
        let certificates = try file.certificates(category: .credentials(.unreadable))
        guard let first = unsafe certificates.borrow(0), unsafe X509_up_ref(first) == 1 else {
            throw MistakenFile.insteadOfCertificate(file)
        }
        let named = unsafe CertificateHandle(adopting: first)
        let name = unsafe CertificateFacts(reading: named.pointer).displayName
        let keyFile = key.map { PEMFile($0) } ?? file
        if let damage = keyFile.damage(.credentials(.unreadable)) { throw damage }
        guard keyFile.hasPrivateKey else { throw .noPrivateKey(for: name) }
        try keyFile.requireOneKey()
        let privateKey = try PrivateKeyReader(passphrase: passphrase).read(keyFile)
        for index in 1..<max(1, certificates.count)
        where unsafe X509_check_private_key(named.pointer, privateKey.pointer) != 1 {
            guard let other = unsafe certificates.borrow(index),
                unsafe X509_check_private_key(other, privateKey.pointer) == 1, unsafe X509_up_ref(other) == 1
            else { continue }
            let match = unsafe CertificateHandle(adopting: other)
            return try Credentials(certificate: match, key: privateKey, pool: certificates)
        }
        return try Credentials(certificate: named, key: privateKey, pool: certificates)
    }
}

/// Reads a private key from PEM text, and records whether a passphrase was asked for.
private final class PrivateKeyReader {
    private let passphrase: Secret?
    private var wasAsked = false

    init(passphrase: Secret?) { self.passphrase = passphrase }

    /// Returns the private key of `file`.
    func read(_ file: PEMFile) throws(TLSError) -> KeyHandle {
        let (plain, errors) = try unsafe read(file.bytes, in: nil)
        if let plain = unsafe plain { return unsafe KeyHandle(adopting: plain) }
        guard wasAsked else { throw .unreadable("the private key", errors) }
        guard passphrase != nil else { throw .passphraseNeeded }
        guard errors.lacksAlgorithm else { throw .wrongPassphrase }
        let library = try LegacyLibrary()
        guard let old = try unsafe read(file.bytes, in: library.pointer).key else { throw .wrongPassphrase }
        let key = unsafe KeyHandle(adopting: old)
        return try library.moved(key)
    }

    private func read(
        _ bytes: [UInt8], in library: OpaquePointer?
    ) throws(TLSError) -> (key: OpaquePointer?, errors: LibraryErrors) {
        let bio = try MemoryBIO.reading(bytes)
        LibraryErrors.clear()
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        let key = unsafe PEM_read_bio_PrivateKey_ex(bio.pointer, nil, answer, this, library, nil)
        return unsafe (key, LibraryErrors.drain())
    }

    fileprivate func copyPassphrase(to space: UnsafeMutableRawBufferPointer) -> Int32 {
        wasAsked = true
        return unsafe passphrase?.copy(into: space).map { Int32($0) } ?? -1
    }
}

/// Passes the passphrase to OpenSSL. Without a callback, OpenSSL would prompt on the terminal.
private func answer(
    _ space: UnsafeMutablePointer<CChar>?, _ capacity: Int32, _: Int32, _ reader: UnsafeMutableRawPointer?
) -> Int32 {
    guard let reader = unsafe reader else { return -1 }
    let this = unsafe Unmanaged<PrivateKeyReader>.fromOpaque(reader).takeUnretainedValue()
    return unsafe this.copyPassphrase(to: UnsafeMutableRawBufferPointer(start: space, count: Int(capacity)))
}
