import CLinux
import Glibc

/// A listening local socket, a name in the file system (unix(7)), on a reactor. Letting it go closes it and removes its name.
///
/// Belongs to one actor on the reactor, which alone may call it.
package final class LocalListener {
    /// How many bytes the path may have: what connects to it has no more room.
    package static let pathByteLimit = 107

    private let channel: Channel
    private let socket: LocalSocket

    /// Accepts what connects to a socket.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package init(_ socket: LocalSocket, on reactor: Reactor) throws(SystemError) {
        self.socket = socket
        channel = try Channel(try socket.descriptor.duplicate(), on: reactor)
    }

    /// Binds and listens. A name that a dead process has left is taken over; one that is listened on is not.
    ///
    /// - Parameters:
    ///   - path: absolute, in a folder that is there.
    ///   - mode: who may connect: those who may write.
    ///   - reactor: the caller must run on it.
    /// - Throws: `SystemError`: EADDRINUSE (somebody listens there, or it is no socket), ENOENT (no such folder), EACCES,
    ///   ENAMETOOLONG.
    package convenience init(at path: String, mode: UInt32, reactor: Reactor) throws(SystemError) {
        guard path.utf8.count <= Self.pathByteLimit else {
            throw SystemError(code: ENAMETOOLONG, operation: "bind", subject: path)
        }
        let bytes = Array(path.utf8)
        let name = Array(bytes[((bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...])
        let folder = String(decoding: bytes.dropLast(name.count + 1), as: UTF8.self)
        let directory = try Directory.open(path: folder.isEmpty ? "/" : folder)
        try LocalSocket.removeLeftover(name, in: directory)
        try self.init(try LocalSocket(name, in: directory, for: LocalSocket.Access(mode: mode)), on: reactor)
    }

    deinit {
        socket.removeName()
    }

    /// Where `accept` waits; wake it to have `accept` return `nil`.
    package var waiter: Waiter { channel.waiter }

    /// Waits for the next connection.
    ///
    /// - Returns: the connected socket; `nil` after `waiter.wake()`, or at the deadline.
    /// - Throws: as `Listener.accept`.
    package func accept(until deadline: ContinuousClock.Instant? = nil) async throws -> sending StreamSocket? {
        try await channel.accept(as: socket.path, until: deadline)
    }

    /// Connects to a local socket: for those who ask.
    ///
    /// - Throws: `SystemError`: ENOENT, ECONNREFUSED (nobody listens), EACCES, EAGAIN (too many wait).
    package static func connect(to path: String, on reactor: Reactor) throws(SystemError) -> sending StreamSocket {
        let number = clinux_stream_socket(AF_UNIX)
        guard number >= 0 else { throw .last("socket", path) }
        let descriptor = Descriptor(adopting: number)
        guard unsafe clinux_connect_local(number, path) == 0 else { throw .last("connect", path) }
        return try StreamSocket(adopting: descriptor, on: reactor)
    }
}
