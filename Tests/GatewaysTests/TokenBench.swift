import APNSHTTP2
import JSON
import LinuxIO
import Logging
import OpenSSL
import PushModel
import TestSupport
import Testing

@testable import Gateways

/// A key, a folder for its tokens, a thread and a log.
struct TokenBench: Sendable {
    static let start = WallTime(epochSeconds: 1_700_000_000)

    let place: TemporaryDirectory
    let folder: Directory
    let key: ProviderKey
    let p8: [UInt8]
    let sources: TokenSources
    let log: RecordedLog
    private let worker: WorkerThread
    private let reactor: Reactor

    /// Sets a bench up, and stops its thread afterwards.
    static func running(_ body: @Sendable (TokenBench) async throws -> Void) async throws {
        let (worker, reactor) = (try WorkerThread(name: "tokens"), try Reactor(name: "test"))
        defer {
            worker.stop()
            reactor.stop()
        }
        try await body(TokenBench(worker, reactor))
    }

    private init(_ worker: WorkerThread, _ reactor: Reactor) throws {
        place = try TemporaryDirectory()
        folder = try TokenSources.openFolder(in: place.directory)
        (key, p8) = try Self.makeKey()
        log = RecordedLog()
        sources = TokenSources(folder: folder, worker: worker, reactor: reactor, logger: log.logger)
        (self.worker, self.reactor) = (worker, reactor)
    }

    var start: WallTime { Self.start }

    func at(minutes: Int64) -> WallTime { WallTime(epochSeconds: Self.start.epochSeconds + 60 * minutes) }

    /// What another process, or this one after a restart, would have.
    func restarted() -> TokenSources {
        TokenSources(folder: folder, worker: worker, reactor: reactor, logger: log.logger)
    }

    /// The provider token that requests carry.
    static func parse(_ token: BearerToken?) throws -> ProviderToken {
        var parser = JSON.Parser()
        let bearer = try #require(token)
        let text = try #require(ProviderToken.bearer(in: Array(bearer.authorization.utf8)[...]))
        return try #require(ProviderToken.parse(text, parser: &parser)).token
    }

    static func identity(_ keyID: String = "ABC123DEFG") throws -> ProviderIdentity {
        try #require(ProviderIdentity(keyID: keyID, teamID: "DEF123GHIJ"))
    }

    static func makeKey() throws -> (key: ProviderKey, p8: [UInt8]) {
        let p8 = try ThrowawayTokenKey().p8
        return (try ProviderKey(identity(), p8: p8), p8)
    }
}
