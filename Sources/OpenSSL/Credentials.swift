import COpenSSL

/// A certificate, its private key, and the chain to its authority.
///
/// Created by `pem` or `pkcs12`, which ensure that the key matches the certificate. Loading does not check the validity
/// period, so that `check` can show it: call `requireValid`.
///
/// Sendable: nothing is written after `init`, and OpenSSL's reference counts are atomic.
@safe package final class Credentials: @unchecked Sendable, CustomStringConvertible {
    let certificate: CertificateHandle
    let key: KeyHandle
    /// The issuer of the certificate first, then the issuer's issuer.
    let chain: CertificateList
    /// The content of the certificate.
    package let facts: CertificateFacts

    /// Checks that the key belongs to the certificate, and builds the chain to its authority from `pool`.
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

    /// The certificate's name and expiry, and no part of the key.
    package var description: String { "certificate \"\(facts.displayName)\", expires \(UTCDate(facts.notAfter))" }

    /// The number of further certificates sent with it.
    package var chainCount: Int { chain.count }

    /// Checks the validity period.
    ///
    /// - Parameter seconds: The current time, in seconds since 1970-01-01T00:00:00Z.
    /// - Throws: `TLSError`, `credentials(.expired)` or `credentials(.notYetValid)`. Report it: the gateway would
    ///   refuse a connection.
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
                hint: "wait: the app starts by itself then; if that date has passed, check this machine's clock")
        }
    }

    /// Follows the issuers from `leaf` as far as `pool` contains them. A root, which is self-issued, is left out.
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
