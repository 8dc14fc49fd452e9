import CLinux
import Glibc

/// A connected, non-blocking stream socket on a reactor. Closes the socket on deinit.
///
/// Belongs to one actor on the reactor. Only that actor may call it. Writing to a closed connection throws an error and
/// never raises a signal.
package final class StreamSocket {
    let channel: Channel
    /// The peer's address; `nil` for a socket pair.
    package let peerAddress: SocketAddress?

    /// Takes over a connected socket and makes it non-blocking.
    ///
    /// - Throws: `SystemError`: no room in the kernel's tables. The descriptor is closed then.
    package init(adopting descriptor: consuming Descriptor, on reactor: Reactor) throws(SystemError) {
        let number = descriptor.rawValue
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0 else { throw .last("fcntl") }
        peerAddress = unsafe SocketAddress.asked { unsafe getpeername(number, $0, $1) }
        channel = try Channel(descriptor, on: reactor)
    }

    /// The socket's reactor.
    package var reactor: Reactor { channel.waiter.reactor }

    /// Where to wait for the socket and to be woken.
    package var waiter: Waiter { channel.waiter }

    /// Reads into `buffer`, overwriting its content, up to its count, which must not be 0. After a read that emptied the socket,
    /// costs no system call until the reactor has heard of more.
    ///
    /// - Throws: `SystemError`: the connection is broken (ECONNRESET, ETIMEDOUT …). All bytes that arrived before have
    ///   been read.
    package func read(into buffer: inout [UInt8]) throws(SystemError) -> ReadResult {
        precondition(!buffer.isEmpty, "reading needs room")
        if channel.waiter.isDrained { return .wouldBlock }
        while true {
            let count = unsafe recv(channel.descriptor.rawValue, &buffer, buffer.count, 0)
            if count > 0 {
                // A short read has emptied the socket. Bytes that arrive later cause a new edge.
                if count < buffer.count { channel.waiter.noteShortRead() }
                return .bytes(count)
            }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            guard errno == EAGAIN else { throw .last("recv", subject) }
            channel.waiter.noteExhausted(.readable)
            return .wouldBlock
        }
    }

    /// Reads at most 64 KiB into a buffer that the reactor's sockets share, and passes the bytes, if any, to `body`.
    ///
    /// - Throws: `SystemError`, as `read(into:)` does.
    package func read(_ body: (Span<UInt8>) -> Void) throws(SystemError) -> ReadResult {
        let result = try read(into: &reactor.loop.arriving)
        if case .bytes(let count) = result {
            let bytes = reactor.loop.arriving
            body(bytes.span.extracting(..<count))
        }
        return result
    }

    /// Writes all bytes.
    ///
    /// - Returns: Whether it did; `false` at the deadline, and if the task was cancelled.
    /// - Throws: `SystemError`, as `write` does.
    package func writeAll(_ bytes: [UInt8], until deadline: ContinuousClock.Instant) async throws(SystemError) -> Bool {
        var count = 0
        while count < bytes.count {
            switch try write(bytes.span.extracting(count...)) {
            case .bytes(let more): count += more
            case .wouldBlock:
                let found = await waiter.wait(for: .writable, until: deadline)
                guard found.isDisjoint(with: [.cancelled, .timedOut]) else { return false }
            }
        }
        return true
    }

    /// Writes as much of `bytes` as the kernel accepts now; an empty span returns `.bytes(0)`.
    ///
    /// - Throws: `SystemError`: the connection is broken (EPIPE, ECONNRESET, ETIMEDOUT …). Bytes that the peer sent
    ///   before may still be readable.
    package func write(_ bytes: Span<UInt8>) throws(SystemError) -> WriteResult {
        guard !bytes.isEmpty else { return .bytes(0) }
        while true {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe send(channel.descriptor.rawValue, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                if count < bytes.count { channel.waiter.noteExhausted(.writable) }
                return .bytes(count)
            }
            if errno == EINTR { continue }
            guard errno == EAGAIN else { throw .last("send", subject) }
            channel.waiter.noteExhausted(.writable)
            return .wouldBlock
        }
    }

    /// Ends the outgoing stream: the peer sees its end after reading all bytes. Does nothing on a dead connection.
    package func shutdownWrite() {
        // Fails only with ENOTCONN, if the connection is already gone and there is nothing to end.
        _ = shutdown(channel.descriptor.rawValue, Int32(SHUT_WR))
    }

    /// Resets the connection at once: the peer gets ECONNRESET, and bytes it has not read may be lost. Afterwards the
    /// socket is unusable. A socket pair is shut down normally instead.
    package func abort() {
        let setting = linger(l_onoff: 1, l_linger: 0)
        // Neither call can fail on a TCP socket. The first makes a later close reset the connection. The second
        // connects to AF_UNSPEC, which resets it without waiting for the close (tcp(7), connect(2)).
        _ = unsafe withUnsafeBytes(of: setting) { bytes in
            unsafe setsockopt(
                channel.descriptor.rawValue, SOL_SOCKET, SO_LINGER, bytes.baseAddress, socklen_t(bytes.count))
        }
        if clinux_disconnect(channel.descriptor.rawValue) != 0 {
            _ = shutdown(channel.descriptor.rawValue, Int32(SHUT_RDWR))
        }
    }

    /// How many written bytes the peer's kernel has not acknowledged (SIOCOUTQ). After `shutdownWrite()` it is one
    /// more, for the end of the stream. Keeps its value after a reset by the peer; meaningless after `abort()`.
    package var unacknowledgedByteCount: Int {
        var count: Int32 = 0
        let code = unsafe clinux_unacknowledged(channel.descriptor.rawValue, &count)
        precondition(code == 0, "SIOCOUTQ is answered by every TCP socket")
        return Int(count)
    }

    private var subject: String { peerAddress?.description ?? "socket pair" }
}

/// The result of a non-blocking read.
package enum ReadResult: Sendable, Hashable {
    /// Bytes were read, at least 1, to the start of the buffer.
    case bytes(Int)
    /// No bytes available: wait for `.readable`.
    case wouldBlock
    /// The peer has ended its stream.
    case closed
}

/// The result of a non-blocking write.
package enum WriteResult: Sendable, Hashable {
    /// The kernel accepted this many bytes. If fewer than given, wait for `.writable`.
    case bytes(Int)
    /// The kernel accepted none: wait for `.writable`.
    case wouldBlock
}
