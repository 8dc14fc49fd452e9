import COpenSSL

/// A certificate, its private key, and the certificates between it and its authority.
///
/// Made by `pem` or `pkcs12`. The key matches the certificate, or there would be no value. The time of validity is
/// not looked at on loading, so that `check` can show it: ask `requireValid`.
///
/// Sendable: nothing is written after `init`, and OpenSSL counts references atomically.
@safe package final class Credentials: @unchecked Sendable, CustomStringConvertible {
    let certificate: CertificateHandle
    let key: KeyHandle
    /// Issuer of the certificate first, then the issuer's issuer.
    let chain: CertificateList
    /// What the certificate says.
    package let facts: CertificateFacts

    /// Checks that the key belongs to the certificate, and orders those of `pool` that lead to its authority.
    init(
        certificate: consuming CertificateHandle, key: consuming KeyHandle, pool: borrowing CertificateList
    ) throws(TLSError) {
        LibraryErrors.clear()
        let facts = unsafe CertificateFacts(reading: certificate.pointer)
        guard unsafe X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
            _ = LibraryErrors.drain()
            throw .keyMismatch(certificate: facts.displayName)
        }
        chain = try unsafe Self.chain(from: certificate.pointer, through: pool)
        self.facts = facts
        self.certificate = certificate
        self.key = key
    }

    /// The certificate's name and expiry; nothing of the key.
    package var description: String { "certificate \"\(facts.displayName)\", expires \(UTCDate(facts.notAfter))" }

    /// How many further certificates are shown with it.
    package var chainCount: Int { chain.count }

    /// Checks the time of validity.
    ///
    /// - Parameter seconds: Now, since 1970-01-01T00:00:00Z.
    /// - Throws: `TLSError`, `credentials(.expired)` or `credentials(.notYetValid)`: report it; a connection would be
    ///   refused by the gateway.
    package func requireValid(at seconds: Int64) throws(TLSError) {
        if seconds > facts.notAfter {
            throw TLSError(
                .credentials(.expired), "certificate \"\(facts.displayName)\" expired on \(UTCDate(facts.notAfter))",
                hint: "create a new push certificate at the developer account and replace the file")
        }
        if seconds < facts.notBefore {
            throw TLSError(
                .credentials(.notYetValid),
                "certificate \"\(facts.displayName)\" is not valid before \(UTCDate(facts.notBefore))",
                hint: "the app starts by itself then; if that day is over, check this machine's clock")
        }
    }

    /// Follows issuers from `leaf` as long as `pool` has them; a root, which issued itself, is left out.
    private static func chain(
        from leaf: OpaquePointer, through pool: borrowing CertificateList
    ) throws(TLSError) -> CertificateList {
        let chain = try CertificateList()
        var current = unsafe leaf
        for _ in 0..<pool.count {
            var issuer: OpaquePointer?
            for index in 0..<pool.count where unsafe issuer == nil {
                guard let candidate = unsafe pool.borrow(index) else { continue }
                if unsafe X509_check_issued(candidate, current) == X509_V_OK { unsafe issuer = candidate }
            }
            guard let issuer = unsafe issuer, unsafe X509_check_issued(issuer, issuer) != X509_V_OK else { break }
            try unsafe chain.append(issuer)
            unsafe current = issuer
        }
        return chain
    }
}
