import APNSHTTP2
import JSON
import LinuxIO
import Logging
import PushModel
import TestSupport
import Testing

@testable import Gateways

/// One token a key, for everybody.
struct TokenSourceTests {
    @Test func `all who ask get the same token, and one is signed`() async throws {
        try await TokenBench.running { bench in
            let source = bench.sources.source(of: bench.key)
            let tokens = try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { try await source.current(at: bench.start) } }
                return try await group.reduce(into: Set<BearerToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1 && source.signingCount == 1)
            #expect(source.token(at: bench.start) == tokens.first)
        }
    }

    @Test func `a token is the key's, and of now`() async throws {
        try await TokenBench.running { bench in
            let bearer = try await bench.sources.source(of: bench.key).current(at: bench.start)
            let token = try TokenBench.parse(bearer)
            var parser = JSON.Parser()
            let signed = try #require(ProviderToken.parse(Array(token.text.utf8)[...], parser: &parser))
            #expect(bench.key.hasSigned(signed) && token.identity == bench.key.identity)
            #expect(token.issuedAt == bench.start.epochSeconds && token.fault(at: bench.start) == nil)
        }
    }

    @Test func `the same key has one source, another key or name another`() async throws {
        try await TokenBench.running { bench in
            let same = try ProviderKey(bench.key.identity, p8: bench.p8)
            let renamed = try ProviderKey(TokenBench.identity("ZZZZZZZZZZ"), p8: bench.p8)
            let source = bench.sources.source(of: bench.key)
            #expect(bench.sources.source(of: same) === source)
            #expect(bench.sources.source(of: renamed) !== source)
            #expect(bench.sources.source(of: try TokenBench.makeKey().key) !== source)
        }
    }

    @Test func `a token is renewed after 40 to 50 minutes, not before`() async throws {
        try await TokenBench.running { bench in
            let source = bench.sources.source(of: bench.key)
            let first = try await source.current(at: bench.start)
            #expect(try await source.current(at: bench.at(minutes: 39)) == first && source.signingCount == 1)
            #expect(source.token(at: bench.at(minutes: 50)) == nil)
            let second = try await source.current(at: bench.at(minutes: 50))
            let times = (try TokenBench.parse(first).issuedAt, try TokenBench.parse(second).issuedAt)
            #expect(second != first && times.1 == times.0 + 3000)
            #expect(source.signingCount == 2)
        }
    }

    @Test func `a token called expired is renewed once, and once for all`() async throws {
        try await TokenBench.running { bench in
            let source = bench.sources.source(of: bench.key)
            let failed = try await source.current(at: bench.start)
            let first = try await source.renew(after: failed, at: bench.at(minutes: 1))
            let again = try await source.renew(after: failed, at: bench.at(minutes: 2))
            #expect(first == again && first != failed && source.signingCount == 2)
        }
    }

    @Test func `a fresh token called expired as well is kept for 20 minutes`() async throws {
        try await TokenBench.running { bench in
            let source = bench.sources.source(of: bench.key)
            let first = try await source.current(at: bench.start)
            let second = try await source.renew(after: first, at: bench.at(minutes: 1))
            #expect(try await source.renew(after: second, at: bench.at(minutes: 2)) == second)
            #expect(source.signingCount == 2)
            #expect(try await source.renew(after: second, at: bench.at(minutes: 22)) != second)
        }
    }

    @Test func `a clock that is set back far makes another token`() async throws {
        try await TokenBench.running { bench in
            let source = bench.sources.source(of: bench.key)
            let first = try await source.current(at: bench.start)
            #expect(try await source.current(at: bench.at(minutes: -1)) == first)
            #expect(try await source.current(at: bench.at(minutes: -30)) != first)
        }
    }

    @Test func `without a folder tokens live in memory`() async throws {
        try await onReactor { reactor in
            let worker = try WorkerThread(name: "tokens")
            defer { worker.stop() }
            let sources = TokenSources(folder: nil, worker: worker, reactor: reactor, logger: .init(label: "test"))
            let source = sources.source(of: try TokenBench.makeKey().key)
            let now = WallTime(epochSeconds: 1_700_000_000)
            #expect(try await source.current(at: now) == source.token(at: now))
        }
    }
}
