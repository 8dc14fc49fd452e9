import APNSModel
import LinuxIO
import Logging
import OpenSSL
import SecureTransport

/// The gateway's port: accepts, and holds one conversation a connection, all of them on one reactor.
actor BinaryService {
    private let reactor: Reactor
    private let contexts: ServerContexts
    private let logger: Logger
    private var state: GatewayState
    private var listener: Listener?
    private let address: SocketAddress
    /// How long the listening socket is to stay closed, once it is.
    private var requestedPause: Duration?
    private var conversations: [Int: Conversation] = [:]
    private var watchers: [Watcher] = []
    private let ledgerFile: LedgerFile?

    /// Who waits for the ledger to be as it wants it.
    private struct Watcher {
        let isSatisfied: @Sendable (Ledger) -> Bool
        let waiter: Waiter
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Listens. Connections wait until `run()`.
    ///
    /// - Throws: `SystemError`: the port is taken, or the address is not this host's.
    init(
        on address: SocketAddress, reactor: Reactor, state: GatewayState, resources: SimulatorResources
    ) async throws(SystemError) {
        self.reactor = reactor
        self.contexts = resources.contexts
        self.logger = resources.logger
        self.ledgerFile = resources.ledgerFile
        self.state = state
        let listener = try Listener(on: address, reactor: reactor)
        self.address = listener.address
        self.listener = listener
    }

    /// The port in use.
    nonisolated var port: Int { Int(address.port) }

    /// What arrived so far.
    var ledger: Ledger { state.ledger }

    /// Serves until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError`: accepting or writing the ledger's file fails for good.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while true {
                guard let socket = try await nextConnection() else { continue }
                let number = state.ledger.noteConnection()
                group.addTask { try await self.attend(socket, number: number) }
            }
        }
    }

    /// Waits until the ledger is as wanted; looks after each read.
    ///
    /// - Throws: `CancellationError`.
    func ledger(when isSatisfied: @escaping @Sendable (Ledger) -> Bool) async throws -> Ledger {
        while !isSatisfied(state.ledger) {
            let waiter = Waiter(on: reactor)
            watchers.append(Watcher(isSatisfied: isSatisfied, waiter: waiter))
            if await waiter.wait().contains(.cancelled) {
                watchers.removeAll { $0.waiter === waiter }
                throw CancellationError()
            }
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
    private func nextConnection() async throws -> sending StreamSocket? {
        if let pause = requestedPause {
            requestedPause = nil
            listener = nil
            try await reactor.sleep(for: pause)
            listener = try Listener(on: address, reactor: reactor)
        }
        do {
            return try await listener?.accept()
        } catch let error as SystemError where error.isTransient {
            logger.warning("accepting has to wait", metadata: ["error": "\(error)"])
            try await reactor.sleep(for: .milliseconds(100))
            return nil
        }
    }

    private func stopListening(for duration: Duration) {
        requestedPause = duration
        listener?.waiter.wake()
    }

    /// Holds one connection from its first byte to its last. What breaks it breaks nothing else.
    private func attend(_ socket: sending StreamSocket, number: Int) async throws {
        do {
            try await converse(over: socket, number: number)
        } catch let error as SystemError where error.isLedgerFault {
            throw error
        } catch {
            logger.debug("connection broken", metadata: ["connection": "\(number)", "error": "\(error)"])
        }
        notifyWatchers()
    }
}
