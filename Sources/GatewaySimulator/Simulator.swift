import APNSModel
import LinuxIO

/// A push gateway for tests, demonstrations and staging: Apple's binary protocol, its feedback service, and its API over
/// HTTP/2, all over TLS, misbehaving on request.
///
/// It listens as soon as it is made, and serves while `run()` runs. All of it can be asked and changed meanwhile.
public final class Simulator: Sendable {
    /// Where it listens.
    public let ports: Ports
    /// Its certificates, and its client's.
    public let certificates: Certificates
    private let gateway: GatewayService
    private let feedback: FeedbackPort
    private let reactor: Reactor
    private let worker: WorkerThread?

    /// Makes certificates if none are given, and listens.
    ///
    /// - Throws: `SimulatorFault`: a port is taken, a certificate cannot be used, or the ledger's file is there already.
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
                gateway = try await .listening(
                    on: [.binary: addresses.gateway, .http2: addresses.http2], with: resources)
                feedback = try await .listening(on: addresses.feedback, with: resources, telling: gateway)
            } catch {
                reactor.stop()
                worker?.stop()
                throw error
            }
            ports = Ports(
                gateway: await gateway.number(of: .binary), feedback: await feedback.port,
                http2: await gateway.number(of: .http2))
        } catch {
            throw SimulatorFault(cause: error)
        }
    }

    deinit {
        // Nothing of it runs there any more: whoever runs holds it.
        if !reactor.isCurrent { reactor.stop() }
        worker?.stop()
    }

    /// Serves until the task is cancelled, and then returns.
    ///
    /// - Throws: `SimulatorFault`: the ledger's file cannot be written, or no connection can be accepted any more.
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
    /// - Throws: what `body` throws; `SimulatorFault` as `init` and `run()` do.
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

// While it runs.
extension Simulator {
    /// What arrived so far.
    public var ledger: Ledger {
        get async { await gateway.ledger }
    }

    /// Waits until what arrived is as wanted; `condition` is asked whenever something arrived, so it should count only.
    ///
    /// - Throws: `CancellationError` when the task is cancelled: put a time limit around it.
    public func ledger(when condition: @escaping @Sendable (Ledger) -> Bool) async throws -> Ledger {
        try await gateway.ledger(when: condition)
    }

    /// Replaces the script. Counts begin anew; connections that are being ended go on ending.
    public func setScript(_ script: FaultScript) async {
        await gateway.setScript(script)
    }

    /// Replaces what the gateway refuses of its own accord.
    public func setRules(_ rules: GatewayRules) async {
        await gateway.setRules(rules)
    }

    /// Replaces what the gateway refuses of its own accord over HTTP/2.
    ///
    /// - Throws: `SimulatorFault`: one of the keys is none; the rules stay as they were.
    public func setRequestRules(_ rules: RequestRules) async throws {
        await gateway.setRequestTerms(try SimulatorFault.wrapping { try RequestTerms(rules) })
    }

    /// Replaces how the gateway behaves over HTTP/2, from the next connection on.
    public func setHTTP2Manner(_ manner: HTTP2Manner) async {
        await gateway.setManner(manner)
    }

    /// Ends all connections to the gateway that are open, in good order or with a reset.
    public func dropConnections(resetting: Bool = false) async {
        await gateway.dropConnections(resetting: resetting)
    }

    /// Adds to what the feedback service tells the next client.
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
        return GatewayState(
            rules: rules, script: ScriptRun(script), ledger: Ledger(detail: detail, writesLines: ledgerPath != nil),
            feedback: list, requestTerms: try RequestTerms(requestRules), http2Script: ScriptRun(script, over: .http2),
            manner: http2Manner)
    }

    fileprivate func addresses() throws(SimulatorFault) -> (
        gateway: SocketAddress, feedback: SocketAddress, http2: SocketAddress
    ) {
        (try socketAddress(gatewayPort), try socketAddress(feedbackPort), try socketAddress(http2Port))
    }

    private func socketAddress(_ port: Int) throws(SimulatorFault) -> SocketAddress {
        guard let port = UInt16(exactly: port) else {
            throw SimulatorFault(
                "a port is not a number from 0 to 65535", hint: "use 0 for a port of the kernel's choice")
        }
        guard let address = SocketAddress(host: address, port: port) else {
            throw SimulatorFault(
                "\(address) is not an IPv4 or IPv6 address", hint: "use 127.0.0.1, ::1, 0.0.0.0 or ::, not a name")
        }
        return address
    }
}
