import APNSModel
import LinuxIO
import Logging
import OpenSSL
import SecureTransport

/// The gateway's port: accepts, and holds one conversation a connection, all of them on one reactor.
actor BinaryService {
    private nonisolated let reactor: Reactor
    private let contexts: ServerContexts
    private let logger: Logger
    private let ledgerFile: LedgerFile?
    private nonisolated let address: SocketAddress
    private var state: GatewayState
    private var listener: Listener?
    /// How long the listening socket is to be closed next.
    private var requestedPause: Duration?
    private var conversations: [Int: Conversation] = [:]
    private var watchers: [LedgerWatcher] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// How long a client may take for its handshake.
    private static let handshakeTime = Duration.seconds(15)

    /// Listens. Connections wait until `run()`.
    ///
    /// - Throws: `SystemError`: the port is taken, or the address is not this host's.
    static func listening(on address: SocketAddress, with resources: SimulatorResources) async throws -> BinaryService {
        let service = BinaryService(on: address, with: resources)
        try await service.listen()
        return service
    }

    private init(on address: SocketAddress, with resources: SimulatorResources) {
        reactor = resources.reactor
        contexts = resources.contexts
        logger = resources.logger
        ledgerFile = resources.ledgerFile
        state = resources.state
        self.address = address
    }

    private func listen() throws {
        listener = try Listener(on: listener?.address ?? address, reactor: reactor)
    }

    /// The port in use.
    var port: Int { Int(listener?.address.port ?? address.port) }

    /// What arrived so far.
    var ledger: Ledger { state.ledger }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError`, `LedgerFileFault`: there is no going on.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let socket = try await nextConnection() else { continue }
                let number = state.ledger.noteConnection()
                group.addTask { try await self.attend(socket, number: number) }
            }
        }
    }

    /// Waits until the ledger is as wanted; looks whenever something arrived.
    ///
    /// - Throws: `CancellationError`.
    func ledger(when isSatisfied: @escaping @Sendable (Ledger) -> Bool) async throws -> Ledger {
        while !isSatisfied(state.ledger) {
            let watcher = LedgerWatcher(isSatisfied: isSatisfied, waiter: Waiter(on: reactor))
            watchers.append(watcher)
            let found = await watcher.waiter.wait()
            watchers.removeAll { $0.waiter === watcher.waiter }
            if found.contains(.cancelled) { throw CancellationError() }
        }
        return state.ledger
    }

    /// Replaces the script; its counts begin anew.
    func setScript(_ script: FaultScript) {
        state.script = ScriptRun(script)
    }

    /// Replaces the rules, for notifications to come.
    func setRules(_ rules: GatewayRules) {
        state.rules = rules
    }

    /// Ends all open connections.
    func dropConnections(resetting: Bool) {
        for conversation in conversations.values { conversation.drop(resetting: resetting) }
    }

    /// Adds to what the feedback service will tell.
    func addGone(_ tokens: [GoneToken]) {
        state.feedback.append(tokens)
    }

    /// The bytes that the feedback service has to tell.
    func feedbackBytes(forgetting: Bool) -> [UInt8] {
        state.feedback.encoded(forgetting: forgetting)
    }
}

// Accepting.
extension BinaryService {
    /// Waits for a connection; `nil` is no reason to stop.
    private func nextConnection() async throws -> sending StreamSocket? {
        if let pause = requestedPause {
            requestedPause = nil
            try await pauseListening(for: pause)
        }
        do {
            return try await listener?.accept()
        } catch let error as SystemError where error.isTransient {
            logger.warning("accepting has to wait", metadata: ["simulator.error": "\(error)"])
            try await reactor.sleep(for: .milliseconds(100))
            return nil
        }
    }

    private func pauseListening(for pause: Duration) async throws {
        guard let address = listener?.address else { return }
        listener = nil
        try await reactor.sleep(for: pause)
        listener = try Listener(on: address, reactor: reactor)
    }

    /// Has the accept loop close the listening socket for a while.
    func stopListening(for duration: Duration) {
        requestedPause = duration
        listener?.waiter.wake()
    }

    /// Holds one connection from its first byte to its last. What breaks it breaks nothing else.
    private func attend(_ socket: sending StreamSocket, number: Int) async throws {
        do {
            try await converse(over: socket, number: number)
        } catch let error as LedgerFileFault {
            throw error
        } catch {
            logger.debug(
                "connection broken", metadata: ["simulator.connection": "\(number)", "simulator.error": "\(error)"])
        }
        conversations[number] = nil
        try await publish()
    }

    private func converse(over socket: StreamSocket, number: Int) async throws {
        var context = contexts.usual
        switch state.script.connecting(number) {
        case .refuseConnection: return socket.abort()
        case .failHandshake(let fault): return try await fault.spoil(socket)
        case .withholdTickets: context = contexts.withoutTicket
        case .reply, .end, .pause, .slow, .stopListening, nil: break
        }
        try socket.setNoDelay()
        let stream = try SecureStream(accepting: socket, context: context)
        try await stream.handshake(until: .now + Self.handshakeTime)
        let client = stream.facts.peerCertificate
        logger.debug("connection open", metadata: ["simulator.connection": "\(number)"])
        state.ledger.noteOpened(
            .init(number: number, clientName: client?.displayName, topics: client?.allTopics ?? []))
        let policy = GatewayPolicy(connection: number, at: GatewayPolicy.Now.read().moment, sharing: &state)
        let conversation = Conversation(over: stream, on: socket, policy: policy)
        conversations[number] = conversation
        try await publish()
        try await conversation.run(in: self)
    }
}

// What conversations call.
extension BinaryService {
    /// Has a connection's policy take what it can of what was read.
    func consume(_ bytes: Span<UInt8>, by policy: inout GatewayPolicy) -> Int {
        policy.consume(bytes, at: .read(), sharing: &state)
    }

    /// Tells whoever waits for it that the ledger has changed, and the file.
    func publish() async throws {
        for watcher in watchers where watcher.isSatisfied(state.ledger) { watcher.waiter.wake() }
        guard let ledgerFile else { return }
        let lines = state.ledger.takeLines()
        if !lines.isEmpty { try await ledgerFile.append(lines) }
    }
}

/// Somebody who waits for the ledger to be as it should.
private struct LedgerWatcher {
    let isSatisfied: @Sendable (Ledger) -> Bool
    let waiter: Waiter
}
