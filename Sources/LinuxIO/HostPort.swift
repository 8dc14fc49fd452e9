/// A host, by name or by address, and a port, as users write them: `gateway.example:2195`, `[::1]:2195`.
package struct HostPort: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address, without brackets.
    package let host: String
    /// 0 to 65535; the meaning of 0 is up to the caller.
    package let port: UInt16

    /// Creates a value from a host and a port.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `host:port`, `[address]:port`, or, with a default port, a host alone.
    ///
    /// - Returns: `nil` for what is no host, a missing port without a default, a port that is not a number from 0 to
    ///   65535, or an IPv6 address with a port but without brackets.
    package init?(_ text: String, defaultPort: UInt16? = nil) {
        let isBracketed = text.hasPrefix("[")
        let end = isBracketed ? text.firstIndex(of: "]") : text.firstIndex(of: ":") ?? text.endIndex
        guard let end else { return nil }
        let host = isBracketed ? text[text.index(after: text.startIndex)..<end] : text[..<end]
        let rest = isBracketed ? text[text.index(after: end)...] : text[end...]
        guard Self.isHost(host), let port = Self.port(in: rest, otherwise: defaultPort) else { return nil }
        self.init(host: String(host), port: port)
    }

    /// Whether the text can be a host in `:authority`, in a request line and in TLS: ASCII letters, digits, hyphens, underscores
    /// and periods, or an IPv6 address without brackets, with or without a zone.
    package static func isHost(_ text: some StringProtocol) -> Bool {
        let address = text.prefix { $0 != "%" }
        guard address.contains(":") else { return !text.isEmpty && text.utf8.allSatisfy(isOfName) }
        let isAddress = address.allSatisfy { $0 == ":" || $0 == "." || $0.isASCII && $0.isHexDigit }
        let zone = text.dropFirst(address.count + 1)
        return isAddress && address.count { $0 == ":" } > 1 && zone.utf8.allSatisfy(isOfName)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// The form that users write; an IPv6 address gets brackets.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Parses the port in `:2195`, or returns the default for empty text.
    private static func port(in rest: Substring, otherwise defaultPort: UInt16?) -> UInt16? {
        if rest.isEmpty { return defaultPort }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        return UInt16(digits)
    }
}
