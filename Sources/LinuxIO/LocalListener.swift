import CLinux
import Glibc

/// A listening local socket, a name in the file system (unix(7)), on a reactor. Letting it go closes it, and removes its name if
/// it has made that itself.
///
/// Belongs to one actor on the reactor, which alone may call it.
package final class LocalListener {
    /// How many bytes the path may have.
    package static let pathByteLimit = 107

    private let channel: Channel
    private let path: String
    private let isOwner: Bool

    /// Accepts what connects to a socket that listens already, whose name is somebody else's to remove.
    ///
    /// - Throws: `SystemError`: no descriptor left.
    package init(_ socket: LocalSocket, on reactor: Reactor) throws(SystemError) {
        path = socket.path
        isOwner = false
        channel = try Channel(try socket.descriptor.duplicate(), on: reactor)
    }

    /// Binds and listens. A name that a dead process has left is taken over; one that is listened on is not.
    ///
    /// - Parameters:
    ///   - path: absolute, in a folder that is there.
    ///   - mode: who may connect: those who may write.
    ///   - reactor: the caller must run on it.
    ///   - backlog: connections that may wait to be accepted.
    /// - Throws: `SystemError`: EADDRINUSE (somebody listens there, or it is no socket), ENOENT (no such folder), EACCES,
    ///   ENAMETOOLONG.
    package init(at path: String, mode: UInt32, reactor: Reactor, backlog: Int = 128) throws(SystemError) {
        let number = clinux_stream_socket(AF_UNIX)
        guard number >= 0 else { throw .last("socket", path) }
        let descriptor = Descriptor(adopting: number)
        try Self.removeLeftover(path)
        guard unsafe clinux_bind_local(number, path) == 0 else { throw .last("bind", path) }
        guard unsafe chmod(path, mode_t(mode)) == 0 else { throw .last("chmod", path) }
        guard listen(number, Int32(clamping: backlog)) == 0 else { throw .last("listen", path) }
        self.path = path
        isOwner = true
        channel = try Channel(descriptor, on: reactor)
    }

    deinit {
        // If it is gone already, it was to go.
        if isOwner { _ = unsafe unlink(path) }
    }

    /// Where `accept` waits; wake it to have `accept` return `nil`.
    package var waiter: Waiter { channel.waiter }

    /// Waits for the next connection.
    ///
    /// - Returns: the connected socket; `nil` after `waiter.wake()`, or at the deadline.
    /// - Throws: as `Listener.accept`.
    package func accept(until deadline: ContinuousClock.Instant? = nil) async throws -> sending StreamSocket? {
        try await channel.accept(as: path, until: deadline)
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

    /// Removes a name that a socket had on which nobody listens any more.
    private static func removeLeftover(_ path: String) throws(SystemError) {
        var raw = stat()
        guard unsafe lstat(path, &raw) == 0, FileStatus(raw).kind == .socket else { return }
        let number = clinux_stream_socket(AF_UNIX)
        guard number >= 0 else { throw .last("socket", path) }
        let probe = Descriptor(adopting: number)
        let code = unsafe clinux_connect_local(probe.rawValue, path) == 0 ? 0 : errno
        guard code == ECONNREFUSED else { return }
        guard unsafe unlink(path) == 0 else { throw .last("unlink", path) }
    }
}
