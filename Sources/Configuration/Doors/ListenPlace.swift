package import Document
package import LinuxIO
import ServiceProcess

/// Where a door listens: on a TCP address or a local socket.
package enum ListenPlace: Hashable, Sendable, CustomStringConvertible {
    /// A TCP address.
    case address(SocketAddress)
    /// A local socket; members of the door's group may connect.
    case local(path: String)

    private static let form = #"write 127.0.0.1:8088, "[::1]:8088" in quotes, or unix: and an absolute path"#

    /// Parses `127.0.0.1:8088`, `[::1]:8088` or `unix:/run/pushspool-door/http.sock`.
    ///
    /// - Parameters:
    ///   - text: The address.
    ///   - isPublic: Whether secrets may cross a network in clear, so that the address need not be a loopback address.
    /// - Throws: The error in the text; report it with the place of the field.
    package init(parsing text: String, isPublic: Bool) throws(TextFault) {
        if text.hasPrefix("unix:") {
            guard case .local(let path) = try MetricsPlace(parsing: text, isPublic: false) else {
                preconditionFailure("not local")
            }
            self = .local(path: path)
            return
        }
        guard let address = SocketAddress(text) else {
            throw TextFault("\(Diagnostic.quoted(text)) is not an address with a port", hint: Self.form)
        }
        guard address.isLoopback || isPublic else {
            throw TextFault(
                "\(address.host) is not a loopback address, and without TLS others could read the clients' tokens and jobs",
                hint: "\(Self.form), and put a TLS proxy before it; or, on a network that you trust, add public: true")
        }
        self = .address(address)
    }

    /// Whether only programs on this host can connect.
    package var isOfThisHost: Bool {
        switch self {
        case .address(let address): address.isLoopback
        case .local: true
        }
    }

    /// The text in the configuration.
    package var description: String {
        switch self {
        case .address(let address): address.description
        case .local(let path): "unix:" + path
        }
    }
}
