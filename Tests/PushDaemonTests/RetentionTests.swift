import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// What a daemon deletes of what is over, and what it leaves.
@Suite struct RetentionTests {
    @Test func `days that are over go at the start, and the others stay`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.drop("young.json", job(1))
            _ = try await bench.end(of: "young.json")
            try await daemon.stop()
            for folder in ["done", "failed"] {
                try bench.archive("old.json", in: folder, "2001-01-01")
                try bench.archive("old.json.result.json", in: folder, "2001-01-01")
            }
            try await bench.withDaemon { next in
                try await next.says("deleted old jobs and feedback")
                let line = try #require(
                    next.log.split(separator: "\n").first { $0.contains("deleted old jobs and feedback") })
                #expect(line.contains("done=1") && line.contains("failed=1") && line.contains("feedback=0"), "\(line)")
                #expect(bench.jobs(in: "done") == ["young.json"] && bench.names(in: "weather/failed").isEmpty)
                #expect(try await next.stop() == 0)
            }
        }
    }

    @Test func `an archive that is kept for ever is left alone`() async throws {
        var setup = try Bench.Setup()
        setup.archive = "{keep_done: forever}"
        try await Bench.running(setup) { bench in
            try bench.archive("old.json", in: "done", "2001-01-01")
            try bench.archive("old.json", in: "failed", "2001-01-01")
            try await bench.withDaemon { daemon in
                try await daemon.says("deleted old jobs and feedback")
                #expect(bench.names(in: "weather/failed").isEmpty)
                #expect(bench.names(in: "weather/done/2001-01-01") == ["old.json"])
            }
        }
    }

    @Test func `what is kept for no time goes once it is told, and the rest stays`() async throws {
        var setup = try Bench.Setup()
        setup.archive = "{keep_done: 0}"
        setup.gateway.rules.unregistered = [Array(hex: token(2))]
        try await Bench.serving(setup) { bench, _ in
            for number in 1...2 { try bench.drop("n\(number).json", job(number)) }
            try await eventually("lines, have \(try bench.texts())") { try bench.lines("job").count == 2 }
            try await eventually("none of done: \(bench.archived("done"))") { bench.archived("done").isEmpty }
            try await eventually("one in failed/") { bench.jobs(in: "failed") == ["n2.json"] }
        }
    }

    @Test func `a job of the journal stays, though its day is over`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 30s}")) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("waits.json", job(1))
                _ = try await bench.accepted(1)
                try bench.archive("old.json", in: "done", "2001-01-01")
                try await daemon.destroy()
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("deleted old jobs and feedback")
                #expect(bench.names(in: "weather/work/node-a").count == 1)
                #expect(bench.jobs(in: "done").isEmpty)
            }
        }
    }

    @Test func `unread feedback is told of before it goes`() async throws {
        var setup = try Bench.Setup()
        // A sweep is made with every 120th scan.
        (setup.rescan, setup.archive) = ("100ms", "{keep_feedback: 7d}")
        try await Bench.running(setup) { bench in
            let names = ["20010101T000000.000000Z-node-a.jsonl", "20010101T000001.000000Z-node-a.jsonl"]
            let other = "20010101T000000.000000Z-node-b.jsonl"
            try bench.makeFolders("weather/feedback")
            for name in names + [other] { try bench.write("spool/weather/feedback/\(name)", "{}\n") }
            try await bench.withDaemon { daemon in
                try await daemon.says("unread feedback will be deleted")
                let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("unread feedback") })
                #expect(line.contains("files=3") && line.contains("oldest=\(names[0])"), "\(line)")
                #expect(line.contains("archive.keep_feedback"), "\(line)")
                try await daemon.says("deleted old jobs and feedback")
                // No other daemon may work on this spool: nobody else would delete what another node name has published.
                #expect(bench.names(in: "weather/feedback") == [])
                #expect(daemon.log.components(separatedBy: "unread feedback").count == 2)
            }
        }
    }

    @Test func `what is not the daemon's is reported once, and stays`() async throws {
        var setup = try Bench.Setup()
        setup.archive = "{keep_failed: 0}"
        try await Bench.running(setup) { bench in
            try bench.archive("notes.txt", in: "failed", "2001-01-01")
            try bench.makeFolders("weather/failed/2001-01-02/folder.json/inside")
            try await bench.withDaemon { daemon in
                try await daemon.says("unknown files in an archive are kept", times: 2)
                #expect(daemon.log.contains("path=weather/failed/2001-01-01"))
                #expect(daemon.log.contains("example=notes.txt"))
                // Refused, and so a reason to look once more.
                try bench.drop("bad.json", "{}")
                try await daemon.says("deleted old jobs and feedback")
                #expect(daemon.log.components(separatedBy: "unknown files in an archive").count == 3)
                #expect(bench.names(in: "weather/failed/2001-01-01") == ["notes.txt"])
                #expect(bench.names(in: "weather/failed/2001-01-02/folder.json") == ["inside"])
            }
        }
    }

    @Test(arguments: [
        ("keep_feedback: 0", "archive.keep_feedback: would delete feedback before any program can read it"),
        ("keep_feedback: 1m", "archive.keep_feedback: "), ("keep_done: soon", "archive.keep_done: "),
        ("keep_failed: 30", "archive.keep_failed: the unit is missing"),
    ])
    func `a time that cannot be meant is refused, with a remedy`(line: String, fault: String) async throws {
        try await Bench.running(try .init()) { bench in
            try bench.write("etc/pushspool.yaml", "spool: ../spool\nstate: ../state\narchive: {\(line)}\n")
            let end = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
            #expect(end.code == 78 && end.log.contains(fault) && end.log.contains("hint: "), "\(end)")
        }
    }
}

extension Bench {
    /// Makes a folder of the spool, and those above it.
    fileprivate func makeFolders(_ folder: String) throws {
        try FileManager.default.createDirectory(atPath: "\(path)/spool/\(folder)", withIntermediateDirectories: true)
    }

    /// Puts a file into an archive as if an earlier daemon had.
    fileprivate func archive(_ name: String, in folder: String, _ day: String) throws {
        try makeFolders("weather/\(folder)/\(day)")
        try write("spool/weather/\(folder)/\(day)/\(name)", "{}")
    }
}
