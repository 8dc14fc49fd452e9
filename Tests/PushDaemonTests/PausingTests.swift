import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Jobs that pause while the gateway fails them, beside jobs that it takes.
@Suite struct PausingTests {
    /// Two jobs of so many recipients are more than may pause in memory.
    private static let count = 120_000

    @Test(
        .enabled(if: isFullRun, "takes minutes"), .catalogue("J72 many-paused, the daemon", checks: []),
        arguments: ["ServiceUnavailable", "TooManyRequests"])
    func `a job is sent although so many notifications of others pause`(reason: String) async throws {
        let modern = try Modern("payload=failing answer reason=\(reason)")
        try await modern.running { bench in
            try bench.configureModern("retry: {later: 1h}")
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                for (name, first) in [("one.json", 0), ("two.json", Self.count)] {
                    let tokens = first..<first + Self.count
                    try bench.drop(name, job(tokens: tokens, saying: "failing"), app: "modern")
                }
                let paused = try await bench.settledRefusals()
                try bench.drop("plain.json", job(2 * Self.count), app: "modern")
                #expect(try await bench.end(of: "plain.json", app: "modern").accepted == 1)
                #expect(paused < 200_000)
            }
        }
    }

    @Test(arguments: ["cancel", "hold"])
    func `an operator ends a job of which much pauses, with the smallest journal`(command: String) async throws {
        // Outcomes in an order of their own take more than the journal has room for, one record each, if it is a full run.
        let count = isFullRun ? 90_000 : 8_000
        let modern = try Modern("payload=failing answer reason=ServiceUnavailable")
        try await modern.running { bench in
            try bench.configureModern("retry: {later: 1h}")
            let file = try String(contentsOfFile: bench.path + "/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", file + "journal: {size: 8MiB}\nlimits: {free_space: 1MiB}\n")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("one.json", job(tokens: 0..<count, saying: "failing"), app: "modern")
                try await eventually("all pause", within: .seconds(1_200)) {
                    await bench.simulator.ledger.refusedCount >= count
                }
                let end = try await bench.operate(command, "modern/one.json")
                #expect(end.code == 0, "\(end)")
                try bench.drop("plain.json", job(count), app: "modern")
                #expect(try await bench.end(of: "plain.json", app: "modern").accepted == 1)
                if command == "cancel" {
                    #expect(try await bench.end(of: "one.json", app: "modern").code == "cancelled")
                    #expect(try bench.lines("notification", app: "modern").count == count)
                } else {
                    #expect(bench.names(in: "modern/hold").contains("one.json"))
                }
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
        }
    }
}

extension Bench {
    /// How many notifications the gateway has refused, once it refuses no more of them.
    fileprivate func settledRefusals() async throws -> Int {
        var counts = [0, 0]
        try await eventually("refusals that stop", within: .seconds(1_200)) {
            counts = await [counts[1], simulator.ledger.refusedCount]
            try await moment(.seconds(1))
            return counts[0] > 50_000 && counts[0] == counts[1]
        }
        return counts[1]
    }
}
