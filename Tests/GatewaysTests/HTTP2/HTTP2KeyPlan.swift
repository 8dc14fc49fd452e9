import APNSHTTP2
import GatewaySimulator
import Gateways
import LinuxIO
import OpenSSL
import Testing

/// A gateway that knows one key, and what signs with it.
struct HTTP2KeyPlan: Sendable {
    let plan: HTTP2Plan
    let key: ProviderKey

    init(_ script: String = "") throws {
        let (registered, privateKey) = try RegisteredKey.throwaway()
        var plan = HTTP2Plan(script)
        plan.rules.keys = [registered]
        self.plan = plan
        let identity = ProviderIdentity(keyID: registered.keyID, teamID: registered.teamID)
        key = try ProviderKey(#require(identity), p8: privateKey)
    }

    /// Runs `body` with a gateway whose only identity is the key.
    func run(_ body: @escaping @Sendable (HTTP2Bench, ProviderTokenSource) async throws -> Void) async throws {
        try await plan.running { simulator, reactor in
            let worker = try WorkerThread(name: "tokens")
            defer { worker.stop() }
            let sources = TokenSources(folder: nil, worker: worker, reactor: reactor, logger: Sample.logger)
            let source = sources.source(of: key)
            let configuration = try Self.configuration(of: simulator, source)
            let gateway = GatewayConfiguration.http2(configuration).makeGateway(on: reactor, logger: Sample.logger)
            try await Sample.running(gateway) { try await body(HTTP2Bench(simulator, $0, configuration), source) }
        }
    }

    /// Settings with the key as the only identity.
    static func configuration(of simulator: Simulator, _ source: any TokenSource) throws -> HTTP2Wire.Configuration {
        var configuration = try HTTP2Plan.configuration(of: simulator)
        configuration.context = try TLSContext.client(
            identity: nil, trust: .pem(simulator.certificates.authority),
            options: TLSOptions(applicationProtocols: ["h2"]))
        configuration.tokenSource = source
        return configuration
    }
}
