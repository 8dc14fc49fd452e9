package import LinuxIO

extension ReplySocket {
    /// The limits of a socket.
    package struct Options: Hashable, Sendable {
        /// The longest part of a request, in bytes. A client that sends a longer one is disconnected, before it has sent
        /// it (ZMQ_MAXMSGSIZE).
        package var requestByteLimit = 5 << 20
        /// How many requests of one client are read in advance, at least 1 (ZMQ_RCVHWM). A client of type REQ sends the
        /// next one after the reply.
        package var waitingLimit = 16
        /// How many replies may wait for one client that does not read them (ZMQ_SNDHWM), at least 1. libzmq tells that a client
        /// has read some after half as many.
        package var replyLimit = 16
        /// How long a new client may take for the handshake before it is disconnected (ZMQ_HANDSHAKE_IVL).
        package var handshakeLimit = Duration.seconds(10)
        /// How long closing waits for a reply that the client does not read, in whole milliseconds (ZMQ_LINGER).
        package var linger = Duration.milliseconds(100)
        /// Who may connect to an `ipc://` endpoint.
        package var access = LocalSocket.Access()

        /// Creates the usual limits.
        package init() {}
    }
}
