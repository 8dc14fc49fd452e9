import GatewaySimulator
import Gateways
import LinuxIO
import OpenSSL
import PushModel
import Synchronization
import Testing

/// What changes under way: the configuration, and the gateway's addresses.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2ChangeTests {
    @Test func `another configuration under load settles each notification once`() async throws {
        var plan = HTTP2Plan("latency delay=20ms jitter=30ms") { $0.connectionLimit = 2 }
        plan.manner.streamLimit = 50
        plan.detail = .numbered(limit: 3_000)
        try await plan.run { bench in
            try await bench.submit(3_000)
            for number in 1...3 {
                try await bench.collect { $0.outcomes.count >= number * 600 }
                await bench.reconfigure(bench.configuration)
            }
            try await bench.settle()
            #expect(bench.record.acceptedCount == 3_000 && bench.record.surplusCount == 0)
            #expect(bench.record.doubtfulCount == 0 && bench.record.resentCount == 0)
            let ledger = await bench.simulator.ledger
            #expect(ledger.tally.isExactlyOnce(3_000) && ledger.violations.isEmpty)
            #expect((2...8).contains(ledger.connectionCount))
        }
    }

    @Test func `connections of the old configuration get their answers and close in good order`() async throws {
        try await HTTP2Plan("connection=1 latency delay=300ms").run { bench in
            try await bench.submit(10)
            _ = try await bench.simulator.ledger { $0.acceptedCount == 10 }
            await bench.reconfigure(bench.configuration)
            try await bench.submit(10)
            try await bench.settle()
            let ledger = try await bench.simulator.ledger { $0.departures[1]?.saidGoodbye == true }
            #expect(ledger.departures[1]?.goAwayCode == 0 && ledger.duplicates.isEmpty)
            #expect(bench.record.acceptedCount == 20 && ledger.connectionCount == 2)
            #expect(bench.record.reports.isEmpty)
        }
    }

    @Test func `the gateway's name is looked up afresh for each connection`() async throws {
        let certificates = try Certificates.throwaway(hosts: ["gateway.example"])
        try await Self.running(certificates, "127.0.0.1", port: 0) { first in
            try await Self.running(certificates, "127.0.0.2", port: first.ports.http2) { second in
                let names = Names("127.0.0.1")
                try await AddressLookup.$standIn.withValue(names.addresses) {
                    try await Self.expectMove(from: first, to: second, by: names)
                }
            }
        }
    }

    private static func expectMove(from first: Simulator, to second: Simulator, by names: Names) async throws {
        var configuration = try HTTP2Plan.configuration(of: first)
        configuration.endpoint = Endpoint(HostPort(host: "gateway.example", port: UInt16(first.ports.http2)))
        let reactor = try Reactor(name: "gateway")
        defer { reactor.stop() }
        try await Sample.running(
            GatewayConfiguration.http2(configuration).makeGateway(on: reactor, logger: Sample.logger)
        ) { gateway in
            let bench = HTTP2Bench(first, gateway, configuration)
            try await bench.submit(5)
            try await bench.settle()
            names.move(to: "127.0.0.2")
            await first.dropConnections()
            try await bench.collect { !$0.reports.isEmpty }
            try await bench.submit(5)
            try await bench.settle()
        }
        #expect(Sample.accepted(await first.ledger) == Array(0..<5))
        #expect(Sample.accepted(await second.ledger) == Array(5..<10))
        #expect(names.asked == ["gateway.example", "gateway.example"])
    }

    private static func running(
        _ certificates: Certificates, _ address: String, port: Int, _ body: (Simulator) async throws -> Void
    ) async throws {
        var settings = Simulator.Configuration()
        (settings.certificates, settings.address, settings.http2Port) = (certificates, address, port)
        settings.logger = Sample.logger
        try await Simulator.running(settings, body)
    }

    /// A name service with one name.
    private final class Names: Sendable {
        private let state: Mutex<(address: String, asked: [String])>

        init(_ address: String) {
            state = Mutex((address, []))
        }

        var asked: [String] { state.withLock { $0.asked } }

        func move(to address: String) { state.withLock { $0.address = address } }

        @Sendable func addresses(of host: String) -> [String] {
            state.withLock {
                $0.asked.append(host)
                return [$0.address]
            }
        }
    }
}
