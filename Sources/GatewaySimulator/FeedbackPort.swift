import LinuxIO
import Logging
import SecureTransport

/// The feedback service's port: sends the list to each client, then closes.
actor FeedbackPort {
    private nonisolated let reactor: Reactor
    private let contexts: ServerContexts
    private let logger: Logger
    private let gateway: GatewayService
    private nonisolated let address: SocketAddress
    private var listener: Listener?
    private var manner: FeedbackManner

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// The time that a client may take for its handshake, and for reading one piece.
    private static let patience = Duration.seconds(15)

    /// Opens the port. Connections wait until `run()`.
    ///
    /// - Throws: `SimulatorFault` if the port is in use or the address does not belong to this host.
    static func listening(
        on address: SocketAddress, with resources: SimulatorResources, telling gateway: GatewayService
    ) async throws -> FeedbackPort {
        let port = FeedbackPort(on: address, with: resources, telling: gateway)
        try await port.listen()
        return port
    }

    private init(on address: SocketAddress, with resources: SimulatorResources, telling gateway: GatewayService) {
        reactor = resources.reactor
        contexts = resources.contexts
        logger = resources.logger
        manner = resources.manner
        self.gateway = gateway
        self.address = address
    }

    private func listen() throws {
        do throws(SystemError) {
            listener = try Listener(on: address, reactor: reactor)
        } catch {
            throw SimulatorFault(listening: error, option: "--feedback-port")
        }
    }

    /// The port in use.
    var port: Int { Int(listener?.address.port ?? address.port) }

    /// Changes how the list is sent, from the next connection on.
    func setManner(_ manner: FeedbackManner) {
        self.manner = manner
    }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError` if accepting fails permanently.
    func run() async throws {
        guard let listener else { return }
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let socket = try await listener.accept(complain: complain) else { continue }
                group.addTask { await self.attend(socket) }
            }
        }
    }

    private func complain(_ error: SystemError) {
        logger.warning("cannot accept connections for now", metadata: ["simulator.error": "\(error)"])
    }

    private func attend(_ socket: sending StreamSocket) async {
        do {
            let stream = try SecureStream(accepting: socket, context: contexts.feedback)
            try await stream.handshake(until: .now + Self.patience)
            try await send(over: stream, in: manner)
        } catch {
            logger.debug("feedback connection failed", metadata: ["simulator.error": "\(error)"])
        }
    }

    private func send(over stream: SecureStream, in manner: FeedbackManner) async throws {
        // As with Apple's service, entries that are lost from here on are not sent again.
        let bytes = await gateway.feedbackBytes(forgetting: manner.forgets)
        let pieces = manner.pieces(of: bytes)
        repeat {
            for piece in pieces {
                try stream.write(piece.span)
                try await flush(stream)
                if manner.pause > .zero { try await reactor.sleep(for: manner.pause) }
            }
        } while manner.isEndless && !pieces.isEmpty
        guard manner.resetAfter == nil else { return try await reset(stream) }
        _ = await stream.shutdown(until: .now + .seconds(2))
    }

    private func flush(_ stream: SecureStream) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while try !stream.flush() {
            let found = await stream.wait(for: [], until: deadline)
            if found.contains(.cancelled) { throw CancellationError() }
            if found.contains(.timedOut) { return stream.abort() }
        }
    }

    /// Resets the connection once the peer's kernel has acknowledged all data, which a reset might otherwise discard.
    private func reset(_ stream: SecureStream) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while stream.acknowledgedByteCount < stream.handedOverByteCount, .now < deadline {
            try await reactor.sleep(for: .milliseconds(1))
        }
        stream.abort()
    }
}
