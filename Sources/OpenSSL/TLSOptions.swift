/// A supported version of TLS.
package enum TLSVersion: Int, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// RFC 5246.
    case tls12 = 0x0303
    /// RFC 8446.
    case tls13 = 0x0304

    /// The usual name: `TLS 1.3`.
    package var description: String {
        switch self {
        case .tls12: "TLS 1.2"
        case .tls13: "TLS 1.3"
        }
    }

    /// Orders versions by age, oldest first.
    package static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// The negotiable options other than certificates.
package struct TLSOptions: Hashable, Sendable {
    /// The offered or accepted versions.
    package var versions: ClosedRange<TLSVersion>
    /// ALPN names in order of preference, each of 1 to 255 bytes. If empty, the extension is not sent.
    ///
    /// A client continues without a protocol if the server selects none. A server refuses a client that shares none of
    /// its names, and accepts one that sends none.
    package var applicationProtocols: [String]
    /// Whether a server sends TLS 1.3 clients a ticket to tell them that their certificate was accepted.
    package var issuesTicket = true
    /// Whether a server without a client authority asks for a certificate and accepts one from any issuer, or none. Its
    /// owner knows its clients by their public keys.
    package var asksForCertificate = false

    /// Creates options. The defaults are TLS 1.2 or 1.3, and no ALPN.
    package init(versions: ClosedRange<TLSVersion> = .tls12 ... .tls13, applicationProtocols: [String] = []) {
        self.versions = versions
        self.applicationProtocols = applicationProtocols
    }

    /// The names in the format of RFC 7301 §3.1, each after its length; `nil` if one is empty or too long.
    var wireProtocols: [UInt8]? {
        var wire: [UInt8] = []
        for name in applicationProtocols {
            guard let count = UInt8(exactly: name.utf8.count), count > 0 else { return nil }
            wire.append(count)
            wire.append(contentsOf: name.utf8)
        }
        return wire
    }
}

/// The authorities that a client trusts.
package enum TrustSource: Hashable, Sendable {
    /// The authorities that this system trusts, as of the first use. `SSL_CERT_FILE` and `SSL_CERT_DIR` are honored.
    case system
    /// Only these certificates, as PEM text. An intermediate's or the server's own certificate suffices.
    case pem([UInt8])
}
