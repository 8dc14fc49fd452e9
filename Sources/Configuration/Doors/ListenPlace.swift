package import Document
package import LinuxIO
import ServiceProcess

/// Where a door listens: on a TCP address or a local socket.
package enum ListenPlace: Hashable, Sendable, CustomStringConvertible {
    /// A TCP address.
    case address(SocketAddress)
    /// A local socket; members of the door's group may connect.
    case local(path: String)

    /// Parses `127.0.0.1:8088`, `[::1]:8088` or `unix:/run/pushspool-door/http.sock`.
    ///
    /// - Throws: The error in the text; report it with the place of the field.
    package init(parsing text: String) throws(TextFault) {
        if text.hasPrefix("unix:") {
            guard case .local(let path) = try MetricsPlace(parsing: text) else { preconditionFailure("not local") }
            self = .local(path: path)
        } else if let address = SocketAddress(text) {
            self = .address(address)
        } else {
            throw TextFault(
                "\(Diagnostic.quoted(text)) is not an address with a port",
                hint: #"write 127.0.0.1:8088, "[::1]:8088" in quotes, or unix: and an absolute path"#)
        }
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
