import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Feedback lines as consumers read them.
@Suite struct FeedbackTests {
    /// The names of an object's members, in order.
    private func members(of text: String) throws -> [String] {
        let pattern = try Regex<(Substring, Substring)>(#""([a-z_]+)":"#)
        return text.matches(of: pattern).map { String($0.output.1) }
    }

    @Test func `a job line has exactly the members of the contract`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("a b.json", job(1, #","id":"mine""#))
            _ = try await bench.end(of: "a b.json")
            let text = try #require(try bench.texts().last)
            #expect(text.hasPrefix(#"{"v":1,"kind":"job","app":"weather","node":"node-a","#))
            let expected = [
                "v", "kind", "app", "node", "job", "id", "ref", "state", "path", "notifications", "accepted",
                "rejected", "expired", "unsent", "unknown", "dropped_at", "claimed_at", "finished_at",
            ]
            #expect(try members(of: text) == expected)
        }
    }

    @Test func `a notification line has exactly the members of the contract`() async throws {
        var setup = try Bench.Setup()
        setup.gateway.rules.unregistered = [Array(hex: token(1))]
        try await Bench.serving(setup) { bench, _ in
            try bench.drop("n.json", job(1))
            _ = try await bench.end(of: "n.json")
            let text = try #require(try bench.texts().first)
            let expected = [
                "v", "kind", "app", "node", "job", "id", "index", "token", "outcome", "status", "reason", "verdict",
                "apns_id", "at",
            ]
            #expect(try members(of: text) == expected)
        }
    }

    @Test func `a feedback file is named by time and node, and names increase`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            for number in 1...3 {
                try bench.drop("n\(number).json", job(number))
                _ = try await bench.end(of: "n\(number).json")
            }
            let names = bench.names(in: "weather/feedback").filter { !$0.hasPrefix(".") }
            let pattern = try Regex(#"\d{8}T\d{6}\.\d{6}Z-node-a\.jsonl"#)
            #expect(names.count == 3 && names.allSatisfy { $0.wholeMatch(of: pattern) != nil })
            #expect(try bench.lines("job").map(\.job) == ["n1.json", "n2.json", "n3.json"])
        }
    }

    @Test func `no job is archived before its line is out`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            for number in 0..<50 { try bench.drop("n\(number).json", job(number)) }
            try await eventually("all archived") {
                let archived = bench.jobs(in: "done")
                let told = Set(try bench.lines("job").compactMap(\.job))
                #expect(told.isSuperset(of: archived))
                return archived.count == 50
            }
        }
    }

    private let gone = (1...3).map { GoneToken(token: Array(hex: token($0)), epochSeconds: UInt32(1_700_000_000 + $0)) }

    @Test func `what the feedback service tells becomes token lines`() async throws {
        try await Bench.running(try .init()) { bench in
            await bench.simulator.addFeedback(gone)
            try bench.configureApp("weather", service(bench))
            try await bench.withDaemon { daemon in
                try await eventually("tokens") { try bench.lines("token").count == 3 }
                let lines = try bench.lines("token")
                #expect(lines.map(\.token) == [token(1), token(2), token(3)])
                #expect(lines.allSatisfy { $0.verdict == "gone" && $0.source == "feedback_service" })
                #expect(lines[0].gone_since == "2023-11-14T22:13:21.000Z")
                try await eventually("nothing kept") { bench.kept().allSatisfy(\.isEmpty) }
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `what was read of the service and not told is told by the next start`() async throws {
        try await Bench.running(try .init()) { bench in
            await bench.simulator.addFeedback(gone)
            await bench.simulator.setFeedbackManner(.slow)
            try bench.configureApp("weather", service(bench))
            try await bench.withDaemon { daemon in
                try await eventually("bytes in state") { bench.kept().contains { !$0.isEmpty } }
                try await daemon.destroy()
            }
            #expect(try bench.lines("token").isEmpty)
            let whole = bench.kept().reduce(0) { $0 + $1.count } / 38
            #expect(whole > 0)
            await bench.simulator.setFeedbackManner(FeedbackManner())
            try await bench.withDaemon { _ in
                try await eventually("tokens") { try bench.lines("token").count >= whole }
                #expect(try bench.lines("token").first?.token == token(1))
            }
        }
    }

    @Test func `an entry that is cut off loses nothing of those before it`() async throws {
        var setup = try Bench.Setup()
        setup.gateway.feedback = gone
        setup.gateway.feedbackManner.omittedByteCount = 10
        try await Bench.running(setup) { bench in
            try bench.configureApp("weather", service(bench))
            try await bench.withDaemon { daemon in
                try await daemon.says("feedback cut off")
                try await eventually("tokens") { try bench.lines("token").count == 2 }
            }
        }
    }

    private func service(_ bench: Bench) -> String {
        "feedback_service: {gateway: 'localhost:\(bench.simulator.ports.feedback)', every: 1h}"
    }
}

extension FeedbackManner {
    /// One entry at once, the others after a long time.
    static var slow: FeedbackManner {
        var manner = FeedbackManner()
        manner.pieceSizes = [40]
        manner.pause = .seconds(20)
        return manner
    }
}

extension Bench {
    /// The bytes of each file of feedback that the daemon keeps. One that it removes meanwhile is left out.
    func kept() -> [Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path + "/state")) ?? []
        return names.filter { $0.hasSuffix(".raw") }
            .compactMap { try? Data(contentsOf: URL(fileURLWithPath: "\(path)/state/\($0)")) }
    }
}
