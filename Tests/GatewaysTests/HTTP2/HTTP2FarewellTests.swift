import GatewaySimulator
import Gateways
import Testing

/// How a gateway's connections are left: with a word that says why.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2FarewellTests {
    @Test(arguments: ["continuation count=300", "ping count=12000", "window count=12000"])
    func `a gateway that floods the connection is told to calm down`(flood: String) async throws {
        try await HTTP2Plan("connection=1 nth=5 flood of=\(flood)").run { bench in
            try await bench.submit(20)
            try await bench.settle()
            let ledger = try await bench.simulator.ledger { $0.departures[1]?.goAwayCode != nil }
            #expect(ledger.departures[1]?.goAwayCode == 11)
        }
    }

    @Test func `an idle connection ends in good order when the program does`() async throws {
        try await HTTP2Plan().running { simulator, reactor in
            let configuration = try HTTP2Plan.configuration(of: simulator)
            let gateway = GatewayConfiguration.http2(configuration).makeGateway(on: reactor, logger: Sample.logger)
            try await Sample.running(gateway) { gateway in
                let bench = HTTP2Bench(simulator, gateway, configuration)
                try await bench.submit(10)
                try await bench.settle()
            }
            let ledger = try await simulator.ledger { $0.departures[1]?.saidGoodbye == true }
            #expect(ledger.departures[1]?.goAwayCode == 0)
        }
    }

    @Test func `so does one that is still to be drained then`() async throws {
        try await HTTP2Plan().running { simulator, reactor in
            let configuration = try HTTP2Plan.configuration(of: simulator)
            let gateway = GatewayConfiguration.http2(configuration).makeGateway(on: reactor, logger: Sample.logger)
            try await Sample.running(gateway) { gateway in
                let bench = HTTP2Bench(simulator, gateway, configuration)
                try await bench.submit(10)
                try await bench.settle()
                await gateway.drain()
            }
            let ledger = try await simulator.ledger { $0.departures[1]?.saidGoodbye == true }
            #expect(ledger.departures[1]?.goAwayCode == 0)
        }
    }

    @Test func `over the binary protocol, too`() async throws {
        try await Simulator.running { simulator in
            let configuration = try Sample.configuration(of: simulator)
            try await Sample.running(configuration) { gateway in
                let bench = Bench(simulator, gateway, configuration)
                try await bench.submit(10)
                try await bench.settle()
            }
            let ledger = try await simulator.ledger { $0.departures[1]?.saidGoodbye == true }
            #expect(ledger.departures[1]?.goAwayCode == nil)
        }
    }
}
