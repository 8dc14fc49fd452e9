import CLinux
import Glibc

/// One connected stream socket, non-blocking, on a reactor. Closes when it goes.
///
/// Belongs to one actor on the reactor, which alone may call it. Writing to a closed connection is an error, never a
/// signal.
package final class StreamSocket {
    let channel: Channel
    /// The other end; `nil` for a socket pair.
    package let peerAddress: SocketAddress?

    /// Takes over a connected socket, which becomes non-blocking.
    ///
    /// - Throws: `SystemError`: no room in the kernel's tables; the descriptor is closed then.
    package init(adopting descriptor: consuming Descriptor, on reactor: Reactor) throws(SystemError) {
        let number = descriptor.rawValue
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0 else { throw .last("fcntl") }
        peerAddress = unsafe SocketAddress.asked { unsafe getpeername(number, $0, $1) }
        channel = try Channel(descriptor, on: reactor)
    }

    /// The reactor on whose thread it lives.
    package var reactor: Reactor { channel.waiter.reactor }

    /// Where to wait for it and to be woken.
    package var waiter: Waiter { channel.waiter }

    /// This end's address; `nil` for a socket pair.
    package var localAddress: SocketAddress? {
        unsafe SocketAddress.asked { unsafe getsockname(channel.descriptor.rawValue, $0, $1) }
    }

    /// Reads into `buffer`, over what is in it, up to its count, which must not be 0.
    ///
    /// - Throws: `SystemError`: the connection is broken (ECONNRESET, ETIMEDOUT …); all that arrived has been read.
    package func read(into buffer: inout [UInt8]) throws(SystemError) -> ReadResult {
        precondition(!buffer.isEmpty, "reading needs room")
        while true {
            let count = unsafe recv(channel.descriptor.rawValue, &buffer, buffer.count, 0)
            if count > 0 {
                // A short read has emptied the socket; what comes later is an edge of its own.
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

    /// Writes as much of `bytes` as the kernel takes now; an empty span is `.bytes(0)`.
    ///
    /// - Throws: `SystemError`: the connection is broken (EPIPE, ECONNRESET, ETIMEDOUT …). What the peer sent before may
    ///   still wait to be read.
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

    /// Ends this side's stream: the peer reads its end once it has read all. Does nothing on a dead connection.
    package func shutdownWrite() {
        // Fails with ENOTCONN only, when the connection is gone already: then there is nothing to end.
        _ = shutdown(channel.descriptor.rawValue, Int32(SHUT_WR))
    }

    /// Resets the connection at once: the peer sees ECONNRESET, and what it has not read may be lost. The socket is
    /// unusable then; a socket pair ends in good order instead.
    package func abort() {
        let setting = linger(l_onoff: 1, l_linger: 0)
        // Neither call can fail on a TCP socket. The first makes a close reset; the second, connecting to nothing,
        // resets without waiting for the close (tcp(7), connect(2)).
        _ = unsafe withUnsafeBytes(of: setting) { bytes in
            unsafe setsockopt(
                channel.descriptor.rawValue, SOL_SOCKET, SO_LINGER, bytes.baseAddress, socklen_t(bytes.count))
        }
        if clinux_disconnect(channel.descriptor.rawValue) != 0 {
            _ = shutdown(channel.descriptor.rawValue, Int32(SHUT_RDWR))
        }
    }

    /// The bytes written that the peer's kernel has not acknowledged (SIOCOUTQ); after `shutdownWrite()` one more, for
    /// the end of the stream. Stays as it was when the peer resets the connection; says nothing after `abort()`.
    package var unacknowledgedByteCount: Int {
        var count: Int32 = 0
        let code = unsafe clinux_unacknowledged(channel.descriptor.rawValue, &count)
        precondition(code == 0, "SIOCOUTQ is answered by every TCP socket")
        return Int(count)
    }

    /// The error that has broken the connection and that no call has told yet; telling clears it.
    package func takePendingError() -> SystemError? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(channel.descriptor.rawValue, SOL_SOCKET, SO_ERROR, &code, &length)
        guard result == 0, code != 0 else { return nil }
        return SystemError(code: code, operation: "connection", subject: subject)
    }

    private var subject: String { peerAddress?.description ?? "socket pair" }
}

/// What a non-blocking read found.
package enum ReadResult: Sendable, Hashable {
    /// So many bytes, at least 1, at the start of the buffer.
    case bytes(Int)
    /// Nothing now: wait for `.readable`.
    case wouldBlock
    /// The peer has ended its stream.
    case closed
}

/// What a non-blocking write did.
package enum WriteResult: Sendable, Hashable {
    /// The kernel took so many bytes; if fewer than given, wait for `.writable`.
    case bytes(Int)
    /// It took none: wait for `.writable`.
    case wouldBlock
}
