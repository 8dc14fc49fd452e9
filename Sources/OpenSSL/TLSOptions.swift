/// A version of TLS that is still spoken here.
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

    /// Orders by age, oldest first.
    package static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// What both sides may choose beyond certificates.
package struct TLSOptions: Hashable, Sendable {
    /// The versions that are offered or accepted.
    package var versions: ClosedRange<TLSVersion>
    /// ALPN names in order of preference, each of 1 to 255 bytes; empty: the extension is not sent.
    ///
    /// A client goes on without a protocol when the server answers none; a server refuses a client whose names
    /// share none with its own, and accepts one that sends none.
    package var applicationProtocols: [String]
    /// Whether a server sends a TLS 1.3 client the ticket that tells it that its certificate was accepted.
    package var issuesTicket = true

    /// Creates options; as they stand: TLS 1.2 or 1.3, no ALPN.
    package init(versions: ClosedRange<TLSVersion> = .tls12 ... .tls13, applicationProtocols: [String] = []) {
        self.versions = versions
        self.applicationProtocols = applicationProtocols
    }

    /// The names as RFC 7301 §3.1 writes them: each after its length; `nil` if one is empty or too long.
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

/// Whose certificates a client believes.
package enum TrustSource: Hashable, Sendable {
    /// The authorities this system trusts, as they were when first asked for; `SSL_CERT_FILE` and `SSL_CERT_DIR` are
    /// obeyed.
    case system
    /// These certificates alone, as PEM text; an intermediate or the server's own is enough.
    case pem([UInt8])
}
