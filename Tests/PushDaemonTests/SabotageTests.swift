import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// A system that fails, and a daemon that dies at the worst of moments.
@Suite struct SabotageTests {
    @Test func `a death between a result file and its job leaves no trace once the job is over`() async throws {
        try await Bench.running(try .init()) { bench in
            let sabotage = try await Sabotage(on: bench)
            try await bench.withDaemon(drain: 0, sabotage) { daemon in
                try await daemon.says("app started")
                try sabotage.begin(.rename, "bad.json")
                try bench.drop("bad.json", #"{"token":"\#(token(1))","alrt":1}"#)
                #expect(try await daemon.end() == -SIGKILL)
            }
            #expect(bench.archived("failed").map { $0.hasSuffix("bad.json.result.json") } == [true])
            #expect(bench.names(in: "weather/work/node-a").count == 2)
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "bad.json")
                #expect(line.path?.hasSuffix("/bad.json") == true)
                try await eventually("clean") { bench.names(in: "weather/work/node-a").isEmpty }
                #expect(bench.archived("failed").count == 2)
                #expect(try await bench.result(of: line).id == line.id)
            }
        }
    }

    @Test func `a death before a refused file is moved repeats its line and loses none`() async throws {
        try await Bench.running(try .init()) { bench in
            let sabotage = try await Sabotage(on: bench)
            try await bench.withDaemon(drain: 0, sabotage) { daemon in
                try await daemon.says("app started")
                try sabotage.begin(.rename, "link.json.result.json")
                try FileManager.default.createSymbolicLink(
                    atPath: bench.path + "/spool/weather/new/link.json", withDestinationPath: "/etc/hostname")
                #expect(try await daemon.end() == -SIGKILL)
            }
            #expect(try bench.lines("job").map(\.code) == ["unreadable"])
            #expect(bench.names(in: "weather/new") == ["link.json"])
            try await bench.withDaemon { _ in
                try await eventually("moved") { bench.names(in: "weather/new").isEmpty }
                #expect(try bench.lines("job").map(\.code) == ["unreadable", "unreadable"])
                #expect(bench.archived("failed").count == 2)
            }
        }
    }

    @Test func `a job whose file fails in the middle ends when what is on the wire has its outcome`() async throws {
        try await Bench.running(try .init(app: "binary: {window: 250, confirm_after: 500ms}")) { bench in
            let sabotage = try await Sabotage(on: bench)
            let lines = (0..<60_000).map { "\"\(token($0))\"" }.joined(separator: "\n")
            try await bench.withDaemon(sabotage) { daemon in
                try await daemon.says("app started")
                try bench.drop("long.jsonl", "{\"defaults\":{\"alert\":\"Hi\"}}\n" + lines + "\n")
                _ = try await bench.accepted(1)
                try sabotage.begin(.pread)
                let line = try await bench.end(of: "long.jsonl")
                try sabotage.end(.pread)
                #expect(line.state == "failed" && line.code == "unreadable" && line.sum == 60_000)
                let accepted = await bench.simulator.ledger.acceptedCount
                #expect(accepted > 0 && line.accepted == accepted && line.unsent == 60_000 - accepted)
                let result = try await bench.result(of: line)
                #expect(result.why?.contains("rest of the file could not be read") == true)
                #expect(result.indexes?["unsent"]?.last?.last == 59_999)
            }
        }
    }

    @Test func `a journal that cannot be synced ends the daemon before anything is sent, and the next one goes on`()
        async throws
    {
        try await Bench.running(try .init()) { bench in
            let sabotage = try await Sabotage(on: bench)
            try await bench.withDaemon(sabotage) { daemon in
                try await daemon.says("app started")
                try sabotage.begin(.fdatasync)
                try bench.drop("first.json", job(1))
                #expect(try await daemon.end() == 75)
                try await daemon.says("stopping: journal failed")
                #expect(bench.names(in: "weather/new") == ["first.json"])
                #expect(await bench.simulator.ledger.arrivedCount == 0)
            }
            try await bench.withDaemon { _ in
                let line = try await bench.end(of: "first.json")
                #expect(line.accepted == 1)
                #expect(await bench.simulator.ledger.duplicates.isEmpty)
            }
        }
    }

    @Test func `a daemon that cannot hear signals says so and exits with 75`() async throws {
        try await Bench.running(try .init()) { bench in
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.signalfd)
            try await bench.withDaemon(sabotage) { daemon in
                #expect(try await daemon.end() == 75)
                try await daemon.says("signals cannot be received")
            }
        }
    }
}
