/// Why a TLS call could not do its work, in plain words, with the remedy in a field of its own.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong; decides whether trying again can help.
    package enum Category: Hashable, Sendable {
        /// The two sides found no common ground: version, cipher, or the peer speaks no TLS at all.
        case handshake
        /// This side refused the peer's certificate.
        case certificateVerification(CertificateFault)
        /// The peer ended the connection and said why; certificates it refuses are told this way.
        case alertReceived(TLSAlert)
        /// The peer sent bytes that are not TLS, or that were changed on the way.
        case protocolViolation
        /// A certificate, key or passphrase of ours cannot be used.
        case credentials(CredentialsFault)
        /// The file of trusted authorities cannot be used.
        case trust
        /// The stream ended without the closing alert: data may be missing.
        case closedEarly
        /// OpenSSL itself failed (memory, configuration).
        case library
    }

    /// What kind of thing went wrong.
    package let category: Category
    /// One sentence without a full stop, for people.
    package let message: String
    /// What a person can do about it, where anything is known to help.
    package let hint: String?

    /// Creates an error from its parts.
    init(_ category: Category, _ message: String, hint: String? = nil) {
        self.category = category
        self.message = message
        self.hint = hint
    }

    /// The message alone; the remedy is in `hint`.
    package var description: String { message }

    /// Whether the same attempt may succeed later without a person changing anything.
    package var mayPassOnRetry: Bool {
        switch category {
        case .protocolViolation, .closedEarly, .library: true
        case .alertReceived(let alert): !alert.refusesCertificate
        case .handshake, .certificateVerification, .credentials, .trust: false
        }
    }

    /// Whether the peer refused the certificate of this side, or missed one.
    package var isOwnCertificateRefused: Bool {
        if case .alertReceived(let alert) = category { alert.refusesCertificate } else { false }
    }
}
