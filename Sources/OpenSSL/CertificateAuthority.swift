import COpenSSL

/// An authority that issues certificates: for tests, demonstrations and simulators, and for doors that pose as another host.
package struct CertificateAuthority: Sendable, CustomStringConvertible {
    /// Its certificate and key, and the certificates above it, except the root.
    private let credentials: Credentials

    /// Creates a root authority with an EC P-256 key.
    ///
    /// - Parameters:
    ///   - commonName: Its name.
    ///   - hosts: The only DNS names, with those below them, for which clients accept its certificates; empty for any.
    ///   - validity: As in a plan.
    /// - Throws: `TLSError` of category `library` when the name is longer than 64 characters, or a host is no DNS name.
    package init(
        commonName: String = "Throwaway Authority", onlyFor hosts: [String] = [], validity: ClosedRange<Int64>? = nil
    ) throws(TLSError) {
        var plan = CertificatePlan(purpose: .authority(hosts: hosts), commonName: commonName)
        plan.validity = validity
        try self.init(plan, issuer: nil)
    }

    /// Takes up an authority that was created earlier.
    package init(_ credentials: Credentials) { self.credentials = credentials }

    private init(_ plan: CertificatePlan, issuer: CertificateAuthority?) throws(TLSError) {
        let key = try Self.makeKey(plan.key)
        if let issuer {
            let certificate = try issuer.certify(plan, key: key)
            credentials = try Credentials(certificate: certificate, key: key, pool: try issuer.chain())
        } else {
            var builder = try CertificateBuilder()
            try builder.setSubject(plan, key: key)
            try unsafe builder.setExtensions(plan, issuer: nil)
            let certificate = try unsafe builder.signed(by: key, issuer: nil)
            credentials = try Credentials(certificate: certificate, key: key, pool: try CertificateList())
        }
    }

    /// The content of its certificate.
    package var facts: CertificateFacts { credentials.facts }

    /// Its name and expiry.
    package var description: String { credentials.description }

    /// The certificate as PEM text. To trust it is to trust every certificate it issues.
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func certificatePEM() throws(TLSError) -> [UInt8] { try pem(credentials.certificate) }

    /// The private key as unencrypted PEM text (PKCS#8).
    ///
    /// - Throws: `TLSError` of category `library` when out of memory.
    package func keyPEM() throws(TLSError) -> [UInt8] { try credentials.key.pkcs8PEM() }

    /// Issues a certificate with a new key.
    ///
    /// - Parameter plan: Its names, purpose and validity.
    /// - Returns: The certificate, its key, and the chain.
    /// - Throws: `TLSError` of category `library` when a name is too long, invalid, or not one that the authority is for.
    package func issue(_ plan: CertificatePlan) throws(TLSError) -> IssuedIdentity {
        let key = try Self.makeKey(plan.key)
        let certificate = try certify(plan, key: key)
        return IssuedIdentity(credentials: try Credentials(certificate: certificate, key: key, pool: try chain()))
    }

    /// Creates an authority below this one. Certificates that it issues are sent together with its own.
    ///
    /// - Throws: `TLSError` of category `library` when the name is longer than 64 characters.
    package func issueAuthority(commonName: String) throws(TLSError) -> CertificateAuthority {
        try CertificateAuthority(
            CertificatePlan(purpose: .authority(hosts: []), commonName: commonName), issuer: self)
    }

    /// Its certificate and those above it. `Credentials` leaves out a root.
    private func chain() throws(TLSError) -> CertificateList {
        let chain = try CertificateList()
        try unsafe chain.append(credentials.certificate.pointer)
        for index in 0..<credentials.chain.count {
            if let above = unsafe credentials.chain.borrow(index) { try unsafe chain.append(above) }
        }
        return chain
    }

    private func certify(_ plan: CertificatePlan, key: borrowing KeyHandle) throws(TLSError) -> CertificateHandle {
        var builder = try CertificateBuilder()
        let own = unsafe credentials.certificate.pointer
        try builder.setSubject(plan, key: key)
        try unsafe builder.setExtensions(plan, issuer: own)
        let certificate = try unsafe builder.signed(by: credentials.key, issuer: own)
        guard unsafe shim_X509_constraints_allow(own, certificate.pointer) == 1 else {
            let names = unsafe CertificateFacts(reading: certificate.pointer).alternativeNames
            throw TLSError(
                .library, "authority \"\(facts.displayName)\" is not for \(names.joined(separator: ", "))")
        }
        return certificate
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
