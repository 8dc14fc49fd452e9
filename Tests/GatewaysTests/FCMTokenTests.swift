import FCMHTTP2
import GatewaySimulator
import JSON
import LinuxIO
import OpenSSL
import PushModel
import ServiceProcess
import TestSupport
import Testing

@testable import Gateways

/// Access tokens from a simulated token endpoint, over TLS.
@Suite(.timeLimit(.minutes(10)))
struct FCMTokenTests {
    private static let project = Result { try FCMProject.throwaway() }

    /// Runs `body` with the sources of tokens of a simulator's account.
    private func running(
        _ script: String = "", at authority: @Sendable (Simulator) -> [UInt8] = { $0.certificates.authority },
        _ body: @Sendable (AccessTokenSource, Simulator) async throws -> Void
    ) async throws {
        let (project, file) = try Self.project.get()
        var settings = Simulator.Configuration()
        settings.script = try FaultScript(script)
        settings.fcm.rules.projects = [project]
        settings.logger = Sample.logger
        try await Simulator.running(settings) { simulator in
            let (worker, reactor) = (try WorkerThread(name: "tokens"), try Reactor(name: "gateway"))
            defer {
                worker.stop()
                reactor.stop()
            }
            let context = try TLSContext.client(
                identity: nil, trust: .pem(authority(simulator)), options: TLSOptions(applicationProtocols: ["h2"]))
            var parser = JSON.Parser()
            let content = try ServiceAccountFile(file, parser: &parser)
            let key = try ServiceAccountKey(content.account, privateKey: content.privateKey)
            let access = TokenEndpoint.Access(endpoint: Sample.endpoint(simulator.ports.oauth), context: context)
            let sources = TokenSources(folder: nil, worker: worker, reactor: reactor, logger: Sample.logger)
            #expect(sources.source(of: key, through: access) === sources.source(of: key, through: access))
            try await body(sources.source(of: key, through: access), simulator)
        }
    }

    @Test func `a signed request gets a token that Google accepts`() async throws {
        try await running { source, simulator in
            let token = try await source.current(at: .now)
            #expect(token.authorization.hasPrefix("Bearer ya29.") && source.fetchCount == 1)
            #expect(await simulator.ledger.tokenRequests.map(\.outcome) == [.accepted])
        }
    }

    @Test func `a refusal blames the account`() async throws {
        try await running("port=oauth answer reason=invalid_grant") { source, _ in
            let refusal = await #expect(throws: AccountRefusal.self) { try await source.current(at: .now) }
            #expect(refusal?.fault.message.contains("`invalid_grant`") == true)
        }
    }

    @Test func `an app whose account is refused stops`() async throws {
        try await running("port=oauth answer reason=invalid_grant") { source, simulator in
            var configuration = try HTTP2Plan.configuration(of: simulator)
            (configuration.service, configuration.tokenSource) = (.fcm(project: "weather-4711"), source)
            configuration.endpoint = Sample.endpoint(simulator.ports.fcm)
            configuration.stopPause = .seconds(3600)
            let reactor = try Reactor(name: "fcm")
            defer { reactor.stop() }
            let gateway = GatewayConfiguration.http2(configuration).makeGateway(on: reactor, logger: Sample.logger)
            try await Sample.running(gateway) { [configuration] gateway in
                let bench = HTTP2Bench(simulator, gateway, configuration)
                try await bench.submit(1)
                try await bench.collect { !$0.stops.isEmpty }
                #expect(bench.record.stops[0].message.contains("`invalid_grant`"))
            }
        }
    }

    @Test func `a clock that is wrong is told as such`() async throws {
        try await running { source, _ in
            let yesterday = WallTime(epochSeconds: WallTime.now.epochSeconds - 86_400)
            let refusal = await #expect(throws: AccountRefusal.self) { try await source.current(at: yesterday) }
            #expect(refusal?.fault.hint?.contains("set this machine's clock") == true, "\(refusal as Any)")
        }
    }

    @Test func `an endpoint with another certificate gets no request`() async throws {
        let other = try ThrowawayAuthority().certificatePEM()
        try await running(at: { _ in other }) { source, simulator in
            let fault = await #expect(throws: GatewayFault.self) { try await source.current(at: .now) }
            #expect(fault?.message.contains("127.0.0.1") == true && fault?.hint != nil, "\(fault as Any)")
            #expect(await simulator.ledger.tokenRequests.isEmpty)
        }
    }
}
