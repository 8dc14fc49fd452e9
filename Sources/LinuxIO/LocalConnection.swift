import CLinux
import Glibc

/// A blocking connection to a Unix domain socket, for programs without a reactor.
package final class LocalConnection {
    private let descriptor: Descriptor
    private let path: String

    /// Connects to the socket `name` in `folder`.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - folder: the path of its folder.
    ///   - patience: how long the listening process may take to accept a connection or bytes, in seconds.
    /// - Throws: `SystemError`: ENOENT or ECONNREFUSED if no process listens there, EACCES without permission, ETIMEDOUT
    ///   if the process accepts no connections.
    package init(_ name: String, in folder: String, patience: Int32 = 30) throws(SystemError) {
        let directory = try Directory.open(path: folder)
        let number = clinux_waiting_local_socket(patience)
        guard number >= 0 else { throw .last("socket") }
        descriptor = Descriptor(adopting: number)
        path = folder + "/" + name
        let place = directory.localPath(of: Array(name.utf8))
        // The path may lead through the directory's own descriptor, which must stay open.
        let code = withExtendedLifetime(directory) {
            uninterrupted { unsafe clinux_connect_local(number, place) }
        }
        guard code == 0 else { throw Self.fault("connect", path) }
    }

    /// The error in errno, which is EAGAIN when the patience is over.
    private static func fault(_ operation: String, _ path: String) -> SystemError {
        errno == EAGAIN ? .timedOut(operation, path) : .last(operation, path)
    }

    /// The listening process.
    package var peer: PeerProcess? { PeerProcess(descriptor.rawValue) }

    /// Writes all bytes.
    ///
    /// - Throws: `SystemError`: the peer has closed the connection, or does not read (ETIMEDOUT).
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe send(
                    descriptor.rawValue, $0.baseAddress?.advanced(by: offset), $0.count - offset, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.fault("send", path) }
            offset += count
        }
    }

    /// Reads the available bytes, or waits for the first ones. Returns an empty array at the end of the stream.
    ///
    /// - Parameter limit: How long to wait.
    /// - Returns: The bytes.
    /// - Throws: `SystemError`: the connection is broken, or no bytes arrived in time (ETIMEDOUT).
    package func read(within limit: Duration) throws(SystemError) -> [UInt8] {
        let deadline = ContinuousClock.now + limit
        while true {
            let rest = max(.zero, ContinuousClock.now.duration(to: deadline))
            let milliseconds = rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000
            let found = clinux_wait_readable_until(descriptor.rawValue, Int32(clamping: milliseconds + 1))
            if found < 0, errno == EINTR { continue }
            guard found >= 0 else { throw .last("poll", path) }
            guard found > 0 else { throw .timedOut("recv", path) }
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            let count = unsafe recv(descriptor.rawValue, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("recv", path) }
            return Array(buffer.prefix(count))
        }
    }
}
