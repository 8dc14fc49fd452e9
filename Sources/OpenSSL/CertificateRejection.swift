import COpenSSL

/// The first error that OpenSSL found in a peer's certificate chain.
struct CertificateRejection: Hashable, Sendable {
    /// X509_V_ERR_…
    let code: Int32
    /// The rejected certificate, if it could be read.
    let facts: CertificateFacts?

    /// The kind of error.
    var fault: CertificateFault {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .nameMismatch
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_CERT_REJECTED,
            X509_V_ERR_INVALID_CA:
            .untrusted
        default: .unsuitable
        }
    }

    /// Returns the error for a peer whose certificate was refused.
    ///
    /// - Parameters:
    ///   - peer: The peer's name in a sentence: `the server`.
    ///   - name: The requested host; `nil` on the server side.
    /// - Returns: The error with message and hint.
    func error(for peer: String, name: String?) -> TLSError {
        let who = facts.map { "\"\($0.displayName)\"" } ?? "of \(peer)"
        return switch fault {
        case .expired: expired(peer, who)
        case .notYetValid: notYetValid(peer, who)
        case .nameMismatch: nameMismatch(peer, name ?? "another name")
        case .untrusted: untrusted(peer, who)
        case .missing, .unsuitable:
            TLSError(
                .certificateVerification(fault),
                "certificate \(who) of \(peer) is not acceptable: \(unsafe String(cString: X509_verify_cert_error_string(CLong(code))))",
                hint: "ask the owner of \(peer) to replace the certificate")
        }
    }

    private func expired(_ peer: String, _ who: String) -> TLSError {
        let when = facts.map { " on \(UTCDate($0.notAfter))" } ?? ""
        return TLSError(
            .certificateVerification(.expired), "certificate \(who) of \(peer) expired\(when)",
            hint: "check this machine's clock; if it is right, ask the owner of \(peer) to renew the certificate")
    }

    private func notYetValid(_ peer: String, _ who: String) -> TLSError {
        let when = facts.map { " before \(UTCDate($0.notBefore))" } ?? ""
        return TLSError(
            .certificateVerification(.notYetValid), "certificate \(who) of \(peer) is not valid\(when)",
            hint: "check this machine's clock")
    }

    private func nameMismatch(_ peer: String, _ name: String) -> TLSError {
        let names = facts?.alternativeNames ?? []
        let list = names.isEmpty ? "no host" : names.prefix(5).joined(separator: ", ")
        return TLSError(
            .certificateVerification(.nameMismatch), "the certificate of \(peer) is for \(list), not for \(name)",
            hint: "connect to a name in the certificate, or set `server_name` to one")
    }

    private func untrusted(_ peer: String, _ who: String) -> TLSError {
        let issuer = facts.map { ", issued by \"\($0.issuer)\"," } ?? ""
        return TLSError(
            .certificateVerification(.untrusted),
            "certificate \(who) of \(peer)\(issuer) is not from a trusted authority",
            hint: peer == "the server"
                ? "set `trust` to the PEM file of the authority that issued it, or install the system's authorities"
                    + " (package ca-certificates)"
                : "use a client certificate issued by the authority that this server trusts")
    }
}
