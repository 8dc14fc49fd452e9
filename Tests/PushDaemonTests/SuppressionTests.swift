import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// What a daemon does about tokens that were reported gone, with `suppress: true`.
@Suite struct SuppressionTests {
    private let modern: Modern
    private let since = "2023-11-14T22:13:20.123Z"

    init() throws {
        modern = try Modern { $0.unregistered = [bytes(of: 1): 1_700_000_000_123] }
    }

    /// Has a daemon be told that the first token is gone.
    private func learn(_ bench: Bench) async throws {
        try bench.drop("first.json", job(tokens: 1..<3), app: "modern")
        let line = try await bench.end(of: "first.json", app: "modern")
        #expect(line.accepted == 1 && line.rejected == 1)
    }

    /// How many requests the gateway has had.
    private func requestCount(_ bench: Bench) async -> Int { await bench.simulator.ledger.arrivedCount }

    @Test func `a token that is gone is not sent to again, and the others are`() async throws {
        try await modern.serving("suppress: true") { bench, _ in
            try await learn(bench)
            try bench.drop("second.json", job(tokens: 0..<4), app: "modern")
            let line = try await bench.end(of: "second.json", app: "modern")
            #expect(line.state == "done" && line.accepted == 3 && line.rejected == 1)
            let told = try bench.lines("notification", app: "modern").filter { $0.job == "second.json" }
            #expect(told.map(\.token) == [token(1)] && told.map(\.index) == [1] && told.map(\.outcome) == ["rejected"])
            #expect(told.map(\.reason) == ["Suppressed"] && told.map(\.verdict) == ["gone"])
            #expect(told.map(\.gone_since) == [since] && told.map(\.status) == [nil])
            #expect(try await bench.result(of: line).indexes?["rejected"] == [[1, 1]])
            #expect(await requestCount(bench) == 5)
        }
    }

    @Test func `a job whose tokens are all gone ends as refused, and nothing is connected for it`() async throws {
        try await modern.running { bench in
            try bench.configureModern("suppress: true")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await learn(bench)
                #expect(try await daemon.stop() == 0)
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("unregistered tokens are skipped")
                #expect(daemon.log.contains("tokens=1"))
                try bench.drop("gone.json", job(1), app: "modern")
                let line = try await bench.end(of: "gone.json", app: "modern")
                #expect(line.state == "failed" && line.code == "refused" && line.rejected == 1)
                #expect(await requestCount(bench) == 2)
                #expect(await bench.simulator.ledger.connectionCount == 1)
            }
        }
    }

    @Test func `what is remembered outlives kill -9`() async throws {
        try await modern.running { bench in
            try bench.configureModern("suppress: true")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await learn(bench)
                try await daemon.destroy()
            }
            try await bench.withDaemon { _ in
                try bench.drop("gone.json", job(1), app: "modern")
                #expect(try await bench.end(of: "gone.json", app: "modern").rejected == 1)
                #expect(await requestCount(bench) == 2)
            }
        }
    }

    @Test func `a token that was registered since is sent to again`() async throws {
        try await modern.serving("suppress: true") { bench, _ in
            try await learn(bench)
            for (name, time) in [("early", "2023-11-14T22:13:20.123Z"), ("late", "2024-01-01T00:00:00Z")] {
                let text =
                    #"{"alert":"x","recipients":[{"token":"\#(token(1))","registered_at":"\#(time)"},{"token":"\#(token(2))"}]}"#
                try bench.drop("\(name).json", text, app: "modern")
                #expect(try await bench.end(of: "\(name).json", app: "modern").rejected == 1)
            }
            let told = try bench.lines("notification", app: "modern")
            #expect(told.map(\.reason) == ["Unregistered", "Suppressed", "Unregistered"])
            #expect(await requestCount(bench) == 5)
        }
    }

    @Test func `without the key everything is sent, and nothing is kept`() async throws {
        try await modern.serving { bench, _ in
            for round in 1...2 {
                try bench.drop("\(round).json", job(1), app: "modern")
                #expect(try await bench.end(of: "\(round).json", app: "modern").rejected == 1)
            }
            #expect(try bench.lines("notification", app: "modern").map(\.reason) == ["Unregistered", "Unregistered"])
            #expect(await requestCount(bench) == 2)
            #expect(!FileManager.default.fileExists(atPath: bench.path + "/state/gone"))
        }
    }

    @Test func `the key is heeded as soon as it is written, and no more when it is gone`() async throws {
        try await modern.serving { bench, daemon in
            for (round, more) in ["suppress: true", "suppress: false"].enumerated() {
                try bench.configureModern(more)
                daemon.send(SIGHUP)
                try await daemon.says("app reconfigured", times: round + 1)
                for name in ["a", "b"] {
                    try bench.drop("\(name)\(round).json", job(1), app: "modern")
                    _ = try await bench.end(of: "\(name)\(round).json", app: "modern")
                }
            }
            let reasons = try bench.lines("notification", app: "modern").map(\.reason)
            #expect(reasons == ["Unregistered", "Suppressed", "Unregistered", "Unregistered"])
        }
    }

    @Test func `what the feedback service names is not sent to, over the binary protocol`() async throws {
        try await Bench.running(try .init()) { bench in
            await bench.simulator.addFeedback([GoneToken(token: bytes(of: 1), epochSeconds: 1_700_000_000)])
            let service = "feedback_service: {gateway: 'localhost:\(bench.simulator.ports.feedback)', every: 1h}"
            // The section has a `gateway` too, so that the app's own is to be written as well.
            let gateway = "gateway: localhost:\(bench.simulator.ports.gateway)"
            try bench.configureApp("weather", "\(service)\n\(gateway)\nsuppress: true")
            try await bench.withDaemon { _ in
                try await eventually("its line") { try bench.lines("token").count == 1 }
                try bench.drop("two.json", job(tokens: 1..<3))
                let line = try await bench.end(of: "two.json")
                #expect(line.accepted == 1 && line.rejected == 1)
                let told = try bench.lines("notification")
                #expect(told.map(\.reason) == ["Suppressed"] && told.map(\.gone_since) == ["2023-11-14T22:13:20.000Z"])
                #expect(await bench.simulator.ledger.acceptedTokens.map(\.last) == [2])
            }
        }
    }

    @Test func `a folder that cannot be used is told, and everything is sent`() async throws {
        try await modern.running { bench in
            try bench.configureModern("suppress: true")
            try FileManager.default.createDirectory(
                atPath: bench.path + "/state", withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try bench.write("state/gone", "in the way")
            try await bench.withDaemon { daemon in
                try await daemon.says("unregistered tokens cannot be saved or looked up")
                try await learn(bench)
                #expect(daemon.log.contains("check the folder gone/"))
            }
        }
    }
}
