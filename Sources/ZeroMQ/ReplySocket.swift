package import LinuxIO

/// A ZeroMQ socket on a reactor that replies to clients of type REQ.
///
/// Belongs to one actor on the reactor. Only that actor may call it. A thread of libzmq accepts the clients and reads
/// their requests in advance; `receive()` takes turns between the clients.
///
/// It is of type ROUTER, which speaks to REQ as REP does, but leaves the return paths to its owner. So several clients'
/// requests can be worked on together, and replied to in any order. REP takes one at a time, and libzmq 4.3 loses the
/// reply to it after a malformed request of a client that has gone.
///
/// Call `receive()` until it returns `nil`, and only then `wait(until:)`. libzmq makes its descriptor (ZMQ_FD) readable
/// once when it has news for this thread, and any call may take that news away, also `send(_:to:)`; so after a reply
/// ask `receive()` again, which looks at the socket's state (ZMQ_EVENTS) itself.
///
/// libzmq limits neither the number of clients nor that of a request's parts, and understands clients without a handshake
/// (ZMTP 1.0). When the process has no descriptor left for another client, the thread of libzmq 4.3 uses all of a processor
/// (TCP), or ends the process (local sockets). Bind to a loopback address, or to a local socket whose permissions keep
/// strangers out.
package final class ReplySocket {
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
        if let path = try Endpoint.path(in: endpoint) {
            let socket = try Endpoint.listen(at: path, for: options.access)
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

    /// Closes the socket. Blocks until the last replies have been written to the network, at most for `Options.linger`.
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

    /// Takes the next request. Clients may send faster than their requests can be taken, so let other tasks run in between.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: `ReplySocketError`: ENOMEM.
    package func receive() throws(ReplySocketError) -> ReplyRequest? {
        try handle.receive().map(ReplyRequest.init)
    }

    /// What became of a reply.
    package enum Delivery: Hashable, Sendable {
        /// It is on its way, but the connection may end before it arrives.
        case sent
        /// The client is not connected any more.
        case gone
        /// As many replies wait for the client as may.
        case full
    }

    /// Sends the reply to a request. Does not wait for the client.
    ///
    /// - Throws: `ReplySocketError`: ENOMEM.
    package func send(_ reply: [UInt8], to path: ReplyRequest.ReturnPath) throws(ReplySocketError) -> Delivery {
        try handle.send(path.parts + [reply])
    }
}
