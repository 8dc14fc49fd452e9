import APNSBinary
import Foundation
import GatewaySimulator
import Testing

/// The catalog's article says what is true.
@Suite(.timeLimit(.minutes(10)))
struct ArticleTests {
    private static func article() throws -> String {
        try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/GatewaySimulator/Documentation.docc/GatewaySimulator.md"),
            encoding: .utf8)
    }

    // The article's example, but for the client, which a reader brings along.
    // begin example
    func checkThatTheTailIsResent(sending: (Simulator.Ports, Certificates) async throws -> Void) async throws {
        var configuration = Simulator.Configuration()
        configuration.script = try FaultScript("nth=3 refuse status=8 delay=200ms")
        try await Simulator.running(configuration) { simulator in
            try await sending(simulator.ports, simulator.certificates)
            let ledger = try await simulator.ledger { $0.acceptedCount == 4 }
            #expect(ledger.refused.map(\.sequence) == [3])
            #expect(ledger.duplicates.isEmpty)
            #expect(ledger.connectionCount == 2)
        }
    }
    // end example

    @Test func `the example runs`() async throws {
        try await checkThatTheTailIsResent { ports, certificates in
            let first = try TestClient()
            try await first.connect(certificates, port: ports.gateway)
            try await first.send(Sample.frames(1...5))
            let refused = try #require(try await first.reply().reply?.identifier)
            let second = try TestClient()
            try await second.connect(certificates, port: ports.gateway)
            try await second.send(Sample.frames(Int(refused) + 1...5))
        }
    }

    @Test func `the example is the one in the article`() throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let example = try #require(
            source.components(separatedBy: "    // begin example\n").dropFirst().first?
                .components(separatedBy: "    // end example").first)
        let unindented = example.split(separator: "\n").map { $0.dropFirst(4) }.joined(separator: "\n")
        #expect(try Self.article().contains(unindented))
    }

    @Test func `every script in the article can be read`() throws {
        let blocks = try Self.article().components(separatedBy: "```text\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let script = try FaultScript(block.components(separatedBy: "```")[0])
            #expect(!script.isEmpty)
        }
    }

    @Test(
        arguments: [
            "every", "nth", "per", "port", "token", "address", "payload", "after", "connection", "times", "probability",
            "seed", "refuse",
            "half", "junk", "shutdown", "close", "cut", "reset", "stall", "slow", "blackhole", "refuse-connection",
            "stop-listening", "fail-handshake", "close-after-handshake", "no-tickets",
            "answer", "latency", "withhold", "mute", "goaway", "refuse-stream", "settings", "windows", "flood",
            "unknown-frame", "no-pong", "inform",
        ])
    func `the article explains every word`(word: String) throws {
        let article = try Self.article()
        #expect(article.contains("\n| `\(word)") || article.contains(", `\(word)"))
    }
}
