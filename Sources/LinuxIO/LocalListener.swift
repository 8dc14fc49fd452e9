import CLinux

/// A listening Unix domain socket (unix(7)) on a reactor. Releasing it also removes its name.
package final class LocalListener: ListeningSocket {
    /// The maximum length of the path in bytes, given by the size of `sun_path` in clients.
    package static let pathByteLimit = 107

    private let socket: LocalSocket

    /// Starts accepting connections to a socket.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package init(_ socket: LocalSocket, on reactor: Reactor) throws(SystemError) {
        self.socket = socket
        try super.init(try socket.descriptor.duplicate(), as: socket.path, on: reactor)
    }

    /// Binds and listens, as `LocalSocket.init(at:for:)`.
    ///
    /// - Parameters:
    ///   - path: absolute, in an existing folder.
    ///   - mode: the permission bits; connecting requires write permission.
    ///   - reactor: the caller must run on it.
    /// - Throws: `SystemError`, as there; no descriptor left to watch it.
    package convenience init(at path: String, mode: UInt32, reactor: Reactor) throws(SystemError) {
        try self.init(try LocalSocket(at: path, for: LocalSocket.Access(mode: mode)), on: reactor)
    }

    deinit {
        socket.removeName()
    }

    /// Connects to a local socket, for clients.
    ///
    /// - Throws: `SystemError`: ENOENT, ECONNREFUSED (no process listens), EACCES, EAGAIN (the backlog is full).
    package static func connect(to path: String, on reactor: Reactor) throws(SystemError) -> sending StreamSocket {
        let number = clinux_stream_socket(AF_UNIX)
        guard number >= 0 else { throw .last("socket", path) }
        let descriptor = Descriptor(adopting: number)
        guard unsafe clinux_connect_local(number, path) == 0 else { throw .last("connect", path) }
        return try StreamSocket(adopting: descriptor, on: reactor)
    }
}
