import APNSGateway
import APNSModel
import LinuxIO
import Logging
import OpenSSL

/// Sends frames of 297 bytes through a `BinaryGateway` as the daemon does, tokens decoded from hexadecimal text included.
///
/// Feeding and counting run on the reactor, beside the gateway, so that one core does everything.
actor BinaryRun {
    /// What makes the run fail.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    private static let batchCount = 1_024

    private let reactor: Reactor
    private let gateway: BinaryGateway
    private let frameCount: Int
    private let texts = TokenTexts()

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    init(to peer: HostPort, _ context: TLSContext, frameCount: Int, on reactor: Reactor) {
        var configuration = BinaryGateway.Configuration(endpoint: Endpoint(peer), context: context)
        // The window must not be what limits the run: all that can be sent in the time of silence fits in.
        configuration.confirmation = .silence(.milliseconds(50))
        configuration.windowLimit = 300_000
        self.reactor = reactor
        self.frameCount = frameCount
        gateway = BinaryGateway(configuration, on: reactor, logger: Logger(label: "benchmark"))
    }

    /// Loads what a client needs from PEM files.
    static func context(certificate: String, key: String, authority: String) throws -> TLSContext {
        let identity = try Credentials.pem(certificate: try read(certificate), key: try read(key))
        return try TLSContext.client(identity: identity, trust: .pem(try read(authority)))
    }

    /// Sends all frames, waits until every one is settled and the connection closed, and says what that has cost.
    func measure() async throws -> Result {
        try await withThrowingTaskGroup { group in
            group.addTask { [gateway] in await gateway.run() }
            let (start, began) = (ProcessTimes.now(), BootClock.nanoseconds())
            group.addTask { try await self.feed() }
            try await settle()
            try await close()
            let result = Result(
                frameCount: frameCount, times: .now() - start,
                wall: .nanoseconds(BootClock.nanoseconds() - began))
            group.cancelAll()
            return result
        }
    }

    /// Decodes tokens and submits them, batch after batch.
    private func feed() async throws {
        let attributes = Attributes(expiration: Expiration(epochSeconds: 2_000_000_000))
        let header = Batch.Header(job: JobID(bits: 1), attributes: attributes)
        let payload = Payload(bytes: Self.payload)
        var sent = 0
        while sent < frameCount {
            let tokens = try texts.decode(min(Self.batchCount, frameCount - sent))
            try await gateway.submit(
                Batch(header: header, firstIndex: sent, tokens: tokens, payloads: .shared(payload)))
            sent += tokens.count
        }
    }

    /// Counts outcomes until there is one for each frame.
    private func settle() async throws {
        var left = frameCount
        for await event in gateway.events {
            switch event {
            case .settled(let settlements):
                left -= settlements.reduce(0) { $0 + $1.batch.count }
                guard settlements.allSatisfy({ $0.outcome == .accepted }) else { throw Fault(description: "refused") }
                if left == 0 { return }
            case .disconnected(let report):
                throw Fault(description: report.fault.message)
            case .stopped(let fault):
                throw Fault(description: fault.message)
            case .connected, .reopened, .resumed, .trying, .suspectEnvironment:
                continue
            }
        }
        throw Fault(description: "the gateway ended early")
    }

    private func close() async throws {
        await gateway.drain()
        while await gateway.connectionCount > 0 { try await reactor.sleep(for: .milliseconds(10)) }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let bytes = try OpenFile.open(path: path).contents(limit: 1 << 20) else {
            throw Fault(description: "\(path) is longer than a PEM file")
        }
        return bytes
    }

    /// 236 bytes, which make a frame of 297.
    private static var payload: [UInt8] {
        let (before, after) = ("{\"aps\":{\"alert\":\"", "\"}}")
        let text = String(repeating: "x", count: 236 - before.utf8.count - after.utf8.count)
        return Array((before + text + after).utf8)
    }
}

extension BinaryRun {
    /// What the run has cost.
    struct Result: Sendable {
        let frameCount: Int
        let times: ProcessTimes
        let wall: Duration

        /// One JSON object with the same names as the C writer's.
        var json: String {
            let cpu = (times.user + times.system) / .seconds(1)
            return """
                {"peer":"pushspool","hex":true,"frames":\(frameCount),"bytes":\(frameCount * 297),\
                "cpu_seconds":\(rounded(cpu)),"user_seconds":\(rounded(times.user / .seconds(1))),\
                "system_seconds":\(rounded(times.system / .seconds(1))),"wall_seconds":\(rounded(wall / .seconds(1))),\
                "frames_per_cpu_second":\(Int(Double(frameCount) / cpu))}
                """
        }

        private func rounded(_ seconds: Double) -> Double { (seconds * 10_000).rounded() / 10_000 }
    }
}
