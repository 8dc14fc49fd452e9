package import Document

/// The URL of a token endpoint, which is also the audience (`aud`) of assertions to it.
package struct TokenURI: Hashable, Sendable, CustomStringConvertible {
    /// The only host that gets an assertion unless the app names another one itself: whoever can edit a service account
    /// file must not be able to send the assertion elsewhere.
    package static let googleHost = "oauth2.googleapis.com"

    /// The URL as the file has it. Google compares the assertion's audience with it byte by byte.
    package let text: String
    /// The host.
    package let host: String
    /// The port; 443 unless the URL names another.
    package let port: UInt16
    /// The value of `:path`.
    package let path: String

    /// Parses a URL with scheme `https`, a host, and maybe a port, a path and a query.
    ///
    /// - Throws: What is wrong with it. Report it to the user.
    package init(_ text: String) throws(TextFault) {
        let hint = "Google's files have https://\(Self.googleHost)/token; use the file as it was downloaded"
        let scheme = "https://"
        guard text.prefix(scheme.count).lowercased() == scheme else {
            throw TextFault("\(Diagnostic.quoted(text)) does not begin with https://", hint: hint)
        }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let parts = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let path = rest.dropFirst(authority.count)
        let port = parts.count > 1 ? UInt16(parts[1]) : 443
        guard let host = parts.first, let port, port > 0, Self.isHost(host), path.utf8.allSatisfy(Self.isOfPath) else {
            throw TextFault("\(Diagnostic.quoted(text)) is not a URL of host, port and path", hint: hint)
        }
        (self.text, self.host, self.port) = (text, host.lowercased(), port)
        self.path = path.hasPrefix("/") ? String(path) : "/" + path
    }

    /// Whether it is at Google's usual host and port.
    package var isGoogles: Bool { host == Self.googleHost && port == 443 }

    /// The URL as the file has it.
    package var description: String { text }

    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x2E
            }
    }

    /// Visible ASCII characters, without the sign of a fragment.
    private static func isOfPath(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "#") }
}
