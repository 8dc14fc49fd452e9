/// An alert of RFC 8446 §6: one byte that tells why a peer ends a connection.
package struct TLSAlert: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    package let rawValue: UInt8

    /// Accepts any number, known or not.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `handshake_failure`, 40: no acceptable parameters. Old servers also send it for a missing certificate.
    package static let handshakeFailure = TLSAlert(rawValue: 40)
    /// `bad_certificate`, 42: corrupt, or its signature does not verify.
    package static let badCertificate = TLSAlert(rawValue: 42)
    /// `unsupported_certificate`, 43: of a type that the peer does not support.
    package static let unsupportedCertificate = TLSAlert(rawValue: 43)
    /// `certificate_revoked`, 44.
    package static let certificateRevoked = TLSAlert(rawValue: 44)
    /// `certificate_expired`, 45: expired, or not yet valid.
    package static let certificateExpired = TLSAlert(rawValue: 45)
    /// `certificate_unknown`, 46: refused for an unspecified reason.
    package static let certificateUnknown = TLSAlert(rawValue: 46)
    /// `unknown_ca`, 48: issued by an authority that the peer does not trust.
    package static let unknownAuthority = TLSAlert(rawValue: 48)
    /// `access_denied`, 49: valid, but not allowed here.
    package static let accessDenied = TLSAlert(rawValue: 49)
    /// `protocol_version`, 70: no common version of TLS.
    package static let protocolVersion = TLSAlert(rawValue: 70)
    /// `unrecognized_name`, 112: the server does not have the requested name.
    package static let unrecognizedName = TLSAlert(rawValue: 112)
    /// `certificate_required`, 116: TLS 1.3, no certificate was sent.
    package static let certificateRequired = TLSAlert(rawValue: 116)
    /// `no_application_protocol`, 120: none of the offered ALPN names is supported.
    package static let noApplicationProtocol = TLSAlert(rawValue: 120)

    /// The name in RFC 8446, or `alert <number>`.
    package var description: String { Self.names[rawValue] ?? "alert \(rawValue)" }

    /// Whether it may mean that the peer refused our certificate, or that it required one and got none.
    ///
    /// Includes `handshake_failure`: with TLS 1.2 it is the usual answer to a missing certificate.
    package var refusesCertificate: Bool {
        switch rawValue {
        case 40, 41, 42, 43, 44, 45, 46, 48, 49, 116: true
        default: false
        }
    }

    /// The remedy for the operator.
    var hint: String? { Self.hints[rawValue] }

    private static let names: [UInt8: String] = [
        0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed",
        22: "record_overflow", 30: "decompression_failure", 40: "handshake_failure", 41: "no_certificate",
        42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked",
        45: "certificate_expired", 46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca",
        49: "access_denied", 50: "decode_error", 51: "decrypt_error", 60: "export_restriction",
        70: "protocol_version", 71: "insufficient_security", 80: "internal_error",
        86: "inappropriate_fallback", 90: "user_canceled", 100: "no_renegotiation",
        109: "missing_extension", 110: "unsupported_extension", 111: "certificate_unobtainable",
        112: "unrecognized_name", 113: "bad_certificate_status_response", 114: "bad_certificate_hash_value",
        115: "unknown_psk_identity", 116: "certificate_required", 120: "no_application_protocol",
    ]

    private static let hints: [UInt8: String] = [
        40: "check that a certificate is configured and that it is one for this gateway",
        42: "the gateway does not accept this certificate; check that it is the push certificate of the app",
        43: "the gateway does not accept this type of certificate; check that it is a push certificate",
        44: "the certificate was revoked; create a new one at the developer account",
        45: "the certificate is expired or not yet valid; renew it, and check this machine's clock",
        46: "the gateway does not accept this certificate; check environment and expiry, or renew it",
        48: "the gateway does not trust the issuer of this certificate; use one issued for this gateway",
        49: "the certificate is valid but not allowed here; check the environment (sandbox or production)",
        70: "enable TLS 1.2 or 1.3 on the other side",
        112: "set `server_name` to a name in the gateway's certificate",
        116: "configure `credentials`: this gateway asks for a client certificate",
        120: "the peer does not speak this protocol; check the port and `protocol`",
    ]
}
