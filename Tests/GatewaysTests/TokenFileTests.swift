import APNSHTTP2
import LinuxIO
import PushModel
import TestSupport
import Testing

@testable import Gateways

/// Tokens outlive the process and are shared with siblings.
struct TokenFileTests {
    @Test func `the next process goes on with the token`() async throws {
        try await TokenBench.running { bench in
            let first = try await bench.sources.source(of: bench.key).current(at: bench.start)
            let next = bench.restarted().source(of: bench.key)
            #expect(try await next.current(at: bench.at(minutes: 30)) == first && next.signingCount == 0)
        }
    }

    @Test func `the next process does not forget that a token was called expired`() async throws {
        try await TokenBench.running { bench in
            let first = try await bench.sources.source(of: bench.key).current(at: bench.start)
            let source = bench.restarted().source(of: bench.key)
            let second = try await source.renew(after: first, at: bench.at(minutes: 1))
            let next = bench.restarted().source(of: bench.key)
            #expect(try await next.current(at: bench.at(minutes: 2)) == second)
            #expect(try await next.renew(after: second, at: bench.at(minutes: 3)) == second)
            #expect(next.signingCount == 0)
        }
    }

    @Test func `siblings that start together sign one token`() async throws {
        try await TokenBench.running { bench in
            let sources = (0..<8).map { _ in bench.restarted().source(of: bench.key) }
            let tokens = try await withThrowingTaskGroup { group in
                for source in sources { group.addTask { try await source.current(at: bench.start) } }
                return try await group.reduce(into: Set<BearerToken>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1 && sources.reduce(0) { $0 + $1.signingCount } == 1)
        }
    }

    @Test func `a sibling's renewal is taken over, before a due time and after a refusal`() async throws {
        try await TokenBench.running { bench in
            let (one, other) = (bench.sources.source(of: bench.key), bench.restarted().source(of: bench.key))
            let first = try await one.current(at: bench.start)
            #expect(try await other.current(at: bench.start) == first)
            let second = try await one.renew(after: first, at: bench.at(minutes: 5))
            #expect(try await other.renew(after: first, at: bench.at(minutes: 6)) == second)
            let third = try await one.current(at: bench.at(minutes: 60))
            #expect(try await other.current(at: bench.at(minutes: 61)) == third && other.signingCount == 0)
        }
    }

    @Test func `file and folder are the daemon's alone`() async throws {
        try await TokenBench.running { bench in
            _ = try await bench.sources.source(of: bench.key).current(at: bench.start)
            let names = try bench.folder.sortedNames()
            #expect(names.count == 2 && names[0].hasPrefix("ABC123DEFG-DEF123GHIJ-") && names[0].hasSuffix(".jwt"))
            #expect(try bench.folder.status().mode == 0o700)
            for name in names { #expect(try bench.folder.status(of: Array(name.utf8))?.mode == 0o600) }
        }
    }

    @Test func `a folder that others may read is closed to them`() throws {
        let place = try TemporaryDirectory()
        _ = try place.directory.makeChild(Array("tokens".utf8), mode: 0o755)
        #expect(try TokenSources.openFolder(in: place.directory).status().mode == 0o700)
    }

    @Test(arguments: [
        "", "\n", "nonsense\n", "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ\n",
        String(repeating: "x", count: 10_000) + "\n",
    ])
    func `a file that holds no token is replaced`(contents: String) async throws {
        try await expectReplacement { _ in Array(contents.utf8) }
    }

    @Test func `a file that was cut is replaced`() async throws {
        for count in [1, 100, 150, 170, 180, 184] { try await expectReplacement { Array($0.prefix(count)) } }
    }

    @Test func `a file of another key is replaced`() async throws {
        let token = try TokenBench.makeKey().key.sign(at: TokenBench.start)
        try await expectReplacement { _ in Array("\(token.text)\n".utf8) }
    }

    @Test func `a file that was changed is replaced`() async throws {
        try await expectReplacement { bytes in
            var bytes = bytes
            bytes[60] ^= 1
            return bytes
        }
    }

    @Test(arguments: [Int64(-2), 10_000])
    func `a file from the future, or of long ago, is replaced`(minutes: Int64) async throws {
        try await TokenBench.running { bench in
            let first = try await bench.sources.source(of: bench.key).current(at: bench.start)
            let source = bench.restarted().source(of: bench.key)
            #expect(try await source.current(at: bench.at(minutes: minutes)) != first && source.signingCount == 1)
        }
    }

    @Test func `what a crash left half written is in nobody's way`() async throws {
        try await TokenBench.running { bench in
            let source = bench.sources.source(of: bench.key)
            _ = try await source.current(at: bench.start)
            let name = try #require(try bench.folder.sortedNames().first)
            try bench.folder.put(name + ".new", "half")
            _ = try await source.current(at: bench.at(minutes: 55))
            #expect(try bench.folder.sortedNames() == [name, name + ".lock"])
        }
    }

    @Test func `a link in place of the file is not followed`() async throws {
        try await TokenBench.running { bench in
            let source = bench.sources.source(of: bench.key)
            _ = try await source.current(at: bench.start)
            let name = try #require(try bench.folder.sortedNames().first)
            try bench.folder.unlink(Array(name.utf8))
            try bench.place.directory.put("victim", "precious")
            try bench.place.link("tokens/" + name, to: "../victim")
            _ = try await bench.restarted().source(of: bench.key).current(at: bench.start)
            #expect(try bench.place.directory.text("victim") == "precious")
            #expect(try bench.folder.status(of: Array(name.utf8))?.kind == .regular)
        }
    }

    /// Has a token stored, changes the file, and expects a new token, a good file, and a log line that tells no token.
    private func expectReplacement(_ change: @Sendable ([UInt8]) -> [UInt8]) async throws {
        try await TokenBench.running { bench in
            let first = try await bench.sources.source(of: bench.key).current(at: bench.start)
            let name = Array(try #require(try bench.folder.sortedNames().first).utf8)
            let bytes = try #require(try bench.folder.contents(of: name, limit: 10_000))
            try bench.folder.unlink(name)
            try bench.folder.put(name, change(bytes))
            let second = try await bench.restarted().source(of: bench.key).current(at: bench.at(minutes: 1))
            let stored = try bench.folder.contents(of: name, limit: 10_000)
            #expect(try second != first && stored == Array("\(TokenBench.parse(second).text)\n".utf8))
            #expect(bench.log.lines.contains { $0.contains("stored provider token is unusable") })
            #expect(!bench.log.lines.contains { $0.contains("eyJ") })
        }
    }
}
