package import LinuxIO
package import OpenSSL

extension SecureStream {
    /// Performs the handshake until this side may write.
    ///
    /// With TLS 1.3 the server may still refuse this side's certificate: see `awaitConfirmation(until:)`.
    ///
    /// - Throws: `TLSError` if the two sides cannot agree; the peer has been told. `SystemError` if the connection
    ///   broke or the deadline passed (`isTimeOut`). `CancellationError`. The stream cannot be used afterwards.
    package func handshake(until deadline: ContinuousClock.Instant) async throws {
        while true {
            let step = try advanceHandshake()
            guard case .wait(let interest) = step else {
                if step == .done { return }
                continue
            }
            let found = await waiter.wait(for: interest, until: deadline)
            try end(if: found, during: "TLS handshake")
        }
    }

    private enum HandshakeStep: Equatable {
        case done, again
        case wait(for: Readiness)
    }

    /// Advances the handshake as far as possible without waiting.
    private func advanceHandshake() throws -> HandshakeStep {
        let state: HandshakeState
        do throws(TLSError) {
            state = try engine.handshake()
        } catch {
            flushGoodbye()
            throw error
        }
        let isFlushed = try flush()
        if state == .complete && isFlushed { return .done }
        if try state == .wantsPeer && receive() { return .again }
        return .wait(for: needed.union(state == .wantsPeer ? .readable : []))
    }

    /// Waits, after `handshake`, for the server's confirmation that it accepted this side's certificate.
    ///
    /// Bytes that arrive in the meantime, and the end of the stream, are kept for the next read.
    ///
    /// - Returns: Whether acceptance is proven: by a session ticket, or because the version is TLS 1.2 and the
    ///   handshake proved it. `false` means not yet: the deadline passed, the stream ended, bytes arrived, or the owner
    ///   was woken.
    /// - Throws: `TLSError`: `isOwnCertificateRefused`, or another failure; `SystemError`; `CancellationError`.
    package func awaitConfirmation(until deadline: ContinuousClock.Instant) async throws -> Bool {
        while true {
            switch try readEarly() {
            case .bytes: return isConsentProven
            case .closed: return false
            case .wouldBlock: break
            }
            if isConsentProven { return true }
            let found = await waiter.wait(for: .readable, until: deadline)
            if found.contains(.cancelled) { throw CancellationError() }
            if found.contains(.timedOut) { return false }
            if found.contains(.woken) {
                wake()
                return false
            }
        }
    }

    private var isConsentProven: Bool { engine.version == .tls12 || hasReceivedSessionTicket }

    /// Sends the alert that reports the error, as far as the kernel takes it without waiting.
    private func flushGoodbye() {
        do throws(SystemError) {
            _ = try flush()
        } catch {
            // The connection is already broken. The caller throws the reason for the alert, which is more specific.
            return
        }
    }

    private func end(if found: Readiness, during operation: String) throws {
        if found.contains(.cancelled) { throw CancellationError() }
        if found.contains(.timedOut) {
            throw SystemError.timedOut(operation, peerAddress?.description ?? "socket pair")
        }
    }
}

/// The address to connect to, and the identity to expect there.
package struct SecureEndpoint: Sendable {
    /// Host and port of the connection.
    package let host: HostPort
    /// The name that the server's certificate must be for. Also sent as SNI.
    package let serverName: String
    /// The identity, trust and options.
    package let context: TLSContext
    /// The proxy to connect through; `nil` to connect directly.
    package var proxy: Proxy?
    /// How long written bytes may stay unacknowledged before the kernel breaks the connection (TCP_USER_TIMEOUT,
    /// tcp(7)).
    package var writeTimeout = Duration.seconds(20)

    /// Creates an endpoint from its parts.
    ///
    /// - Parameters:
    ///   - host: The address to connect to.
    ///   - serverName: The name of the server; `nil` to use the host's name.
    ///   - context: A client context.
    package init(host: HostPort, serverName: String? = nil, context: TLSContext) {
        self.host = host
        self.serverName = serverName ?? host.host
        self.context = context
    }
}

extension SecureStream {
    /// Looks up the host, connects (TCP_NODELAY, keepalive, TCP_USER_TIMEOUT) and performs the handshake, all before
    /// one deadline.
    ///
    /// With a proxy, looks up and connects to the proxy; the proxy looks up the host.
    ///
    /// - Parameters:
    ///   - endpoint: The address and the identity to use.
    ///   - reactor: The reactor of the stream; the caller must run on it.
    ///   - deadline: The deadline for all steps together.
    /// - Returns: A stream that may write.
    /// - Throws: `LookupError`, `ConnectError`, `ProxyError` or `SystemError` if the network fails: try again later.
    ///   `TLSError`: try again if its `mayPassOnRetry` says so. `CancellationError`.
    package static func connect(
        to endpoint: SecureEndpoint, on reactor: Reactor, until deadline: ContinuousClock.Instant
    ) async throws -> sending SecureStream {
        let next = endpoint.proxy?.address ?? endpoint.host
        let addresses = try await AddressLookup.addresses(of: next, on: reactor, until: deadline)
        let socket = try await StreamSocket.connect(toAnyOf: addresses, on: reactor, until: deadline)
        try socket.setNoDelay()
        try socket.setKeepAlive()
        try socket.setUserTimeout(endpoint.writeTimeout)
        var arrived: [UInt8] = []
        if let proxy = endpoint.proxy {
            arrived = try await ProxyConnect.open(endpoint.host, through: proxy, over: socket, until: deadline)
        }
        let stream = try SecureStream(
            connecting: socket, context: endpoint.context, serverName: endpoint.serverName)
        stream.engine.receive(arrived.span)
        try await stream.handshake(until: deadline)
        return stream
    }
}
