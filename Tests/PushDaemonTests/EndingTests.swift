import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Apps that end: everything that their gateway has settled by then is recorded.
@Suite struct EndingTests {
    @Test func `what the gateway never answered is told as unknown by a daemon that stops`() async throws {
        try await Modern("withhold").running { bench in
            try bench.configureModern("on_doubt: report")
            try await bench.withDaemon(drain: 1) { daemon in
                try await daemon.says("app started")
                try bench.drop("silent.json", job(1), app: "modern")
                _ = try await bench.accepted(1)
                #expect(try await daemon.stop() == 0)
                #expect(try bench.lines("notification", app: "modern").map(\.outcome) == ["unknown"])
                #expect(try bench.lines("job", app: "modern").map(\.unknown) == [1])
                #expect(bench.jobs(in: "done", app: "modern") == ["silent.json"])
                #expect(!daemon.log.contains("stay in work/"), "\(daemon.log)")
            }
        }
    }

    @Test func `what is in flight when an app's file is removed is recorded before the app ends`() async throws {
        var manner = HTTP2Manner()
        (manner.latency, manner.streamLimitBeforeToken) = (.seconds(1), nil)
        try await Modern(manner: manner).serving { bench, daemon in
            try bench.drop("flies.json", job(tokens: 0..<100), app: "modern")
            _ = try await bench.accepted(100)
            try FileManager.default.removeItem(atPath: bench.path + "/etc/apps/modern.yaml")
            daemon.send(SIGHUP)
            try await daemon.says("app removed from the configuration")
            #expect(try await bench.end(of: "flies.json", app: "modern").accepted == 100)
            #expect(bench.names(in: "modern/work/node-a").isEmpty)
        }
    }
}
