import GatewaySimulator
import Gateways
import LinuxIO
import Logging
import OpenSSL
import PushModel

/// What the tests send, and with what settings.
enum Sample {
    static let job = JobID(bits: 7)

    /// Says nothing.
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The token of a number: its first four and its last four bytes are the number, big-endian.
    static func token(_ number: Int) -> [UInt8] {
        let digits = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        return digits + [UInt8](repeating: 0xAB, count: 24) + digits
    }

    /// The number of a token.
    static func number(of token: [UInt8]) -> Int {
        token.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Notifications with the tokens of these numbers.
    static func batch(
        _ range: Range<Int>, job: JobID = job, onDoubt: OnDoubt = .resend, payloadByteCount: Int = 20
    ) -> Batch {
        var tokens = PackedBytes()
        for number in range { tokens.append(token(number)) }
        let payload =
            Array(#"{"x":""#.utf8) + [UInt8](repeating: 0x78, count: payloadByteCount - 8) + Array(#""}"#.utf8)
        return Batch(
            header: .init(job: job, attributes: Attributes(), onDoubt: onDoubt), firstIndex: range.lowerBound,
            addresses: tokens, payloads: .shared(Payload(bytes: payload)))
    }

    /// Notifications with these attributes.
    static func batch(_ range: Range<Int>, attributes: Attributes) -> Batch {
        var tokens = PackedBytes()
        for number in range { tokens.append(token(number)) }
        let payload = Payload(bytes: Array(#"{"aps":{"content-changed":true}}"#.utf8))
        return Batch(
            header: .init(job: job, attributes: attributes), firstIndex: range.lowerBound, addresses: tokens,
            payloads: .shared(payload))
    }

    /// The numbers that a simulator accepted, in order.
    static func accepted(_ ledger: Ledger) -> [Int] {
        ledger.acceptedTokens.map(number)
    }

    /// A context that shows the simulator's own client certificate.
    static func context(of simulator: Simulator) throws -> TLSContext {
        let identity = try simulator.certificates.client.map { try Credentials.pem(certificate: $0) }
        return try .client(identity: identity, trust: .pem(simulator.certificates.authority))
    }

    /// Settings for a simulator: quick to connect again, but on a busy machine it may answer late.
    static func configuration(of simulator: Simulator) throws -> BinaryWire.Configuration {
        var configuration = BinaryWire.Configuration(
            GatewaySettings(endpoint: endpoint(simulator.ports.gateway), context: try context(of: simulator)))
        configuration.confirmation = .silence(.seconds(3))
        // Only tests about handshakes want one to be late, however busy the machine is.
        configuration.timeouts.connect = .seconds(60)
        configuration.connectBackOff = BackOff(first: .milliseconds(10), ceiling: .milliseconds(100))
        return configuration
    }

    static func endpoint(_ port: Int, serverName: String? = nil) -> Endpoint {
        Endpoint(HostPort(host: "127.0.0.1", port: UInt16(port)), serverName: serverName)
    }

    /// Runs a gateway while `body` runs.
    static func running(
        _ configuration: BinaryWire.Configuration, recordKeeping: RecordKeeping = .none,
        _ body: (any PushGateway) async throws -> Void
    ) async throws {
        let reactor = try Reactor(name: "gateway")
        defer { reactor.stop() }
        let gateway = GatewayConfiguration.binary(configuration)
            .makeGateway(recordKeeping: recordKeeping, on: reactor, logger: logger)
        try await running(gateway, body)
    }

    /// Runs a gateway while `body` runs.
    static func running(
        _ gateway: any PushGateway, _ body: (any PushGateway) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { await gateway.run() }
            try await body(gateway)
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
