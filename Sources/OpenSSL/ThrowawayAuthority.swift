import COpenSSL

/// An authority created at run time, for tests, demonstrations and simulators. Its key never leaves memory.
///
/// Sendable: nothing is written after `init`.
@safe package final class ThrowawayAuthority: @unchecked Sendable {
    private let certificate: CertificateHandle
    private let key: KeyHandle
    /// The certificates of this authority and those above it, except the root. Sent with every certificate it issues.
    private let chain: CertificateList

    /// Creates a root authority with an EC P-256 key.
    ///
    /// - Throws: `TLSError` of category `library` when the name is longer than 64 characters.
    package convenience init(commonName: String = "Throwaway Authority") throws(TLSError) {
        try self.init(CertificatePlan(purpose: .authority, commonName: commonName), issuer: nil)
    }

    private init(_ plan: CertificatePlan, issuer: ThrowawayAuthority?) throws(TLSError) {
        let key = try Self.makeKey(plan.key)
        let chain = try CertificateList()
        if let issuer {
            let certificate = try issuer.certify(plan, key: key)
            try unsafe chain.append(certificate.pointer)
            for index in 0..<issuer.chain.count {
                if let above = unsafe issuer.chain.borrow(index) { try unsafe chain.append(above) }
            }
            self.certificate = certificate
        } else {
            var builder = try CertificateBuilder()
            try builder.setSubject(plan, key: key)
            try unsafe builder.setExtensions(plan, issuer: nil)
            certificate = try unsafe builder.signed(by: key, issuer: nil)
        }
        self.key = key
        self.chain = chain
    }

    /// The certificate as PEM text. To trust it is to trust every certificate it issues.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func certificatePEM() throws(TLSError) -> [UInt8] { try pem(certificate) }

    /// Issues a certificate with a new key.
    ///
    /// - Parameter plan: Its names, purpose and validity.
    /// - Returns: The certificate, its key, and the chain.
    /// - Throws: `TLSError` of category `library` when a name is too long or invalid.
    package func issue(_ plan: CertificatePlan) throws(TLSError) -> ThrowawayIdentity {
        let key = try Self.makeKey(plan.key)
        let certificate = try certify(plan, key: key)
        return ThrowawayIdentity(credentials: try Credentials(certificate: certificate, key: key, pool: chain))
    }

    /// Creates an authority below this one. Certificates that it issues are sent together with its own.
    ///
    /// - Throws: `TLSError` of category `library` when the name is longer than 64 characters.
    package func issueAuthority(commonName: String) throws(TLSError) -> ThrowawayAuthority {
        try ThrowawayAuthority(CertificatePlan(purpose: .authority, commonName: commonName), issuer: self)
    }

    private func certify(_ plan: CertificatePlan, key: borrowing KeyHandle) throws(TLSError) -> CertificateHandle {
        var builder = try CertificateBuilder()
        try builder.setSubject(plan, key: key)
        try unsafe builder.setExtensions(plan, issuer: certificate.pointer)
        return try unsafe builder.signed(by: self.key, issuer: certificate.pointer)
    }

    private static func makeKey(_ kind: CertificatePlan.KeyKind) throws(TLSError) -> KeyHandle {
        LibraryErrors.clear()
        let made = unsafe kind == .rsa2048 ? shim_RSA_2048_key() : shim_P256_key()
        guard let key = unsafe made else { throw LibraryErrors.drain().asFailure() }
        return unsafe KeyHandle(adopting: key)
    }
}

/// Returns a certificate as PEM text.
func pem(_ certificate: borrowing CertificateHandle) throws(TLSError) -> [UInt8] {
    let bio = try MemoryBIO()
    guard unsafe PEM_write_bio_X509(bio.pointer, certificate.pointer) == 1 else {
        throw LibraryErrors.drain().asFailure()
    }
    return bio.contents()
}
