package import Document
package import LinuxIO

/// The address at which metrics are served over HTTP. It is reachable only from this host unless the operator says otherwise,
/// since requests are not authenticated.
package enum MetricsPlace: Hashable, Sendable, CustomStringConvertible {
    /// A TCP address.
    case address(SocketAddress)
    /// A local socket.
    case local(path: String)

    private static let localPrefix = "unix:"
    private static let form = #"127.0.0.1:9469, "[::1]:9469" in quotes, or unix: and an absolute path"#

    /// Parses `127.0.0.1:9469`, `[::1]:9469` or `unix:/run/pushspool/metrics.sock`.
    ///
    /// - Parameters:
    ///   - text: The address.
    ///   - isPublic: Whether other hosts may read the metrics, so that the address need not be a loopback address.
    /// - Throws: The error in the text; report it with the place of the field.
    package init(parsing text: String, isPublic: Bool) throws(TextFault) {
        if text.hasPrefix(Self.localPrefix) {
            self = .local(path: try Self.path(in: text.dropFirst(Self.localPrefix.count)))
            return
        }
        guard let address = SocketAddress(text) else {
            throw TextFault("\(Diagnostic.quoted(text)) is not an address with a port", hint: "write \(Self.form)")
        }
        guard address.isLoopback || isPublic else {
            throw TextFault(
                "\(address.host) is not a loopback address, so other hosts could read the metrics",
                hint: "write \(Self.form); if other hosts may read them, add public: true")
        }
        guard address.port > 0 else { throw TextFault("the port is missing", hint: "write \(Self.form)") }
        self = .address(address)
    }

    /// The address as written in the configuration.
    package var description: String {
        switch self {
        case .address(let address): address.description
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
