import LinuxIO
import Logging
import OpenSSL
import SecureTransport

/// The gateways' ports: Apple's and Google's. Accepts connections and runs them on one reactor, with a common ledger.
actor GatewayService {
    private nonisolated let reactor: Reactor
    private let contexts: ServerContexts
    private let logger: Logger
    private let ledgerFile: LedgerFile?
    private nonisolated let addresses: [Port: SocketAddress]
    private var state: GatewayState
    private var listeners: [Port: Listener] = [:]
    /// The time for which each listening socket is to be closed next.
    private var requestedPauses: [Port: Duration] = [:]
    private var conversations: [Int: any OpenConnection] = [:]
    private var watchers: [LedgerWatcher] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// The time that a client may take for its handshake.
    private static let handshakeTime = Duration.seconds(15)

    /// Opens the ports. Connections wait until `run()`.
    ///
    /// - Throws: `SimulatorFault` if a port is in use or the address does not belong to this host.
    static func listening(
        on addresses: [Port: SocketAddress], with resources: SimulatorResources
    ) async throws -> GatewayService {
        let service = GatewayService(on: addresses, with: resources)
        for port in Port.allCases { try await service.listen(on: port) }
        return service
    }

    private init(on addresses: [Port: SocketAddress], with resources: SimulatorResources) {
        reactor = resources.reactor
        contexts = resources.contexts
        logger = resources.logger
        ledgerFile = resources.ledgerFile
        state = resources.state
        self.addresses = addresses
    }

    private func listen(on port: Port) throws {
        guard let address = addresses[port] else { return }
        do throws(SystemError) {
            listeners[port] = try Listener(on: address, reactor: reactor)
        } catch {
            throw SimulatorFault(listening: error, option: port.option)
        }
    }

    /// Returns the number of a port in use.
    func number(of port: Port) -> Int {
        Int(listeners[port]?.address.port ?? addresses[port]?.port ?? 0)
    }

    /// The current ledger.
    var ledger: Ledger { state.ledger }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError` or `LedgerFileFault` if the service cannot continue.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for port in Port.allCases { group.addTask { try await self.serve(port) } }
        }
    }

    private func serve(_ port: Port) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let socket = try await nextConnection(on: port) else { continue }
                let number = state.ledger.noteConnection()
                group.addTask { try await self.attend(socket, number: number, on: port) }
            }
        }
    }

    /// Waits until the ledger satisfies a condition, which is checked after each arrival.
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

    /// Replaces the script and restarts its counts.
    func setScript(_ script: FaultScript) {
        state.start(script)
    }

    /// Replaces the rules for later notifications.
    func setRules(_ rules: GatewayRules) {
        state.rules = rules
    }

    /// Replaces the rules for later requests over HTTP/2.
    func setRequestTerms(_ terms: RequestTerms) {
        state.requestTerms = terms
    }

    /// Replaces FCM's rules for later requests.
    ///
    /// - Throws: `SimulatorFault` if the key of an account is not valid; the rules stay unchanged.
    func setFCMRules(_ rules: FCMRules) throws(SimulatorFault) {
        try state.fcm.set(rules)
    }

    /// Ends all access tokens at once, as if they had expired.
    func expireAccessTokens() {
        state.fcm.expireTokens(at: GatewayPolicy.Now.read().wallTime)
    }

    /// Replaces the HTTP/2 behavior of a port for later connections.
    func setManner(_ manner: HTTP2Manner, of port: Port) {
        state.manners[port] = manner
    }

    /// Ends all open connections.
    func dropConnections(resetting: Bool) {
        for conversation in conversations.values { conversation.drop(resetting: resetting) }
    }

    /// Adds entries to the feedback service's list.
    func addGone(_ tokens: [GoneToken]) {
        state.feedback.append(tokens)
    }

    /// Returns the bytes of the feedback service's list.
    func feedbackBytes(forgetting: Bool) -> [UInt8] {
        state.feedback.encoded(forgetting: forgetting)
    }
}

// Accepting connections.
extension GatewayService {
    /// Waits for a connection. Returns `nil` after a transient error; the caller should call again.
    private func nextConnection(on port: Port) async throws -> sending StreamSocket? {
        if let pause = requestedPauses.removeValue(forKey: port) {
            try await pauseListening(for: pause, on: port)
        }
        return try await listeners[port]?.accept { error in
            logger.warning("cannot accept connections for now", metadata: ["simulator.error": "\(error)"])
        }
    }

    private func pauseListening(for pause: Duration, on port: Port) async throws {
        guard let address = listeners.removeValue(forKey: port)?.address else { return }
        try await reactor.sleep(for: pause)
        listeners[port] = try Listener(on: address, reactor: reactor)
    }

    /// Requests that the accept loop close the listening socket for a while.
    func stopListening(for duration: Duration, on port: Port = .binary) {
        requestedPauses[port] = duration
        listeners[port]?.waiter.wake()
    }

    /// Runs one connection to its end. A failure does not affect other connections, except `LedgerFileFault`.
    private func attend(_ socket: sending StreamSocket, number: Int, on port: Port) async throws {
        do {
            try await converse(over: socket, number: number, on: port)
        } catch let error as LedgerFileFault {
            throw error
        } catch {
            logger.debug(
                "connection failed", metadata: ["simulator.connection": "\(number)", "simulator.error": "\(error)"])
        }
        conversations[number] = nil
        try await publish()
    }

    private func converse(over socket: StreamSocket, number: Int, on port: Port) async throws {
        var withholdsTickets = false
        switch state.scripts[port]?.connecting(number) {
        case .refuseConnection: return socket.abort()
        case .failHandshake(let fault): return try await fault.spoil(socket)
        case .withholdTickets: withholdsTickets = true
        case _: break
        }
        try socket.setNoDelay()
        let context = contexts.context(for: port, issuingTicket: !withholdsTickets)
        let stream = try SecureStream(accepting: socket, context: context)
        try await stream.handshake(until: .now + Self.handshakeTime)
        let client = stream.facts.peerCertificate
        logger.debug("connection open", metadata: ["simulator.connection": "\(number)"])
        state.ledger.noteOpened(
            .init(
                number: number, clientName: client?.displayName, topics: client?.allTopics ?? [],
                fingerprint: client?.fingerprint))
        let conversation = conversation(over: stream, on: socket, number: number, port: port)
        conversations[number] = conversation
        try await publish()
        try await conversation.run(in: self)
    }

    private func conversation(
        over stream: SecureStream, on socket: StreamSocket, number: Int, port: Port
    ) -> any OpenConnection {
        let now = GatewayPolicy.Now.read()
        let api: any ServedAPI
        switch port {
        case .binary:
            let policy = GatewayPolicy(connection: number, at: now.moment, sharing: &state)
            return Conversation(over: stream, on: socket, policy: policy)
        case .http2: api = ProviderAPI(certificateTopics: stream.facts.peerCertificate?.allTopics)
        case .fcm: api = FCMAPI()
        case .oauth: api = TokenEndpoint()
        }
        let policy = HTTP2Policy(connection: number, serving: api, at: now, sharing: &state)
        return HTTP2Conversation(over: stream, on: socket, policy: policy)
    }
}

// Calls from connections.
extension GatewayService {
    /// Passes bytes to a connection's policy. Returns how many it consumed.
    func consume(_ bytes: Span<UInt8>, by policy: inout GatewayPolicy) -> Int {
        policy.consume(bytes, at: .read(), sharing: &state)
    }

    /// Passes the bytes read to a connection's policy.
    func receive(_ bytes: Span<UInt8>, by policy: inout HTTP2Policy) {
        policy.receive(bytes, at: .read(), sharing: &state)
    }

    /// Appends the pending output of a connection's policy.
    func takeOutput(of policy: inout HTTP2Policy, into output: inout [UInt8]) {
        policy.takeOutput(into: &output, at: .read(), sharing: &state)
    }

    /// Records that a client closed its side of a connection with close_notify.
    func noteGoodbye(onConnection number: Int) {
        state.ledger.noteGoodbye(onConnection: number)
    }

    /// Wakes the callers that wait for the current state of the ledger, and writes new lines to its file.
    func publish() async throws {
        for watcher in watchers where watcher.isSatisfied(state.ledger) { watcher.waiter.wake() }
        guard let ledgerFile else { return }
        let lines = state.ledger.takeLines()
        if !lines.isEmpty { try await ledgerFile.append(lines) }
    }
}

/// An open connection of either protocol.
protocol OpenConnection: AnyObject {
    /// Runs the connection to its end.
    ///
    /// - Throws: `SystemError` or `TLSError` if the connection fails; `CancellationError`; `LedgerFileFault`.
    func run(in service: isolated GatewayService) async throws

    /// Ends the connection at its next step, which it triggers immediately.
    func drop(resetting: Bool)
}

/// A caller that waits for the ledger to satisfy a condition.
private struct LedgerWatcher {
    let isSatisfied: @Sendable (Ledger) -> Bool
    let waiter: Waiter
}
