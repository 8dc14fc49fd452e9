import Document
package import LinuxIO
import OpenSSL

/// An HTTP proxy for connections (RFC 9110 §9.3.6), configured as `http://user:password@host:3128`.
///
/// The connection to the proxy itself is not encrypted, but the TLS traffic through it is. The password is never
/// printed.
package struct Proxy: Sendable, Hashable, CustomStringConvertible {
    /// The user and password for the Basic scheme (RFC 7617).
    package struct Login: Sendable, CustomReflectable {
        /// The user's name.
        package let user: String
        /// `user:password` for the Basic scheme, before base64.
        fileprivate let pair: Secret
        /// SHA-256 of `pair`, to compare logins without revealing them.
        fileprivate let digest: [UInt8]

        /// Creates a login.
        ///
        /// - Parameters:
        ///   - user: The user's name, without a colon, because a colon would end it.
        ///   - password: Any bytes.
        package init(user: String, password: some Collection<UInt8>) {
            let pair = Array(user.utf8) + [UInt8(ascii: ":")] + Array(password)
            self.user = user
            self.pair = Secret(pair)
            self.digest = Digest.sha256(pair.span)
        }

        /// Shows only the user.
        package var customMirror: Mirror { Mirror(self, children: ["user": user]) }
    }

    /// Why a text is not a valid proxy.
    package struct Fault: Error, Hashable, Sendable {
        /// The problem. Does not quote the text, which may contain a password.
        package let message: String
        /// The correct form.
        package let hint: String
    }

    /// The proxy's address.
    package let address: HostPort
    /// The login; `nil` for none.
    package let login: Login?

    /// Creates a proxy from its parts.
    package init(_ address: HostPort, login: Login? = nil) {
        self.address = address
        self.login = login
    }

    /// Parses `http://[user:password@]host:port`, in which `%XX` stands for any byte of user and password.
    ///
    /// - Throws: `Fault`. Report it to the user.
    package init(url: String) throws(Fault) {
        guard url.hasPrefix("http://") else {
            throw Fault(
                message: url.hasPrefix("https://") ? "TLS to a proxy is not supported" : "the proxy is not a URL",
                hint: Self.form)
        }
        var rest = url.dropFirst("http://".count)
        if rest.hasSuffix("/") { rest.removeLast() }
        let end = rest.lastIndex(of: "@")
        let place = end.map { rest[rest.index(after: $0)...] } ?? rest
        guard let address = HostPort(String(place)), address.port > 0 else {
            throw Fault(message: "the proxy needs a host and a port", hint: Self.form)
        }
        self.address = address
        self.login = try end.map { end throws(Fault) in try Self.login(rest[..<end]) }
    }

    /// The address and the user, without the password.
    package var description: String { (login.map { "\($0.user)@" } ?? "") + address.description }

    /// Whether both are the same proxy with the same login.
    package static func == (left: Proxy, right: Proxy) -> Bool {
        left.address == right.address && left.login?.digest == right.login?.digest
    }

    /// Hashes the address and the login's digest.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(address)
        hasher.combine(login?.digest)
    }

    /// Returns the `CONNECT` request for `target`, including the password if there is a login.
    func request(for target: HostPort) -> [UInt8] {
        var bytes = Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n".utf8)
        if let login {
            var pair: [UInt8] = []
            login.pair.append(to: &pair)
            bytes += "Proxy-Authorization: Basic ".utf8
            Base64.standard.append(pair, to: &bytes)
            bytes += [0x0D, 0x0A]
        }
        return bytes + [0x0D, 0x0A]
    }
}

extension Proxy {
    private static let form =
        "write http://host:port or http://user:password@host:port, with %XX for special characters"

    private static func login(_ text: Substring) throws(Fault) -> Login {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = unescaped(parts[0]), let password = unescaped(parts.count > 1 ? parts[1] : ""),
            let name = String(validating: user, as: UTF8.self), !name.isEmpty, !name.contains(":"),
            (user + password).allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw Fault(message: "the proxy's user or password cannot be decoded or has controls", hint: form) }
        return Login(user: name, password: password)
    }

    /// Decodes `%XX`; `nil` if a `%` is not followed by two digits.
    private static func unescaped(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest.removeFirst(2)
        }
        return bytes
    }
}
