import FCMHTTP2
import LinuxIO
import OpenSSL
import PushModel
import Synchronization
import TestSupport
import Testing

@testable import Gateways

/// One access token an account, for everybody, from an endpoint that gives what a test says.
struct AccessTokenSourceTests {
    @Test func `all who ask get the same token, and one is fetched`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            let tokens = try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await source.current(at: bench.start) } }
                return try await group.reduce(into: Set<BearerToken>()) { $0.insert($1) }
            }
            #expect(tokens == [BearerToken(authorization: "Bearer token1")] && bench.askCount == 1)
        }
    }

    @Test func `a token that is due is used on, and renewed beside the traffic`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            let first = try await source.current(at: bench.start)
            await source.renewIfDue(at: bench.at(minutes: 44))
            #expect(source.token(at: bench.at(minutes: 56)) == first && bench.askCount == 1)
            await source.renewIfDue(at: bench.at(minutes: 56))
            #expect(source.token(at: bench.at(minutes: 56)) != first && bench.askCount == 2)
        }
    }

    @Test func `a token that nobody uses is not renewed`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            _ = try await source.current(at: bench.start)
            _ = source.token(at: bench.at(minutes: 1))
            await source.renewIfDue(at: bench.at(minutes: 56))
            await source.renewIfDue(at: bench.at(minutes: 112))
            #expect(bench.askCount == 2)
        }
    }

    @Test func `a failed renewal leaves the token in use`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            let first = try await source.current(at: bench.start)
            bench.answers(503, "")
            _ = source.token(at: bench.at(minutes: 56))
            await source.renewIfDue(at: bench.at(minutes: 56))
            #expect(source.token(at: bench.at(minutes: 56)) == first)
            #expect(bench.log.lines.contains { $0.contains("cannot renew access token") && $0.contains("status 503") })
        }
    }

    @Test func `an expired token is replaced before anything is sent`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            let first = try await source.current(at: bench.start)
            #expect(source.token(at: bench.at(minutes: 60)) == nil)
            #expect(try await source.current(at: bench.at(minutes: 60)) != first)
        }
    }

    @Test func `a token called invalid is replaced once, for all who had it`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            let failed = try await source.current(at: bench.start)
            let next = try await source.renew(after: failed, at: bench.at(minutes: 2))
            let again = try await source.renew(after: failed, at: bench.at(minutes: 2))
            #expect(next == again && next != failed && bench.askCount == 2)
        }
    }

    @Test func `a token called invalid within a minute blames the account`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            let failed = try await source.current(at: bench.start)
            let refusal = await #expect(throws: AccountRefusal.self) {
                try await source.renew(after: failed, at: WallTime(epochSeconds: bench.start.epochSeconds + 59))
            }
            #expect(refusal?.fault.message.contains("less than a minute old") == true && bench.askCount == 1)
        }
    }

    @Test(arguments: [(503, ""), (200, "<html>log in first</html>"), (429, "{}")])
    func `an endpoint that fails makes the app wait, and is not asked again at once`(
        status: Int, body: String
    ) async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            bench.answers(status, body)
            let faults = await (0..<3).asyncMap { _ in await bench.fault(of: source) }
            #expect(Set(faults).count == 1 && bench.askCount == 1)
            #expect(faults[0].hasPrefix("no access token for service account sender@weather-4711"))
        }
    }

    @Test func `an endpoint that refuses the account stops the app`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            bench.answers(400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#)
            let refusal = await #expect(throws: AccountRefusal.self) { try await source.current(at: bench.start) }
            #expect(refusal?.fault.message.contains("`Invalid JWT Signature.`") == true)
            #expect(refusal?.fault.hint?.contains("create a new key") == true)
        }
    }

    @Test func `an endpoint that works again is asked after a pause`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            bench.answers(503, "")
            _ = await bench.fault(of: source)
            bench.answersWithTokens()
            try await eventually("a token") { (try? await source.current(at: bench.start)) != nil }
            #expect(bench.askCount == 2)
        }
    }
}

/// Access tokens outlive the process and are shared with siblings.
struct StoredAccessTokenTests {
    @Test func `the next process goes on with the token if five minutes are left`() async throws {
        try await AccessTokenBench.running { bench in
            let first = try await bench.source().current(at: bench.start)
            #expect(try await bench.source().current(at: bench.at(minutes: 40)) == first && bench.askCount == 1)
            #expect(try await bench.source().current(at: bench.at(minutes: 56)) != first && bench.askCount == 2)
        }
    }

    @Test func `siblings that start together fetch one token`() async throws {
        try await AccessTokenBench.running { bench in
            let sources = (0..<8).map { _ in bench.source() }
            let tokens = try await withThrowingTaskGroup { group in
                for source in sources { group.addTask { try await source.current(at: bench.start) } }
                return try await group.reduce(into: Set<BearerToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1 && bench.askCount == 1)
        }
    }

    @Test func `a token called invalid is not taken from the file again`() async throws {
        try await AccessTokenBench.running { bench in
            let source = bench.source()
            let failed = try await source.current(at: bench.start)
            #expect(try await source.renew(after: failed, at: bench.at(minutes: 5)) != failed)
        }
    }

    @Test func `a sibling's replacement of an invalid token is taken over`() async throws {
        try await AccessTokenBench.running { bench in
            let (one, other) = (bench.source(), bench.source())
            let failed = try await one.current(at: bench.start)
            _ = try await other.current(at: bench.start)
            let next = try await one.renew(after: failed, at: bench.at(minutes: 5))
            #expect(try await other.renew(after: failed, at: bench.at(minutes: 5)) == next && bench.askCount == 2)
        }
    }

    @Test func `the file is the daemon's alone, and names the project`() async throws {
        try await AccessTokenBench.running { bench in
            _ = try await bench.source().current(at: bench.start)
            let names = try bench.folder.sortedNames()
            #expect(names.count == 2 && names[0].hasPrefix("weather-4711-") && names[0].hasSuffix(".token"))
            for name in names { #expect(try bench.folder.status(of: Array(name.utf8))?.mode == 0o600) }
        }
    }

    @Test(arguments: [
        "", "\n", "token1\n", "token1\n1700000000\n", "token1\nx\ny\n", "a b\n1700000000\n1700003600\n",
        "token1\n-9223372036854775808\n-9223372036854772208\n", "token1\n-9223372036854775808\n1700003600\n",
        "token1\n9223372036854775000\n9223372036854775900\n",
    ])
    func `a file that holds no token is replaced`(content: String) async throws {
        try await AccessTokenBench.running { bench in
            let first = try await bench.source().current(at: bench.start)
            let name = try #require(try bench.folder.sortedNames().first)
            try bench.folder.unlink(Array(name.utf8))
            try bench.folder.put(name, content)
            #expect(try await bench.source().current(at: bench.start) != first)
            #expect(try bench.folder.text(name) == "token2\n1700000000\n1700003600\n")
            #expect(bench.log.lines.contains { $0.contains("stored access token is unusable") })
            #expect(!bench.log.lines.contains { $0.contains("token1") })
        }
    }

    @Test func `a file with a token from the end of time is not used`() async throws {
        try await AccessTokenBench.running { bench in
            _ = try await bench.source().current(at: bench.start)
            let name = try #require(try bench.folder.sortedNames().first)
            try bench.folder.unlink(Array(name.utf8))
            try bench.folder.put(name, "token9\n9223372036854775000\n9223372036854775807\n")
            #expect(try await bench.source().current(at: bench.start).authorization == "Bearer token2")
        }
    }
}

/// An account, a folder for its tokens, a thread, a log, and an endpoint that answers as it is told.
struct AccessTokenBench: Sendable {
    private final class Endpoint: Sendable {
        /// How often it was asked, and what it answers; `nil`: another token each time.
        let state = Mutex<(count: Int, answer: (status: Int, body: String)?)>((0, nil))

        func answer() -> (status: Int, body: ArraySlice<UInt8>) {
            state.withLock { state in
                state.count += 1
                let token = #"{"access_token":"token\#(state.count)","expires_in":3600,"token_type":"Bearer"}"#
                let (status, body) = state.answer ?? (200, token)
                return (status, Array(body.utf8)[...])
            }
        }
    }

    private let place: TemporaryDirectory
    let folder: Directory
    let log = RecordedLog()
    private let key: ServiceAccountKey
    private let worker: WorkerThread
    private let endpoint = Endpoint()

    /// Sets a bench up, and stops its thread afterwards.
    static func running(_ body: @Sendable (AccessTokenBench) async throws -> Void) async throws {
        let worker = try WorkerThread(name: "tokens")
        defer { worker.stop() }
        try await body(AccessTokenBench(worker))
    }

    private init(_ worker: WorkerThread) throws {
        place = try TemporaryDirectory()
        folder = try TokenSources.openFolder(in: place.directory)
        key = try ThrowawayServiceAccount().makeKey()
        self.worker = worker
    }

    var start: WallTime { WallTime(epochSeconds: 1_700_000_000) }

    func at(minutes: Int64) -> WallTime { WallTime(epochSeconds: start.epochSeconds + 60 * minutes) }

    /// How often the endpoint was asked.
    var askCount: Int { endpoint.state.withLock { $0.count } }

    /// What the endpoint answers from now on.
    func answers(_ status: Int, _ body: String) { endpoint.state.withLock { $0.answer = (status, body) } }

    func answersWithTokens() { endpoint.state.withLock { $0.answer = nil } }

    /// What another process, or this one after a restart, would have.
    func source() -> AccessTokenSource {
        AccessTokenSource(key, keptIn: key.file(in: folder), on: (worker, log.logger)) { [endpoint] _, _ in
            endpoint.answer()
        }
    }

    /// What is said of a source that has no token, and does not blame the account.
    func fault(of source: AccessTokenSource) async -> String {
        let fault = await #expect(throws: GatewayFault.self) { try await source.current(at: start) }
        return fault?.message ?? ""
    }
}

extension ThrowawayServiceAccount {
    /// The account's key, read from its file.
    func makeKey() throws -> ServiceAccountKey {
        let uri = try TokenURI(tokenURI)
        let account = ServiceAccount(
            projectID: "weather-4711", clientEmail: "sender@weather-4711.iam.gserviceaccount.com", privateKeyID: "01",
            tokenURI: uri)
        return try ServiceAccountKey(account, privateKey: key.privateKeyPEM)
    }
}

extension Sequence where Self: Sendable, Element: Sendable {
    /// Calls `transform` for one element after the other.
    fileprivate func asyncMap<Result>(_ transform: (Element) async -> Result) async -> [Result] {
        var results: [Result] = []
        for element in self { results.append(await transform(element)) }
        return results
    }
}
