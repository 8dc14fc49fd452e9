import APNSBinary
import GatewaySimulator
import LinuxIO
import TestSupport
import Testing

/// The gateway over loopback TLS.
@Suite(.timeLimit(.minutes(10)))
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

    @Test func `the client's certificate and its topic are noted`() async throws {
        try await Simulator.running { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            #expect(try await client.isConfirmed(within: patience))
            let connection = try #require(await simulator.ledger.connections.first)
            #expect(connection.topics.contains("com.example.weather"))
            #expect(connection.number == 1)
        }
    }

    @Test func `a client without a certificate is turned away`() async throws {
        try await Simulator.running { simulator in
            let client = try TestClient()
            try await client.connect(simulator, showsCertificate: false)
            await #expect(throws: (any Error).self) { try await client.isConfirmed(within: patience) }
            #expect(await simulator.ledger.connections.isEmpty)
        }
    }

    @Test func `numbered tokens are checked at a byte each`() async throws {
        var configuration = Simulator.Configuration()
        configuration.detail = .numbered(limit: 30_000)
        try await Simulator.running(configuration) { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            for start in stride(from: 0, to: 30_000, by: 1000) {
                try await client.send(Sample.frames(start..<start + 1000))
            }
            let ledger = try await simulator.ledger { $0.arrivedCount == 30_000 }
            #expect(ledger.tally.isExactlyOnce(30_000) && ledger.tally.descentCount == 0)
        }
    }

    @Test func `script and rules change while it runs`() async throws {
        try await Simulator.running { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...2))
            _ = try await simulator.ledger { $0.arrivedCount == 2 }
            await simulator.setScript(try FaultScript("nth=1 refuse status=255"))
            try await client.send(Sample.frames(3...4))
            #expect(try await client.reply().reply == ErrorReply(status: .unknown, identifier: 3))
        }
    }

    @Test(arguments: [(false, TestClient.Ending.closed), (true, .broken)])
    func `open connections are dropped on request`(resetting: Bool, ending: TestClient.Ending) async throws {
        try await Simulator.running { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...1))
            _ = try await simulator.ledger { $0.arrivedCount == 1 }
            await simulator.dropConnections(resetting: resetting)
            #expect(await client.receive().ending == ending)
        }
    }

    @Test func `the ledger's file has a line for each notification`() async throws {
        let directory = try TemporaryDirectory()
        var configuration = Simulator.Configuration()
        configuration.ledgerPath = directory.path + "/ledger.jsonl"
        try await Simulator.running(configuration) { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...50))
            _ = try await simulator.ledger { $0.arrivedCount == 50 }
        }
        let text = try #require(try directory.directory.contents(of: Array("ledger.jsonl".utf8), limit: 1 << 20))
        #expect(try Ledger.entries(ofLines: text).map(\.identifier) == (1...50).map { UInt32($0) })
    }

    @Test func `a port that is taken is a fault with a reason`() async throws {
        try await Simulator.running { simulator in
            var configuration = Simulator.Configuration()
            configuration.gatewayPort = simulator.ports.gateway
            let fault = await #expect(throws: SimulatorFault.self) { try await Simulator(configuration) }
            #expect(fault?.message.contains("EADDRINUSE") == true)
        }
    }

    @Test func `certificates are written once, keys for their owner only`() async throws {
        let directory = try TemporaryDirectory()
        let certificates = try Certificates.throwaway()
        try certificates.write(into: directory.path + "/tls")
        let folder = try directory.directory.openChild(Array("tls".utf8))
        #expect(try folder.status(of: Array("client.pem".utf8)).map { $0.mode & 0o777 } == 0o600)
        #expect(try folder.contents(of: Array("ca.pem".utf8), limit: 10_000) == certificates.authority)
        #expect(throws: SimulatorFault.self) { try certificates.write(into: directory.path + "/tls") }
    }
}
