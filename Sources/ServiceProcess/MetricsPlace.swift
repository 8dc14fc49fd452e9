package import Document
package import LinuxIO

/// The address at which metrics are served over HTTP. It is reachable only from this host, since requests are not
/// authenticated.
package enum MetricsPlace: Hashable, Sendable, CustomStringConvertible {
    /// A port of a loopback address.
    case loopback(SocketAddress)
    /// A local socket.
    case local(path: String)

    private static let localPrefix = "unix:"
    private static let form = #"127.0.0.1:9469, "[::1]:9469" in quotes, or unix: and an absolute path"#

    /// Parses `127.0.0.1:9469`, `[::1]:9469` or `unix:/run/pushspool/metrics.sock`.
    ///
    /// - Throws: The error in the text; report it with the place of the field.
    package init(parsing text: String) throws(TextFault) {
        if text.hasPrefix(Self.localPrefix) {
            self = .local(path: try Self.path(in: text.dropFirst(Self.localPrefix.count)))
            return
        }
        guard let address = SocketAddress(text) else {
            throw TextFault("\(Diagnostic.quoted(text)) is not an address with a port", hint: "write \(Self.form)")
        }
        guard address.isLoopback else {
            throw TextFault(
                "\(address.host) is not a loopback address, so anyone could read the metrics",
                hint: "write \(Self.form); for other hosts use a proxy, or collect the file metrics.prom")
        }
        guard address.port > 0 else { throw TextFault("the port is missing", hint: "write \(Self.form)") }
        self = .loopback(address)
    }

    /// The address as written in the configuration.
    package var description: String {
        switch self {
        case .loopback(let address): address.description
        case .local(let path): Self.localPrefix + path
        }
    }

    private static func path(in text: Substring) throws(TextFault) -> String {
        guard text.hasPrefix("/"), !text.hasSuffix("/"), !text.utf8.contains(0) else {
            throw TextFault(
                "the socket path must be absolute", hint: "write unix:/run/pushspool/metrics.sock")
        }
        guard text.utf8.count <= LocalListener.pathByteLimit else {
            throw TextFault(
                "the socket path has \(text.utf8.count) bytes, but at most \(LocalListener.pathByteLimit) fit",
                hint: "choose a shorter path")
        }
        return String(text)
    }
}
