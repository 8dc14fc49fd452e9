import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// What a daemon does about jobs that another left behind.
@Suite struct RecoveryTests {
    @Test func `what kill -9 leaves without an outcome is sent again, by the same names`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 30s}")) { bench in
            let text = #"{"tokens":["\#(token(1))","\#(token(2))"],"alert":"Hi","record":"all"}"#
            let id = try await leaveInWork("crash.json", text, on: bench)
            try bench.configureApp("weather")
            try await bench.withDaemon { daemon in
                try await daemon.says("job resumed")
                let line = try await bench.end(of: "crash.json")
                #expect(line.id == id && line.accepted == 2)
                let tokens = try await bench.accepted(4).acceptedTokens
                #expect(tokens.map(\.last) == [1, 2, 1, 2])
                #expect(bench.names(in: "weather/work/node-a").isEmpty)
            }
        }
    }

    @Test func `a file in work that cannot be read does not hold up the others`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 30s}")) { bench in
            _ = try await leaveInWork("good.json", job(1), on: bench)
            let bad = "\(bench.path)/spool/weather/work/node-a/\(String(repeating: "0", count: 26))-bad.json"
            try FileManager.default.createSymbolicLink(atPath: bad, withDestinationPath: "/nonexistent")
            try bench.configureApp("weather")
            try await bench.withDaemon { daemon in
                try await daemon.says("job of an earlier run cannot be resumed")
                #expect(try await bench.end(of: "good.json").accepted == 1)
                #expect(bench.names(in: "weather/work/node-a").count == 1)
            }
        }
    }

    @Test func `a notification keeps its identifier over a crash`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 30s}")) { bench in
            let text = #"{"token":"\#(token(1))","alert":"Hi","record":"all"}"#
            let id = try await leaveInWork("crash.json", text, on: bench)
            try bench.configureApp("weather")
            try await bench.withDaemon { _ in
                _ = try await bench.end(of: "crash.json")
                let line = try #require(try bench.lines("notification").first)
                #expect(line.id == id && line.apns_id?.count == 36)
            }
        }
    }

    @Test func `what must not be sent twice is unknown after kill -9`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 30s}")) { bench in
            _ = try await leaveInWork("once.json", job(1, #","on_doubt":"report""#), on: bench)
            try bench.configureApp("weather")
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "once.json")
                #expect(line.state == "done" && line.unknown == 1)
                let told = try bench.lines("notification")
                #expect(told.map(\.outcome) == ["unknown"] && told.map(\.id) == [line.id])
                try bench.drop("other.json", job(2))
                _ = try await bench.end(of: "other.json")
                let tokens = try await bench.accepted(2).acceptedTokens
                #expect(tokens.map(\.last) == [1, 2])
            }
        }
    }

    @Test func `a held job is sent when it is moved back`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.write("spool/weather/hold/h.json", job(1))
            let weather = bench.path + "/spool/weather/"
            try FileManager.default.moveItem(atPath: weather + "hold/h.json", toPath: weather + "new/h.json")
            #expect(try await bench.end(of: "h.json").accepted == 1)
        }
    }

    @Test func `a file in work that is none of ours is left alone`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try await daemon.stop()
            try bench.write("spool/weather/work/node-a/stranger.json", job(1))
            try await bench.withDaemon { next in
                try await next.says("unknown file in work/")
                #expect(bench.names(in: "weather/work/node-a") == ["stranger.json"])
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
        }
    }

    @Test func `however often the daemon is killed, nothing is lost and every job is in one place`() async throws {
        let rounds = isFullRun ? 100 : 5
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            for round in 0..<rounds {
                for number in 0..<20 { try bench.drop("n\(round)-\(number).json", job(round * 20 + number)) }
                try await bench.withDaemon { daemon in
                    let count = await bench.simulator.ledger.arrivedCount + round * 3 % 20 + 1
                    _ = try await bench.accepted(count)
                    try await daemon.destroy()
                }
            }
            try await bench.withDaemon { _ in
                var held: [String] = []
                try await eventually("all done; held \(held), left \(bench.names(in: "weather/new"))") {
                    held += try bench.giveBackHeld()
                    return bench.jobs(in: "done").count == rounds * 20
                }
                // A job that was just being read at two of the kills, alone, counts as one that the daemon dies over, also when
                // the second was the last.
                #expect(held.count <= 3, "\(held)")
            }
            #expect(Set(await bench.simulator.ledger.acceptedTokens).count == rounds * 20)
            #expect(bench.names(in: "weather/work/node-a").isEmpty && bench.names(in: "weather/new").isEmpty)
            #expect(Set(bench.jobs(in: "done")).count == rounds * 20)
            #expect(Set(try bench.lines("job").compactMap(\.job)).count == rounds * 20)
        }
    }

    /// Has a daemon send a job, and kills it before the outcome is known. Returns the job's id.
    private func leaveInWork(_ name: String, _ text: String, on bench: Bench) async throws -> String {
        try await bench.withDaemon { daemon in
            try await daemon.says("app started")
            try bench.drop(name, text)
            _ = try await bench.accepted(1)
            try await daemon.destroy()
        }
        let entry = try #require(bench.names(in: "weather/work/node-a").first)
        #expect(entry.hasSuffix(name) && bench.jobs(in: "done").isEmpty)
        return String(entry.prefix(26))
    }

    @Test func `an error that comes too late corrects what was told, and what it discarded is sent again`() async throws
    {
        let script = "token=\(token(2)) refuse status=8 delay=4s times=1"
        try await Bench.serving(try .init(script: script, app: "binary: {confirm_after: 300ms}")) { bench, daemon in
            try bench.drop("early.json", #"{"tokens":["\#(token(1))","\#(token(2))","\#(token(3))"],"alert":"Hi"}"#)
            let line = try await bench.end(of: "early.json")
            #expect(line.accepted == 3)
            let correction = try await awaited("correction") { try bench.lines("notification").first }
            #expect(correction.index == 1 && correction.outcome == "rejected" && correction.id == line.id)
            let ledger = try await bench.accepted(2)
            #expect(ledger.acceptedTokens.map(\.last) == [1, 3])
            try await daemon.says("were not accepted after all")
        }
    }
}

extension Bench {
    /// Moves what is in `hold/` back to `new/`, as an operator does.
    ///
    /// - Returns: What there was.
    func giveBackHeld(app: String = "weather") throws -> [String] {
        let folder = "\(path)/spool/\(app)/"
        let held = names(in: "\(app)/hold")
        for name in held {
            try FileManager.default.moveItem(atPath: folder + "hold/" + name, toPath: folder + "new/" + name)
        }
        return held
    }
}
