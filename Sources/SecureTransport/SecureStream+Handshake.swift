package import LinuxIO
package import OpenSSL

extension SecureStream {
    /// Does the handshake, to the point where this side may write.
    ///
    /// With TLS 1.3 the server may still refuse this side's certificate: see `awaitConfirmation(until:)`.
    ///
    /// - Throws: `TLSError`: the two cannot agree, and the peer has been told; `SystemError`: the connection is broken,
    ///   or the deadline passed (`isTimeOut`); `CancellationError`. The stream is of no further use.
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

    /// Does what can be done of the handshake without waiting.
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

    /// Waits, after `handshake`, for the server's word that it took this side's certificate.
    ///
    /// Bytes that come meanwhile are kept for the next read, and so is the end of the stream.
    ///
    /// - Returns: whether the server's consent is proven: by a session ticket, or because the version is TLS 1.2 and
    ///   the handshake proved it. `false` means not yet: the deadline passed, the stream ended, bytes came, or the owner was woken.
    /// - Throws: `TLSError`: `isOwnCertificateRefused`, or another fault; `SystemError`; `CancellationError`.
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

    /// Sends the alert that says why, as far as the kernel takes it at once.
    private func flushGoodbye() {
        do throws(SystemError) {
            _ = try flush()
        } catch {
            // The connection is broken already; the caller throws the reason for the alert, which says more.
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

/// Where to connect to, and how to know that it is the right place.
package struct SecureEndpoint: Sendable {
    /// Host and port of the connection.
    package let host: HostPort
    /// The name that the server's certificate must be for, and that is asked for (SNI).
    package let serverName: String
    /// Identity, trust and options.
    package let context: TLSContext
    /// What the connection goes through; `nil`: straight to the host.
    package var proxy: Proxy?
    /// How long the peer may leave bytes unacknowledged before the kernel breaks the connection (TCP_USER_TIMEOUT, tcp(7)).
    package var writeTimeout = Duration.seconds(20)

    /// An endpoint from its parts.
    ///
    /// - Parameters:
    ///   - host: where to connect.
    ///   - serverName: `nil` if it is the host's name.
    ///   - context: a client's context.
    package init(host: HostPort, serverName: String? = nil, context: TLSContext) {
        self.host = host
        self.serverName = serverName ?? host.host
        self.context = context
    }
}

extension SecureStream {
    /// Looks up, connects (TCP_NODELAY, keepalive, TCP_USER_TIMEOUT) and does the handshake, all before one deadline.
    ///
    /// Through a proxy it is the proxy that is looked up and connected to; the proxy looks up the host.
    ///
    /// - Parameters:
    ///   - endpoint: where, and with which identity.
    ///   - reactor: where the stream will live; the caller must run on it.
    ///   - deadline: for all of it together.
    /// - Returns: a stream that may write.
    /// - Throws: `LookupError`, `ConnectError`, `ProxyError`, `SystemError`: the network is at fault, try later;
    ///   `TLSError`: its `mayPassOnRetry` says; `CancellationError`.
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
