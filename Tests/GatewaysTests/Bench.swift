import APNSBinary
import GatewaySimulator
import Gateways
import LinuxIO
import Logging
import OpenSSL
import PushModel
import Testing

/// A gateway, the simulator it talks to over loopback TLS, and a record of what the gateway told.
final class Bench<Configuration: Sendable> {
    let simulator: Simulator
    let gateway: any PushGateway
    let configuration: Configuration
    private(set) var record = Record()
    private(set) var submittedCount = 0
    private var events: GatewayEvents.AsyncIterator

    init(_ simulator: Simulator, _ gateway: any PushGateway, _ configuration: Configuration) {
        self.simulator = simulator
        self.gateway = gateway
        self.configuration = configuration
        events = gateway.events.makeAsyncIterator()
    }

    /// Goes on with this number, as if those before it had been handed over.
    func skip(to number: Int) {
        submittedCount = number
    }

    /// Hands over `count` more notifications, in batches.
    func submit(
        _ count: Int, batchSize: Int = 1000, onDoubt: OnDoubt = .resend, payloadByteCount: Int = 20
    ) async throws {
        let end = submittedCount + count
        while submittedCount < end {
            let range = submittedCount..<min(submittedCount + batchSize, end)
            try await gateway.submit(Sample.batch(range, onDoubt: onDoubt, payloadByteCount: payloadByteCount))
            submittedCount = range.upperBound
        }
    }

    /// Takes what the gateway tells until `condition` holds.
    func collect(until condition: (Record) -> Bool) async throws {
        while !condition(record) {
            guard let event = await events.next(isolation: nil) else { throw Unmet(record: "\(record.reports)") }
            record.note(event)
        }
    }

    /// Takes what the gateway tells until `condition` holds, and says at once that it is recorded or announced.
    func collectRecording(until condition: (Record) -> Bool) async throws {
        while !condition(record) {
            let before = record.settledCount
            try await collect { $0.settledCount > before || !$0.announcing.isEmpty || condition($0) }
            await recordAll(after: before)
        }
    }

    /// Says that all outcomes told after so many are recorded, and that what is to be announced is.
    func recordAll(after count: Int) async {
        await gateway.recorded(record.settledCount - count)
        await gateway.announced(record.takeAnnouncing())
    }

    /// Takes what the gateway tells until all that was submitted has an outcome.
    func settle() async throws {
        let count = submittedCount
        try await collect { $0.outcomes.count == count }
    }
}

/// The gateway told nothing more, or the test took too long.
struct Unmet: Error {
    let record: String
}

/// A bench of the binary protocol.
typealias BinaryBench = Bench<BinaryWire.Configuration>

/// How a bench of the binary protocol is set up.
struct BenchPlan: Sendable {
    var script = ""
    var rules = GatewayRules()
    var detail = Ledger.Detail.everything
    var recordKeeping = RecordKeeping.none
    /// Changes what the gateway is configured with.
    var adjust: @Sendable (inout BinaryWire.Configuration) -> Void = { _ in }

    init(_ script: String = "", adjust: @escaping @Sendable (inout BinaryWire.Configuration) -> Void = { _ in }) {
        self.script = script
        self.adjust = adjust
    }

    /// Runs `body` with a gateway that takes a second of silence for an acceptance and is quick to connect again.
    func run(_ body: @escaping @Sendable (BinaryBench) async throws -> Void) async throws {
        var settings = Simulator.Configuration()
        settings.script = try FaultScript(script)
        settings.rules = rules
        settings.detail = detail
        settings.logger = Sample.logger
        try await Simulator.running(settings) { simulator in
            var configuration = try Sample.configuration(of: simulator)
            adjust(&configuration)
            try await Sample.running(configuration, recordKeeping: recordKeeping) { gateway in
                try await body(BinaryBench(simulator, gateway, configuration))
            }
        }
    }
}

extension Bench<BinaryWire.Configuration> {
    /// Uses another configuration.
    func reconfigure(_ configuration: BinaryWire.Configuration) async {
        let isOfThisProtocol = await gateway.reconfigure(.binary(configuration))
        #expect(isOfThisProtocol)
    }
}

extension Bench<HTTP2Wire.Configuration> {
    /// Uses another configuration.
    func reconfigure(_ configuration: HTTP2Wire.Configuration) async {
        let isOfThisProtocol = await gateway.reconfigure(.http2(configuration))
        #expect(isOfThisProtocol)
    }
}

extension PushGateway {
    /// Hands over one batch.
    func submit(_ batch: Batch) async throws {
        try await submit([batch])
    }
}
