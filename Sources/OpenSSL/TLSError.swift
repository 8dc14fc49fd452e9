/// Why a TLS call failed, in plain words, with the remedy in a separate field.
package struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, which determines whether a retry can help.
    package enum Category: Hashable, Sendable {
        /// The two sides have no version or cipher in common, or the peer does not speak TLS.
        case handshake
        /// This side refused the peer's certificate.
        case certificateVerification(CertificateFault)
        /// The peer ended the connection with a reason; this is how it reports a refused certificate.
        case alertReceived(TLSAlert)
        /// The peer sent bytes that are not TLS, or they were changed in transit.
        case protocolViolation
        /// Our certificate, key or passphrase cannot be used.
        case credentials(CredentialsFault)
        /// The file of trusted authorities cannot be used.
        case trust
        /// The stream ended without `close_notify`: data may be missing.
        case closedEarly
        /// OpenSSL itself failed (memory, configuration).
        case library
    }

    /// The kind of failure.
    package let category: Category
    /// One sentence without a full stop, for the user.
    package let message: String
    /// The remedy for the user, if known.
    package let hint: String?

    /// Creates an error from its parts.
    init(_ category: Category, _ message: String, hint: String? = nil) {
        self.category = category
        self.message = message
        self.hint = hint
    }

    /// The message alone; the remedy is in `hint`.
    package var description: String { message }

    /// Whether the same attempt may succeed later without any change by the user.
    package var mayPassOnRetry: Bool {
        switch category {
        case .protocolViolation, .closedEarly, .library: true
        case .alertReceived(let alert): !alert.refusesCertificate
        case .handshake, .certificateVerification, .credentials, .trust: false
        }
    }

    /// Whether the peer refused this side's certificate, or required one and got none.
    package var isOwnCertificateRefused: Bool {
        if case .alertReceived(let alert) = category { alert.refusesCertificate } else { false }
    }
}
