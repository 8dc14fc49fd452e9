import APNSBinary
import GatewaySimulator
import Testing

/// What a client sees of each fault, over loopback TLS.
@Suite(.timeLimit(.minutes(10)))
struct WireFaultTests {
    /// Sends ten notifications to a gateway with this script, and returns what comes of it.
    private func outcome(
        of script: String, within time: Duration = .seconds(10)
    ) async throws -> (bytes: [UInt8], ending: TestClient.Ending?, ledger: Ledger) {
        var configuration = Simulator.Configuration()
        configuration.script = try FaultScript(script)
        return try await Simulator.running(configuration) { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...10))
            let (bytes, ending) = await client.receive(within: time)
            return (bytes, ending, await simulator.ledger)
        }
    }

    @Test(
        arguments: [
            ("nth=3 refuse status=8", [8, 8, 0, 0, 0, 3], .closed),
            ("nth=3 refuse delay=100ms", [8, 8, 0, 0, 0, 3], .closed),
            ("nth=3 half", [8, 8, 0], .closed), ("nth=3 junk", [9, 8, 0, 0, 0, 3], .closed),
            ("after=2 shutdown", [8, 10, 0, 0, 0, 2], .closed), ("after=2 close", [], .closed),
            ("after=2 cut", [], .cut), ("nth=3 refuse then=cut", [8, 8, 0, 0, 0, 3], .cut),
            ("after=2 reset", [], .broken),
        ] as [(String, [UInt8], TestClient.Ending)])
    func `each end looks different`(script: String, bytes: [UInt8], ending: TestClient.Ending) async throws {
        let outcome = try await outcome(of: script)
        #expect(outcome.bytes == bytes)
        #expect(outcome.ending == ending)
        #expect(Sample.accepted(outcome.ledger) == [1, 2])
    }

    @Test(arguments: ["nth=3 blackhole", "nth=3 stall for=1h", "nth=3 refuse then=stay identifier=zero"])
    func `some faults leave the connection open`(script: String) async throws {
        let outcome = try await outcome(of: script, within: .milliseconds(200))
        #expect(outcome.ending == .silent)
        #expect(outcome.ledger.acceptedCount <= 3)
    }

    @Test func `a stall ends`() async throws {
        var configuration = Simulator.Configuration()
        configuration.script = try FaultScript("after=2 stall for=50ms")
        try await Simulator.running(configuration) { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...10))
            #expect(try await simulator.ledger { $0.acceptedCount == 10 }.arrivedCount == 10)
        }
    }

    @Test(
        arguments: [
            "refuse-connection times=1", "fail-handshake times=1", "fail-handshake by=alert times=1",
            "fail-handshake by=junk times=1",
        ])
    func `a handshake fails once, and then succeeds`(script: String) async throws {
        var configuration = Simulator.Configuration()
        configuration.script = try FaultScript(script)
        try await Simulator.running(configuration) { simulator in
            await #expect(throws: (any Error).self) { try await TestClient().connect(simulator) }
            try await TestClient().connect(simulator)
            #expect(try await simulator.ledger { $0.connections.count == 1 }.connectionCount == 2)
        }
    }

    @Test func `a gateway that does not listen refuses, and listens again on its port`() async throws {
        var configuration = Simulator.Configuration()
        configuration.script = try FaultScript("after=1 stop-listening for=300ms times=1")
        try await Simulator.running(configuration) { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            try await client.send(Sample.frames(1...1))
            _ = try await simulator.ledger { $0.arrivedCount == 1 }
            var refusals = 0
            while refusals < 10_000 {
                do {
                    return try await TestClient().connect(simulator)
                } catch {
                    refusals += 1
                }
            }
            Issue.record("it never listened again")
        }
    }

    @Test func `without a ticket the client learns nothing after the handshake`() async throws {
        var configuration = Simulator.Configuration()
        configuration.script = try FaultScript("no-tickets")
        try await Simulator.running(configuration) { simulator in
            let client = try TestClient()
            try await client.connect(simulator)
            #expect(try await client.isConfirmed(within: .milliseconds(100)) == false)
            try await client.send(Sample.frames(1...1))
            #expect(try await simulator.ledger { $0.arrivedCount == 1 }.acceptedCount == 1)
        }
    }
}
