import GatewaySimulator
import Gateways
import LinuxIO
import OpenSSL
import PushModel
import Testing

/// Certificates that do not fit, and peers that hang up before anything is sent.
@Suite(.timeLimit(.minutes(10)))
struct TrustTests {
    /// Runs a gateway against a simulator beside a second one that is set up well, until `faultCount` connects failed.
    private func expectNothingSent(
        _ plan: BenchPlan, faultCount: Int = 2, naming text: String
    ) async throws {
        try await plan.run { bench in
            let good = try Sample.configuration(of: bench.simulator)
            try await bench.submit(10)
            try await bench.collect { $0.reports.count >= faultCount }
            let fault = try #require(bench.record.reports.last?.fault)
            #expect(fault.message.contains(text), "\(fault)")
            #expect(fault.hint != nil, "\(fault)")
            #expect(await bench.simulator.ledger.arrivedCount == 0)
            try await Sample.running(good) { gateway in
                let other = Bench(bench.simulator, gateway, good)
                try await other.submit(5)
                try await other.settle()
                #expect(other.record.acceptedCount == 5)
            }
            #expect(await bench.simulator.ledger.arrivedCount == 5)
            #expect(bench.record.outcomes.isEmpty)
        }
    }

    @Test func `a server of an unknown authority gets nothing`() async throws {
        let authority = try CertificateAuthority(commonName: "Somebody else").certificatePEM()
        let context = try TLSContext.client(trust: .pem(authority))
        try await expectNothingSent(BenchPlan { $0.context = context }, naming: "certificate")
    }

    @Test func `a server of another name gets nothing`() async throws {
        let plan = BenchPlan {
            $0.endpoint = Endpoint($0.endpoint.address, serverName: "gateway.push.example")
        }
        try await expectNothingSent(plan, naming: "gateway.push.example")
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a client without a certificate sends nothing`(version: TLSVersion) async throws {
        try await Simulator.running { simulator in
            let context = try TLSContext.client(
                trust: .pem(simulator.certificates.authority), options: TLSOptions(versions: version...version))
            try await expectRefusal(by: simulator, context)
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a client of another authority sends nothing`(version: TLSVersion) async throws {
        try await Simulator.running { simulator in
            let stranger = try CertificateAuthority().issue(.push(topic: "com.example.weather")).credentials
            let context = try TLSContext.client(
                identity: stranger, trust: .pem(simulator.certificates.authority),
                options: TLSOptions(versions: version...version))
            try await expectRefusal(by: simulator, context)
        }
    }

    @Test func `a client whose certificate has expired sends nothing`() async throws {
        let authority = try CertificateAuthority()
        let server = try authority.issue(.server(["127.0.0.1"]))
        var past = CertificatePlan.push(topic: "com.example.weather")
        past.validity = 1_500_000_000...1_600_000_000
        let context = try TLSContext.client(
            identity: try authority.issue(past).credentials, trust: .pem(try authority.certificatePEM()))
        var settings = Simulator.Configuration()
        settings.certificates = Certificates(
            authority: try authority.certificatePEM(), server: try server.certificatePEM() + server.keyPEM())
        try await Simulator.running(settings) { try await expectRefusal(by: $0, context) }
    }

    /// Expects a gateway with this context to be refused until it stops, without a byte of a notification sent.
    private func expectRefusal(by simulator: Simulator, _ context: TLSContext) async throws {
        var configuration = BinaryWire.Configuration(
            GatewaySettings(endpoint: Sample.endpoint(simulator.ports.gateway), context: context))
        configuration.connectBackOff = BackOff(first: .milliseconds(1), ceiling: .milliseconds(5))
        try await Sample.running(configuration) { gateway in
            let bench = Bench(simulator, gateway, configuration)
            try await bench.submit(10)
            try await bench.collect { $0.stops.count == 1 }
            #expect(bench.record.reports.count == 10)
            #expect(bench.record.stops[0].message.contains("certificate"), "\(bench.record.stops[0])")
            #expect(bench.record.stops[0].hint != nil)
            #expect(bench.record.outcomes.isEmpty)
            #expect(await simulator.ledger.arrivedCount == 0)
        }
    }

    @Test func `a gateway that hangs up right after the handshake is asked ten times, then no more`() async throws {
        try await BenchPlan("close-after-handshake; no-tickets").run { bench in
            try await bench.submit(10)
            try await bench.collect { $0.stops.count == 1 }
            #expect(bench.record.reports.count == 10)
            #expect(bench.record.stops[0].hint != nil)
            #expect(await bench.simulator.ledger.acceptedCount == 0)
            await bench.simulator.setScript(.none)
            await bench.reconfigure(bench.configuration)
            try await bench.settle()
            #expect(Sample.accepted(await bench.simulator.ledger) == Array(0..<10))
        }
    }

    @Test(
        arguments: ["refuse-connection", "fail-handshake", "fail-handshake by=alert", "fail-handshake by=junk"])
    func `a handshake that fails is tried again`(script: String) async throws {
        try await BenchPlan(script + " times=3").run { bench in
            try await bench.submit(10)
            try await bench.settle()
            #expect(bench.record.reports.count == 3)
            #expect(bench.record.reports.allSatisfy { $0.pause > .zero })
            #expect(Sample.accepted(await bench.simulator.ledger) == Array(0..<10))
        }
    }
}
