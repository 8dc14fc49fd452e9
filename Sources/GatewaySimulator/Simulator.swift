import LinuxIO

/// Push gateways for tests, demonstrations and staging: Apple's binary protocol, its feedback service and its API over
/// HTTP/2, and Google's FCM with its token endpoint, all with TLS and with configurable misbehavior.
///
/// It listens as soon as it is created, and serves while `run()` runs. Its state can be queried and changed in the meantime.
public final class Simulator: Sendable {
    /// The ports that it listens on.
    public let ports: Ports
    /// Its certificates and those of its client.
    public let certificates: Certificates
    private let gateway: GatewayService
    private let feedback: FeedbackPort
    private let reactor: Reactor
    private let worker: WorkerThread?

    /// Creates certificates if none are given, and opens the ports.
    ///
    /// - Throws: `SimulatorFault` if a port is in use, a certificate cannot be used, or the ledger's file exists already.
    public init(_ configuration: Configuration = Configuration()) async throws {
        do {
            certificates = try configuration.certificates ?? .throwaway(topic: configuration.topic)
            let addresses = try configuration.addresses()
            let worker = try configuration.ledgerPath.map { _ in try WorkerThread(name: "ledger") }
            let file = configuration.ledgerPath.flatMap { path in worker.map { LedgerFile(path: path, worker: $0) } }
            let reactor = try Reactor(name: "simulator")
            (self.worker, self.reactor) = (worker, reactor)
            do {
                try await file?.open()
                let resources = SimulatorResources(
                    reactor: reactor,
                    contexts: try ServerContexts(
                        certificates, requiresClientCertificate: configuration.requiresClientCertificate),
                    logger: configuration.logger, state: try configuration.state(),
                    manner: configuration.feedbackManner,
                    ledgerFile: file)
                gateway = try await .listening(on: addresses, with: resources)
                feedback = try await .listening(
                    on: try configuration.socketAddress(configuration.feedbackPort), with: resources, telling: gateway)
            } catch {
                reactor.stop()
                worker?.stop()
                throw error
            }
            ports = Ports(
                gateway: await gateway.number(of: .binary), feedback: await feedback.port,
                http2: await gateway.number(of: .http2), fcm: await gateway.number(of: .fcm),
                oauth: await gateway.number(of: .oauth))
        } catch {
            throw SimulatorFault(cause: error)
        }
    }

    deinit {
        // No code of the simulator runs on the reactor now, because running code would hold a reference.
        if !reactor.isCurrent { reactor.stop() }
        worker?.stop()
    }

    /// Serves until the task is cancelled, then returns.
    ///
    /// - Throws: `SimulatorFault` if the ledger's file cannot be written or accepting connections fails permanently.
    public func run() async throws {
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { [gateway] in try await gateway.run() }
                group.addTask { [feedback] in try await feedback.run() }
                try await group.waitForAll()
            }
        } catch is CancellationError {
            return
        } catch {
            throw SimulatorFault(cause: error)
        }
    }

    /// Runs a simulator while `body` runs.
    ///
    /// - Throws: Any error that `body` throws; `SimulatorFault` like `init` and `run()`.
    public static func running<Value>(
        _ configuration: Configuration = Configuration(), _ body: (Simulator) async throws -> Value
    ) async throws -> Value {
        let simulator = try await Simulator(configuration)
        return try await withThrowingTaskGroup { group in
            group.addTask { try await simulator.run() }
            let value = try await body(simulator)
            group.cancelAll()
            try await group.waitForAll()
            return value
        }
    }
}

// Access to the running simulator.
extension Simulator {
    /// The current ledger.
    public var ledger: Ledger {
        get async { await gateway.ledger }
    }

    /// Waits until the ledger satisfies `condition`, which is called after each arrival and should therefore only
    /// compare counts.
    ///
    /// - Throws: `CancellationError` if the task is cancelled. Set a time limit around the call.
    public func ledger(when condition: @escaping @Sendable (Ledger) -> Bool) async throws -> Ledger {
        try await gateway.ledger(when: condition)
    }

    /// Replaces the script and restarts its counts. Connections that are already being ended still end.
    public func setScript(_ script: FaultScript) async {
        await gateway.setScript(script)
    }

    /// Replaces the rules of the gateway.
    public func setRules(_ rules: GatewayRules) async {
        await gateway.setRules(rules)
    }

    /// Replaces the rules of the gateway over HTTP/2.
    ///
    /// - Throws: `SimulatorFault` if one of the keys is invalid; the rules stay unchanged.
    public func setRequestRules(_ rules: RequestRules) async throws {
        await gateway.setRequestTerms(try SimulatorFault.wrapping { try RequestTerms(rules) })
    }

    /// Replaces the rules of FCM and of the token endpoint. Access tokens stay valid.
    ///
    /// - Throws: `SimulatorFault` if the key of an account is not valid; the rules stay unchanged.
    public func setFCMRules(_ rules: FCMRules) async throws {
        try await gateway.setFCMRules(rules)
    }

    /// Ends all access tokens at once, as if they had expired.
    public func expireAccessTokens() async {
        await gateway.expireAccessTokens()
    }

    /// Replaces the gateway's behavior over HTTP/2, from the next connection on.
    public func setHTTP2Manner(_ manner: HTTP2Manner) async {
        await gateway.setManner(manner, of: .http2)
    }

    /// Replaces FCM's behavior over HTTP/2, from the next connection on.
    public func setFCMManner(_ manner: HTTP2Manner) async {
        await gateway.setManner(manner, of: .fcm)
    }

    /// Ends all open connections to the gateway, gracefully or with a reset.
    public func dropConnections(resetting: Bool = false) async {
        await gateway.dropConnections(resetting: resetting)
    }

    /// Adds entries to the feedback service's list for the next client.
    public func addFeedback(_ tokens: [GoneToken]) async {
        await gateway.addGone(tokens)
    }

    /// Changes how the feedback service sends its list, from the next client on.
    public func setFeedbackManner(_ manner: FeedbackManner) async {
        await feedback.setManner(manner)
    }
}

extension Simulator.Configuration {
    fileprivate func state() throws -> GatewayState {
        var list = FeedbackList(gone: gone, collectsRefused: tellsRefusedTokens)
        list.append(feedback)
        var state = GatewayState(
            rules: rules, ledger: Ledger(detail: detail, writesLines: ledgerPath != nil), feedback: list,
            requestTerms: try RequestTerms(requestRules),
            manners: [.http2: http2Manner, .fcm: fcm.manner, .oauth: .fcm])
        try state.fcm.set(fcm.rules)
        state.start(script)
        return state
    }

    fileprivate func addresses() throws(SimulatorFault) -> [Port: SocketAddress] {
        [
            .binary: try socketAddress(gatewayPort), .http2: try socketAddress(http2Port),
            .fcm: try socketAddress(fcm.port), .oauth: try socketAddress(fcm.oauthPort),
        ]
    }

    fileprivate func socketAddress(_ port: Int) throws(SimulatorFault) -> SocketAddress {
        guard let port = UInt16(exactly: port) else {
            throw SimulatorFault(
                "a port is not a number from 0 to 65535", hint: "use 0 to let the kernel choose a port")
        }
        guard let address = SocketAddress(host: address, port: port) else {
            throw SimulatorFault(
                "\(address) is not an IPv4 or IPv6 address", hint: "use 127.0.0.1, ::1, 0.0.0.0 or ::, not a name")
        }
        return address
    }
}
