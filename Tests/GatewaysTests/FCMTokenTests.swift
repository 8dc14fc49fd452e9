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
    @Test func `a signed request gets a token that Google accepts`() async throws {
        try await FCMPlan().running { source, simulator, _ in
            let token = try await source.current(at: .now)
            #expect(token.authorization.hasPrefix("Bearer ya29.") && source.fetchCount == 1)
            #expect(await simulator.ledger.tokenRequests.map(\.outcome) == [.accepted])
        }
    }

    @Test func `a refusal blames the account`() async throws {
        try await FCMPlan("port=oauth answer reason=invalid_grant").running { source, _, _ in
            let refusal = await #expect(throws: AccountRefusal.self) { try await source.current(at: .now) }
            #expect(refusal?.fault.message.contains("`invalid_grant`") == true)
        }
    }

    @Test func `an app whose account is refused stops`() async throws {
        let plan = FCMPlan("port=oauth answer reason=invalid_grant") { $0.stopPause = .seconds(3600) }
        try await plan.run { bench, _ in
            try await bench.gateway.submit(FCMPlan.batch(to: [FCMPlan.token(0)]))
            try await bench.collect { !$0.stops.isEmpty }
            #expect(bench.record.stops[0].message.contains("`invalid_grant`"))
        }
    }

    @Test func `a clock that is wrong is told as such`() async throws {
        try await FCMPlan().running { source, _, _ in
            let yesterday = WallTime(epochSeconds: WallTime.now.epochSeconds - 86_400)
            let refusal = await #expect(throws: AccountRefusal.self) { try await source.current(at: yesterday) }
            #expect(refusal?.fault.hint?.contains("set this machine's clock") == true, "\(refusal as Any)")
        }
    }

    @Test func `an endpoint with another certificate gets no request`() async throws {
        let other = try CertificateAuthority().certificatePEM()
        try await FCMPlan().running(trusting: other) { source, simulator, _ in
            let fault = await #expect(throws: GatewayFault.self) { try await source.current(at: .now) }
            #expect(fault?.message.contains("127.0.0.1") == true && fault?.hint != nil, "\(fault as Any)")
            #expect(await simulator.ledger.tokenRequests.isEmpty)
        }
    }
}
