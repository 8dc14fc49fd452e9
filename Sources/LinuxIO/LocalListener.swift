import CLinux

/// A listening Unix domain socket (unix(7)) on a reactor. Releasing it closes the socket and removes its name.
///
/// Belongs to one actor on the reactor. Only that actor may call it.
package final class LocalListener {
    /// The maximum length of the path in bytes, given by the size of `sun_path` in clients.
    package static let pathByteLimit = 107

    private let channel: Channel
    private let socket: LocalSocket

    /// Starts accepting connections to a socket.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package init(_ socket: LocalSocket, on reactor: Reactor) throws(SystemError) {
        self.socket = socket
        channel = try Channel(try socket.descriptor.duplicate(), on: reactor)
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

    /// Where `accept` waits. Wake it to make `accept` return `nil`.
    package var waiter: Waiter { channel.waiter }

    /// Waits for the next connection.
    ///
    /// - Returns: the connected socket; `nil` after `waiter.wake()`, or at the deadline.
    /// - Throws: as `Listener.accept`.
    package func accept(until deadline: ContinuousClock.Instant? = nil) async throws -> sending StreamSocket? {
        try await channel.accept(as: socket.path, until: deadline)
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
