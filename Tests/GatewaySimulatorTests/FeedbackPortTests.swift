import APNSBinary
import APNSModel
import GatewaySimulator
import PushModel
import Testing

/// The feedback service over loopback TLS.
@Suite(.timeLimit(.minutes(10)))
struct FeedbackPortTests {
    private static let gone = (1...3).map { GoneToken(token: Sample.token($0), epochSeconds: 1_700_000_000) }

    /// Connects to the feedback service and reads to the end.
    private func read(_ simulator: Simulator) async throws -> (bytes: [UInt8], ending: TestClient.Ending?) {
        let client = try TestClient()
        try await client.connect(simulator, port: simulator.ports.feedback)
        return await client.receive()
    }

    @Test func `the list is told once, then the service closes`() async throws {
        var configuration = Simulator.Configuration()
        configuration.feedback = Self.gone
        configuration.feedbackManner.pieceSizes = [1, 7]
        configuration.feedbackManner.pause = .milliseconds(1)
        try await Simulator.running(configuration) { simulator in
            let (bytes, ending) = try await read(simulator)
            #expect(bytes.count == 3 * 38 && ending == .closed)
            let first = FeedbackTuple(decoding: bytes.span)
            #expect(first?.token.bytes == Sample.token(1) && first?.epochSeconds == 1_700_000_000)
            #expect(try await read(simulator).bytes.isEmpty)
        }
    }

    @Test func `the last tuple may be cut short`() async throws {
        try await Simulator.running { simulator in
            await simulator.addFeedback(Self.gone)
            var manner = FeedbackManner()
            manner.omittedByteCount = 5
            await simulator.setFeedbackManner(manner)
            let (bytes, ending) = try await read(simulator)
            #expect(bytes.count == 3 * 38 - 5 && ending == .closed)
        }
    }

    @Test func `the connection may be reset in the middle`() async throws {
        var configuration = Simulator.Configuration()
        configuration.feedback = Self.gone
        configuration.feedbackManner.resetAfter = 50
        try await Simulator.running(configuration) { simulator in
            let (bytes, ending) = try await read(simulator)
            #expect(bytes.count == 50 && ending == .broken)
        }
    }

    @Test func `tokens that are refused or gone are told after they were sent to`() async throws {
        var configuration = Simulator.Configuration()
        configuration.gone = [GoneToken(token: Sample.token(1), epochSeconds: 77)]
        configuration.rules.unregistered = [Sample.token(3)]
        configuration.tellsRefusedTokens = true
        try await Simulator.running(configuration) { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...5))
            _ = try await simulator.ledger { $0.refusedCount == 1 }
            #expect(try await read(simulator).bytes.count == 2 * 38)
        }
    }
}
