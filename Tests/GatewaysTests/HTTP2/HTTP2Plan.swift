import APNSHTTP2
import GatewaySimulator
import Gateways
import LinuxIO
import OpenSSL
import PushHTTP2
import PushModel

/// A bench of HTTP/2.
typealias HTTP2Bench = Bench<HTTP2Wire.Configuration>

/// How a bench of HTTP/2 is set up: a simulator, its manners, and how the gateway is configured.
struct HTTP2Plan: Sendable {
    var script = ""
    var rules = RequestRules()
    var manner = HTTP2Manner()
    var detail = Ledger.Detail.everything
    var recordKeeping = RecordKeeping.none
    /// Changes what the gateway is configured with.
    var adjust: @Sendable (inout HTTP2Wire.Configuration) -> Void = { _ in }

    init(
        _ script: String = "", adjust: @escaping @Sendable (inout HTTP2Wire.Configuration) -> Void = { _ in }
    ) {
        self.script = script
        self.adjust = adjust
    }

    /// Runs `body` with a gateway that shows the simulator's certificate and is quick to try again.
    func run(_ body: @escaping @Sendable (HTTP2Bench) async throws -> Void) async throws {
        try await running { simulator, reactor in
            var configuration = try Self.configuration(of: simulator)
            adjust(&configuration)
            let gateway = GatewayConfiguration.http2(configuration)
                .makeGateway(recordKeeping: recordKeeping, on: reactor, logger: Sample.logger)
            try await Sample.running(gateway) { try await body(HTTP2Bench(simulator, $0, configuration)) }
        }
    }

    /// Runs a simulator, and a reactor for gateways, while `body` runs.
    func running(_ body: @escaping @Sendable (Simulator, Reactor) async throws -> Void) async throws {
        var settings = Simulator.Configuration()
        settings.script = try FaultScript(script)
        settings.requestRules = rules
        settings.http2Manner = manner
        settings.detail = detail
        settings.logger = Sample.logger
        try await Simulator.running(settings) { simulator in
            let reactor = try Reactor(name: "gateway")
            defer { reactor.stop() }
            try await body(simulator, reactor)
        }
    }

    /// Settings for a simulator: its own certificate as identity, and short pauses.
    static func configuration(of simulator: Simulator) throws -> HTTP2Wire.Configuration {
        let identity = try simulator.certificates.client.map { try Credentials.pem(certificate: $0) }
        let context = try TLSContext.client(
            identity: identity, trust: .pem(simulator.certificates.authority),
            options: TLSOptions(applicationProtocols: ["h2"]))
        var configuration = HTTP2Wire.Configuration(
            GatewaySettings(endpoint: Sample.endpoint(simulator.ports.http2), context: context),
            .apns(HTTP2Wire.APNS(defaultTopic: "com.example.weather")))
        // Only tests about late answers and handshakes want one to be late, however busy the machine is.
        configuration.timeouts.answer = .seconds(600)
        configuration.timeouts.connect = .seconds(60)
        configuration.connectBackOff = BackOff(first: .milliseconds(10), ceiling: .milliseconds(100))
        configuration.pauses.later = BackOff(first: .milliseconds(100), ceiling: .milliseconds(200))
        configuration.pauses.serverError = BackOff(first: .milliseconds(100), ceiling: .milliseconds(400))
        return configuration
    }
}
