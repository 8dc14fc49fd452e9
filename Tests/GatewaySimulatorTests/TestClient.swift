import APNSBinary
import GatewaySimulator
import LinuxIO
import OpenSSL
import PushModel
import SecureTransport

/// A small client of the gateway for tests: connects, sends bytes, and collects what comes back.
actor TestClient {
    private nonisolated let reactor: Reactor
    private var stream: SecureStream?
    private var received: [UInt8] = []
    private var ending: Ending?

    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// How the gateway ended the connection.
    enum Ending: Hashable, Sendable {
        case closed, cut, broken, silent
    }

    init() throws {
        reactor = try Reactor(name: "test client")
    }

    deinit {
        if !reactor.isCurrent { reactor.stop() }
    }

    /// Connects with the simulator's own client certificate.
    func connect(_ simulator: Simulator, port: Int? = nil, showsCertificate: Bool = true) async throws {
        try await connect(
            simulator.certificates, port: port ?? simulator.ports.gateway, showsCertificate: showsCertificate)
    }

    /// Connects with the client's certificate, or without.
    func connect(_ certificates: Certificates, port: Int, showsCertificate: Bool = true) async throws {
        let identity = try (showsCertificate ? certificates.client : nil).map { try Credentials.pem(certificate: $0) }
        let context = try TLSContext.client(identity: identity, trust: .pem(certificates.authority))
        let endpoint = SecureEndpoint(host: HostPort(host: "127.0.0.1", port: UInt16(port)), context: context)
        stream = try await SecureStream.connect(to: endpoint, on: reactor, until: .now + .seconds(60))
    }

    /// Whether the gateway's consent to the certificate can be proven within a while.
    func isConfirmed(within time: Duration) async throws -> Bool {
        try await stream?.awaitConfirmation(until: .now + time) ?? false
    }

    /// Sends all of it.
    func send(_ bytes: [UInt8]) async throws {
        guard let stream else { return }
        try stream.write(bytes.span)
        while try !stream.flush() {
            _ = await stream.wait(for: [], until: .now + .seconds(60))
        }
    }

    /// Reads until so many bytes are there or the connection ends; `silent` if neither happens within `time`.
    func receive(_ count: Int = .max, within time: Duration = .seconds(60)) async -> (bytes: [UInt8], ending: Ending?) {
        let deadline = ContinuousClock.now + time
        while received.count < count, ending == nil, .now < deadline {
            await receiveOnce(until: deadline)
        }
        return (received, ending ?? (received.count < count ? .silent : nil))
    }

    /// The reply that comes, and how the connection ends.
    func reply(within time: Duration = .seconds(60)) async throws -> (reply: ErrorReply?, ending: Ending?) {
        let (bytes, ending) = await receive(within: time)
        return (try ErrorReply(decoding: bytes.span), ending)
    }

    private func receiveOnce(until deadline: ContinuousClock.Instant) async {
        guard let stream else { return ending = .broken }
        do {
            switch try stream.read(into: &received) {
            case .bytes: break
            case .closed(let isClean): ending = isClean ? .closed : .cut
            case .wouldBlock: _ = await stream.wait(for: .readable, until: deadline)
            }
        } catch {
            ending = .broken
        }
    }
}

/// Notifications to send in tests.
enum Sample {
    /// A token of 32 bytes that ends in `number`.
    static func token(_ number: Int) -> [UInt8] {
        [UInt8](repeating: 0xAB, count: 28) + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    /// The frames of these notifications, end to end; each is called by its number.
    static func frames(
        _ numbers: some Sequence<Int>, format: FrameFormat = .frame, payload: String = #"{"aps":{"alert":"hi"}}"#
    ) -> [UInt8] {
        var encoder = FrameEncoder(format: format, attributes: Attributes())
        var bytes: [UInt8] = []
        for number in numbers {
            encoder.append(
                token: token(number)[...], payload: Array(payload.utf8)[...], identifier: UInt32(number), to: &bytes)
        }
        return bytes
    }

    /// The numbers of the notifications that were accepted, in order.
    static func accepted(_ ledger: Ledger) -> [UInt32] {
        ledger.accepted.map { $0.identifier ?? 0 }
    }
}
