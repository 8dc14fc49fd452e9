import APNSHTTP2
import Gateways
import LinuxIO
import Logging
import OpenSSL
import PushModel

/// What makes a run fail.
struct Fault: Error, CustomStringConvertible {
    let description: String
}

/// One of the protocols, and what a notification is called and weighs in it.
enum Transport: String {
    case binary
    case http2
    case fcm

    /// What is counted.
    var unit: String {
        switch self {
        case .binary: "frames"
        case .http2, .fcm: "requests"
        }
    }

    /// The bytes that the other end counts for each: a whole frame, or the body of a request.
    var unitByteCount: Int {
        switch self {
        case .binary: 297
        case .http2: 236
        case .fcm: 424
        }
    }

    /// What each notification says: 236 bytes, which make a frame of 297, or a message of 424 with its address.
    var payload: [UInt8] {
        let (before, after) =
            switch self {
            case .binary, .http2: ("{\"aps\":{\"alert\":\"", "\"}}")
            case .fcm: ("\"notification\":{\"body\":\"", "\"}")
            }
        let text = String(repeating: "x", count: 236 - before.utf8.count - after.utf8.count)
        return Array((before + text + after).utf8)
    }

    /// Loads what a client needs from PEM files.
    func context(certificate: String, key: String, authority: String) throws -> TLSContext {
        let protocols = self == .binary ? [] : ["h2"]
        return try TLSContext.client(
            identity: self == .fcm
                ? nil : try Credentials.pem(certificate: Self.read(certificate), key: Self.read(key)),
            trust: .pem(try Self.read(authority)),
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
            var apns = HTTP2Wire.APNS(defaultTopic: "com.example.benchmark")
            // As the daemon does: servers of others must ignore it.
            apns.spoolMark = 1
            var configuration = HTTP2Wire.Configuration(
                GatewaySettings(endpoint: endpoint, context: context), .apns(apns))
            configuration.tokenSource = try Self.tokenSource(reactor, logger)
            return GatewayConfiguration.http2(configuration)
                .makeGateway(recordKeeping: recordKeeping, on: reactor, logger: logger)
        case .fcm:
            var configuration = HTTP2Wire.Configuration(
                GatewaySettings(endpoint: endpoint, context: context), .fcm(project: "benchmark"))
            configuration.tokenSource = AccessOfRun()
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

/// An access token as long as Google's, for a whole run: the servers do not look at it.
private struct AccessOfRun: TokenSource {
    private let bearer = BearerToken(authorization: "Bearer " + String(repeating: "y", count: 1_024))

    var isRemote: Bool { false }

    func token(at _: WallTime) -> BearerToken? { bearer }

    func current(at _: WallTime) async throws -> BearerToken { bearer }

    func renew(after _: BearerToken, at _: WallTime) async throws -> BearerToken {
        throw Fault(description: "a server refused the token")
    }
}
