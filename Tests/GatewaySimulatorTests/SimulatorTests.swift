import APNSBinary
import GatewaySimulator
import Testing

/// The gateway over loopback TLS.
@Suite(.timeLimit(.minutes(1)))
struct SimulatorTests {
    @Test func `what is good is accepted in silence and in order`() async throws {
        try await Simulator.running { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...100))
            let ledger = try await simulator.ledger { $0.arrivedCount == 100 }
            #expect(Sample.accepted(ledger) == Array(1...100))
            #expect(await client.receive(1, within: .milliseconds(50)).ending == .silent)
        }
    }

    @Test func `a refusal names its notification and discards what follows`() async throws {
        var configuration = Simulator.Configuration()
        configuration.script = try FaultScript("nth=3 refuse status=8")
        try await Simulator.running(configuration) { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...10))
            let (reply, ending) = try await client.reply()
            #expect(reply == ErrorReply(status: .invalidToken, identifier: 3))
            #expect(ending == .closed)
            let ledger = await simulator.ledger
            #expect(Sample.accepted(ledger) == [1, 2])
            #expect(ledger.discardedCount == 7)
        }
    }
}
