package import LinuxIO

/// A ZeroMQ socket of type REP on a reactor: one request at a time, and one reply to each (zmq_socket(3)).
///
/// Belongs to one actor on the reactor. Only that actor may call it. A thread of libzmq accepts the clients and reads
/// their requests in advance; the socket takes turns between the clients.
///
/// Call `receive()` until it returns `nil`, send a reply to each request, and only then `wait(until:)`. libzmq makes its
/// descriptor (ZMQ_FD) readable once when it has news for this thread, and any call may take that news away, also
/// `send(_:)`; so after a reply ask `receive()` again, which looks at the socket's state (ZMQ_EVENTS) itself.
///
/// libzmq limits neither the number of clients nor that of a request's parts, and understands clients without a handshake
/// (ZMTP 1.0). Bind to a loopback address, or to a local socket whose permissions keep strangers out.
package final class ReplySocket {
    /// What `receive()` took. Each needs a reply.
    package enum Request: Hashable, Sendable {
        /// A request of one part: its bytes.
        case whole([UInt8])
        /// A request of several parts, which are dropped: to join them could make a request that nobody wrote.
        case multipart
    }

    private let handle: SocketHandle
    /// A copy of libzmq's descriptor; libzmq closes its own.
    private let channel: Channel
    /// The local socket of an `ipc://` endpoint.
    private let localSocket: LocalSocket?
    /// The endpoint that it is bound to: with the port that the kernel chose, if 0 or `*` was given.
    package let endpoint: String

    /// Binds a socket.
    ///
    /// - Parameters:
    ///   - endpoint: `tcp://ADDRESS:PORT`, the address in numbers, an IPv6 address in brackets, `*` for all addresses, 0
    ///     or `*` for any free port; or `ipc://` and an absolute path. A socket that a dead process has left at that path
    ///     is replaced, but neither a file nor a socket on which a process listens.
    ///   - options: The limits.
    ///   - reactor: The caller must run on it.
    /// - Throws: `ReplySocketError`: EADDRINUSE, EACCES, EADDRNOTAVAIL, ENODEV (the name of a host), EINVAL (not an
    ///   endpoint), ENOENT (no such folder), EMFILE. Show it, and try again when its hint has been followed.
    package init(
        on endpoint: String, options: Options = Options(), reactor: Reactor
    ) throws(ReplySocketError) {
        let handle = try SocketHandle.open(options)
        if let path = try LocalEndpoint.path(in: endpoint) {
            let socket = try LocalEndpoint.listen(at: path, for: options.access)
            try handle.bind(to: endpoint, over: socket)
            (localSocket, self.endpoint) = (socket, endpoint)
        } else {
            (localSocket, self.endpoint) = (nil, try handle.bind(to: endpoint))
        }
        channel = try ReplySocketError.wrapping { () throws(SystemError) in
            try Channel(try handle.duplicateDescriptor(), on: reactor)
        }
        self.handle = handle
    }

    /// Closes the socket. Blocks until the last reply has been written to the network, at most for `Options.linger`.
    deinit {
        localSocket?.removeName()
    }

    /// Where `wait(until:)` waits. Wake it to make it return.
    package var waiter: Waiter { channel.waiter }

    /// Waits for news from libzmq. Returns at once if some came since the last wait, and sometimes without a cause:
    /// `receive()` tells whether there is a request.
    ///
    /// - Returns: As `Waiter.wait`.
    package func wait(until deadline: ContinuousClock.Instant? = nil) async -> Readiness {
        await channel.waitForNews(until: deadline)
    }

    /// Takes the next request. The one before must have its reply.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: `ReplySocketError`: ENOMEM, or EFSM if the request before has no reply, which is a mistake of the caller.
    package func receive() throws(ReplySocketError) -> Request? { try handle.receive() }

    /// Replies to the request that was received last. Does not wait for the client: a reply to one that has gone, or that
    /// reads nothing, is dropped.
    ///
    /// - Throws: `ReplySocketError`: ENOMEM, or EFSM if there is no request to reply to, which is a mistake of the caller.
    package func send(_ reply: [UInt8]) throws(ReplySocketError) { try handle.send(reply) }
}
