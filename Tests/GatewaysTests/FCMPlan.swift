import FCMHTTP2
import GatewaySimulator
import JSON
import LinuxIO
import OpenSSL
import PushModel
import ServiceProcess
import Testing

@testable import Gateways

/// How a bench of FCM is set up: a simulated project, its manners, and how the gateway is configured.
struct FCMPlan: Sendable {
    var script = ""
    var rules = FCMRules()
    var manner = HTTP2Manner.fcm
    /// Changes what the gateway is configured with.
    var adjust: @Sendable (inout HTTP2Wire.Configuration) -> Void = { _ in }

    /// One project does for all tests: its key takes a while to make.
    private static let project = Result { try FCMProject.throwaway() }

    init(_ script: String = "", adjust: @escaping @Sendable (inout HTTP2Wire.Configuration) -> Void = { _ in }) {
        self.script = script
        self.adjust = adjust
    }

    /// Runs `body` with a gateway that gets its access tokens from the simulator, and is quick to try again.
    func run(_ body: @escaping @Sendable (HTTP2Bench, AccessTokenSource) async throws -> Void) async throws {
        try await running { source, simulator, reactor in
            var configuration = try HTTP2Plan.configuration(of: simulator)
            configuration.service = .fcm(project: try Self.project.get().project.id)
            (configuration.tokenSource, configuration.window) = (source, 100)
            configuration.endpoint = Sample.endpoint(simulator.ports.fcm)
            configuration.context = try Self.context(trusting: simulator.certificates.authority)
            adjust(&configuration)
            let gateway = GatewayConfiguration.http2(configuration).makeGateway(on: reactor, logger: Sample.logger)
            try await Sample.running(gateway) { [configuration] gateway in
                try await body(HTTP2Bench(simulator, gateway, configuration), source)
            }
        }
    }

    /// Runs a simulator, and the source of access tokens of its account, while `body` runs.
    ///
    /// - Parameters:
    ///   - authority: what the token endpoint's certificate must be signed by; `nil`: by what signed it.
    ///   - body: gets the source, the simulator, and a reactor for gateways.
    /// - Throws: what `body` throws; `SimulatorFault` if the simulator cannot start.
    func running(
        trusting authority: [UInt8]? = nil,
        _ body: @Sendable (AccessTokenSource, Simulator, Reactor) async throws -> Void
    ) async throws {
        let (project, file) = try Self.project.get()
        var settings = Simulator.Configuration()
        settings.script = try FaultScript(script)
        (settings.fcm.rules, settings.fcm.manner) = (rules, manner)
        settings.fcm.rules.projects = [project]
        settings.logger = Sample.logger
        try await Simulator.running(settings) { simulator in
            let (worker, reactor) = (try WorkerThread(name: "tokens"), try Reactor(name: "gateway"))
            defer {
                worker.stop()
                reactor.stop()
            }
            let context = try Self.context(trusting: authority ?? simulator.certificates.authority)
            var parser = JSON.Parser()
            let content = try ServiceAccountFile(file, parser: &parser)
            let key = try ServiceAccountKey(content.account, privateKey: content.privateKey)
            let access = TokenEndpoint.Access(endpoint: Sample.endpoint(simulator.ports.oauth), context: context)
            let sources = TokenSources(folder: nil, worker: worker, reactor: reactor, logger: Sample.logger)
            let source = sources.source(of: key, through: access)
            #expect(sources.source(of: key, through: access) === source)
            try await body(source, simulator, reactor)
        }
    }

    private static func context(trusting authority: [UInt8]) throws -> TLSContext {
        try .client(
            identity: nil, trust: .pem(authority), options: TLSOptions(applicationProtocols: ["h2"]))
    }

    /// The registration token of a number. Not all have the same length.
    static func token(_ number: Int) -> String { "cUd3mk5gRYqMnVb_1xQz0a:APA91b-\(number)" }

    /// Messages to these addresses, or to one topic.
    static func batch(
        to addresses: [String], _ kind: Address.Kind = .registrationToken, from firstIndex: Int = 0,
        onDoubt: OnDoubt = .resend
    ) -> Batch {
        var bytes = PackedBytes()
        for address in addresses { bytes.append(Array(address.utf8)) }
        var attributes = Attributes(expiration: Expiration(epochSeconds: WallTime.now.epochSeconds + 3600))
        attributes.addressKind = kind
        let payload = Payload(
            bytes: Array("\"notification\":{\"title\":\"Storm\"},\"android\":{\"ttl\":\"\u{01}s\"}".utf8))
        return Batch(
            header: .init(job: Sample.job, attributes: attributes, onDoubt: onDoubt), firstIndex: firstIndex,
            addresses: bytes, payloads: .shared(payload))
    }
}

extension Bench<HTTP2Wire.Configuration> {
    /// Hands over messages to so many more registration tokens.
    func begin(_ count: Int) async throws {
        let numbers = submittedCount..<submittedCount + count
        try await gateway.submit(FCMPlan.batch(to: numbers.map(FCMPlan.token), from: numbers.lowerBound))
        skip(to: numbers.upperBound)
    }

    /// Hands over messages to so many more registration tokens, and waits until all have an outcome.
    func send(_ count: Int) async throws {
        try await begin(count)
        try await settle()
    }
}
