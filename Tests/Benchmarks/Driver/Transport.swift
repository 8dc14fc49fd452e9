import APNSHTTP2
import Gateways
import LinuxIO
import Logging
import OpenSSL

/// What makes a run fail.
struct Fault: Error, CustomStringConvertible {
    let description: String
}

/// One of the two protocols, and what a notification is called and weighs in it.
enum Transport: String {
    case binary
    case http2

    /// What is counted.
    var unit: String {
        switch self {
        case .binary: "frames"
        case .http2: "requests"
        }
    }

    /// The bytes that the other end counts for each: a whole frame, or the body of a request.
    var unitByteCount: Int {
        switch self {
        case .binary: 297
        case .http2: 236
        }
    }

    /// Loads what a client needs from PEM files.
    func context(certificate: String, key: String, authority: String) throws -> TLSContext {
        let identity = try Credentials.pem(certificate: try Self.read(certificate), key: try Self.read(key))
        let protocols = self == .http2 ? ["h2"] : []
        return try TLSContext.client(
            identity: identity, trust: .pem(try Self.read(authority)),
            options: TLSOptions(applicationProtocols: protocols))
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let bytes = try OpenFile.open(path: path).contents(limit: 1 << 20) else {
            throw Fault(description: "\(path) is longer than a PEM file")
        }
        return bytes
    }
}

extension Transport {
    /// Makes a gateway that waits for work.
    ///
    /// - Throws: `TLSError`, `SystemError`: the machine is out of something.
    func makeGateway(
        to peer: HostPort, _ context: TLSContext, recordKeeping: RecordKeeping, on reactor: Reactor
    ) throws -> any PushGateway {
        let (endpoint, logger) = (Endpoint(peer), Logger(label: "benchmark"))
        switch self {
        case .binary:
            var configuration = BinaryWire.Configuration(GatewaySettings(endpoint: endpoint, context: context))
            // The window must not be what limits the run: all that can be sent in the time of silence fits in.
            configuration.confirmation = .silence(.milliseconds(50))
            configuration.window = 300_000
            return GatewayConfiguration.binary(configuration)
                .makeGateway(recordKeeping: recordKeeping, on: reactor, logger: logger)
        case .http2:
            var configuration = HTTP2Wire.Configuration(
                GatewaySettings(endpoint: endpoint, context: context),
                .apns(HTTP2Wire.APNS(defaultTopic: "com.example.benchmark")))
            configuration.tokenSource = try Self.tokenSource(reactor, logger)
            return GatewayConfiguration.http2(configuration)
                .makeGateway(recordKeeping: recordKeeping, on: reactor, logger: logger)
        }
    }
}

extension Transport {
    /// Provider tokens of a key made for the run: what most apps send with.
    private static func tokenSource(_ reactor: Reactor, _ logger: Logger) throws -> (any TokenSource)? {
        guard let identity = ProviderIdentity(keyID: "ABC123DEFG", teamID: "DEF123GHIJ") else { return nil }
        let key = try ProviderKey(identity, p8: try ThrowawayTokenKey().p8)
        let worker = try WorkerThread(name: "tokens")
        return TokenSources(folder: nil, worker: worker, reactor: reactor, logger: logger).source(of: key)
    }
}
