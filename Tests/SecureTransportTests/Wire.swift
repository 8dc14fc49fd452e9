import LinuxIO
import OpenSSL
import SecureTransport
import TestSupport
import Testing

/// An authority made for one test, and what both sides need to know of it.
struct Wire: Sendable {
    let authority: CertificateAuthority
    let server: TLSContext
    let client: TLSContext

    /// A server for `localhost`, a client that trusts its authority, and for each whether it asks, or answers, for a
    /// client certificate.
    init(asksForCertificate: Bool = false, showsCertificate: Bool = true, options: TLSOptions = TLSOptions()) throws {
        authority = try CertificateAuthority()
        let pem = try authority.certificatePEM()
        server = try TLSContext.server(
            identity: authority.issue(.server(["localhost"])).credentials,
            clientAuthority: asksForCertificate ? pem : nil, requiresClientCertificate: asksForCertificate,
            options: options)
        let identity = try authority.issue(.client("tests")).credentials
        client = try TLSContext.client(
            identity: showsCertificate ? identity : nil, trust: .pem(pem), options: options)
    }

    /// Runs both sides on one reactor: `serve` with the accepted stream before its handshake, `use` with the client's.
    ///
    /// - Throws: what either throws.
    func run<Result: Sendable, Served: Sendable>(
        serve: @escaping @Sendable (SecureStream) async throws -> Served,
        use: @Sendable (SecureStream) async throws -> Result
    ) async throws -> (used: Result, served: Served) {
        try await onReactor { reactor in
            let (ports, port) = AsyncStream.makeStream(of: UInt16.self)
            async let served = ReactorHost(reactor).run { try await serve(accept(on: $0, announcing: port)) }
            var iterator = ports.makeAsyncIterator()
            let address = SocketAddress.loopback(port: try #require(await iterator.next()))
            let socket = try await StreamSocket.connect(to: address, on: reactor, until: .now + patience)
            let stream = try SecureStream(connecting: socket, context: client, serverName: "localhost")
            let used = try await use(stream)
            return (used, try await served)
        }
    }
}

extension Wire {
    /// Listens, says where, and accepts one connection.
    private func accept(
        on reactor: Reactor, announcing port: AsyncStream<UInt16>.Continuation
    ) async throws -> SecureStream {
        let listener = try Listener(on: .loopback(), reactor: reactor)
        port.yield(listener.address.port)
        let socket = try #require(try await listener.accept(until: .soon))
        return try SecureStream(accepting: socket, context: server)
    }
}

extension ContinuousClock.Instant {
    /// Long enough for anything that loopback does, on a machine however busy.
    static var soon: Self { .now + patience }
}

extension SecureStream {
    /// Writes all of `bytes` in pieces and flushes them, reading nothing.
    func send(_ bytes: [UInt8]) async throws {
        var offset = 0
        while offset < bytes.count || pendingByteCount > 0 {
            if pendingByteCount < 262_144 && offset < bytes.count {
                let end = min(bytes.count, offset + 100_000)
                try write(bytes.span.extracting(offset..<end))
                offset = end
            }
            if try flush() { continue }
            let found = await wait(for: [], until: .soon)
            if found.contains(.timedOut) { throw SystemError.timedOut("send") }
        }
    }

    /// Reads until the peer's stream ends, or until `count` bytes have come.
    func receive(upTo count: Int = .max, limit: Int = 65_536) async throws -> (bytes: [UInt8], isClean: Bool?) {
        var bytes: [UInt8] = []
        while bytes.count < count {
            switch try read(into: &bytes, limit: limit) {
            case .bytes: continue
            case .closed(let isClean): return (bytes, isClean)
            case .wouldBlock:
                let found = await wait(until: .soon)
                if found.contains(.timedOut) { throw SystemError.timedOut("receive") }
            }
        }
        return (bytes, nil)
    }
}

/// Bytes of which a piece lost, doubled or moved shows.
func pattern(_ count: Int) -> [UInt8] {
    let block = (0..<8191).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes.append(contentsOf: block) }
    bytes.removeLast(bytes.count - count)
    return bytes
}
