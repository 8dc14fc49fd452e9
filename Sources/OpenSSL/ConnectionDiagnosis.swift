import COpenSSL

/// The facts about a failed call on a connection, and the error message made from them.
struct ConnectionDiagnosis {
    let errors: LibraryErrors
    /// The result of SSL_get_error.
    let code: Int32
    let rejection: CertificateRejection?
    let hasEnded: Bool
    let isEstablished: Bool
    /// `nil` on the server side.
    let serverName: String?

    private var peer: String { serverName == nil ? "the client" : "the server" }

    /// The error to throw.
    var error: TLSError {
        if let alert = errors.alert { return refused(alert) }
        if errors.has(ERR_LIB_SSL, SSL_R_CERTIFICATE_VERIFY_FAILED), let rejection {
            return rejection.error(for: peer, name: serverName)
        }
        if errors.has(ERR_LIB_SSL, SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
            return TLSError(
                .certificateVerification(.missing), "the client sent no certificate",
                hint: "set `credentials` on the client")
        }
        if errors.has(ERR_LIB_SSL, SSL_R_UNEXPECTED_EOF_WHILE_READING) || (errors.entries.isEmpty && hasEnded) {
            return cut
        }
        if let fault = noCommonGround { return fault }
        return TLSError(
            isEstablished ? .protocolViolation : .handshake, "\(peer) violated the TLS protocol: \(errors.text)")
    }

    private func refused(_ alert: TLSAlert) -> TLSError {
        let what =
            alert.refusesCertificate ? "\(peer) rejected our certificate or settings" : "\(peer) ended the handshake"
        return TLSError(
            .alertReceived(alert), "\(what): alert \(alert) (\(alert.rawValue))", hint: alert.hint)
    }

    private var cut: TLSError {
        isEstablished
            ? TLSError(.closedEarly, "\(peer) closed the connection without close_notify")
            : TLSError(
                .closedEarly, "\(peer) closed the connection during the handshake",
                hint: "check host and port; a gateway that rejects the certificate may do the same")
    }

    private var noCommonGround: TLSError? {
        guard !isEstablished else { return nil }
        for (reason, message) in Self.handshakeFaults where errors.has(ERR_LIB_SSL, reason) {
            return TLSError(.handshake, "\(peer) \(message)", hint: "check host, port and the server there")
        }
        return nil
    }

    private static let handshakeFaults: [(Int32, String)] = [
        (SSL_R_WRONG_VERSION_NUMBER, "does not speak TLS at this port"),
        (SSL_R_HTTP_REQUEST, "speaks HTTP without TLS at this port"),
        (SSL_R_HTTPS_PROXY_REQUEST, "sent a proxy request instead of TLS"),
        (SSL_R_UNSUPPORTED_PROTOCOL, "does not support TLS 1.2 or 1.3"),
        (SSL_R_NO_SHARED_CIPHER, "has no cipher suite in common with us"),
        (SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, "has no signature algorithm in common with us"),
        (SSL_R_NO_APPLICATION_PROTOCOL, "offers no supported application protocol"),
        (SSL_R_PACKET_LENGTH_TOO_LONG, "does not speak TLS at this port"),
    ]
}
