import Glibc
import LinuxIO

/// Checks endpoints, and makes their local sockets: libzmq would remove any file at the path, also a socket in use.
enum Endpoint {
    private static let scheme = "ipc://"

    /// Returns the path of an endpoint; `nil` if it is one of TCP.
    ///
    /// - Throws: `ReplySocketError` with EINVAL if it is neither, or the path is relative or too long.
    static func path(in endpoint: String) throws(ReplySocketError) -> String? {
        if endpoint.hasPrefix("tcp://") {
            guard hasPort(endpoint) else { throw .badEndpoint(endpoint) }
            return nil
        }
        let path = String(endpoint.dropFirst(scheme.count))
        let isUsable = path.hasPrefix("/") && !path.hasSuffix("/") && path.utf8.count <= LocalListener.pathByteLimit
        guard endpoint.hasPrefix(scheme), isUsable, !path.utf8.contains(0) else { throw .badEndpoint(endpoint) }
        return path
    }

    /// Whether an endpoint ends with a port or `*`. libzmq would take 65537 for 1.
    private static func hasPort(_ endpoint: String) -> Bool {
        let port = endpoint.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
        return port == "*" || port.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(port) != nil
    }

    /// Listens at a path.
    static func listen(at path: String, for access: LocalSocket.Access) throws(ReplySocketError) -> LocalSocket {
        try ReplySocketError.wrapping { () throws(SystemError) in try LocalSocket(at: path, for: access) }
    }
}
