import Foundation
import GatewaySimulator
import Glibc
import JobFormat
import LinuxIO
import PushModel
import SharedResources
import SpoolModel
import TestSupport
import Testing

@testable import AppEngine
@testable import PushDaemon

/// What the daemon says of itself.
@Suite struct StatusTests {
    @Test func `status shows each app, and an end where there is no daemon`() async throws {
        try await Bench.running(try .init()) { bench in
            let command = ["status", "--config", bench.path + "/etc/pushspool.yaml"]
            let before = try await bench.run(command)
            #expect(before.code == 75 && before.log.contains("no daemon is running"), "\(before)")
            try bench.configureApp("faulty", "wrong: key")
            try FileManager.default.createDirectory(
                atPath: bench.path + "/spool/idle", withIntermediateDirectories: true)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await eventually("the status") {
                    let end = try await bench.run(command)
                    return end.code == 0 && end.text.contains("weather  idle")
                }
                let end = try await bench.run(command)
                #expect(end.text.contains("faulty   broken") && end.text.contains("idle     unconfigured"), "\(end)")
                let json = try await bench.run(command + ["--json"])
                #expect(json.code == 0 && json.text.hasPrefix(#"{"v":1,"node":"node-a","pid":"#), "\(json)")
                #expect(try await daemon.stop() == 0)
            }
            #expect(try await bench.run(command).code == 75)
        }
    }

    @Test func `an app that is broken says why, and one that lost its file has its jobs`() async throws {
        try await Bench.running(try .init(app: "rate: 5/s")) { bench in
            let command = ["status", "--config", bench.path + "/etc/pushspool.yaml"]
            try bench.configureApp("faulty", "wrong: key")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let tokens = (0..<400).map { #""\#(token($0))""# }.joined(separator: ",")
                try bench.drop("a.json", #"{"tokens":[\#(tokens)],"alert":"Hi"}"#)
                try await eventually("a job under way") { !bench.names(in: "weather/work/node-a").isEmpty }
                try FileManager.default.removeItem(atPath: bench.path + "/etc/apps/weather.yaml")
                daemon.send(SIGHUP)
                try await eventually("its jobs") {
                    let text = try await bench.run(command).text
                    return text.contains(#/weather  unconfigured +1/#)
                        && text.contains("weather has no configuration, so")
                }
                let text = try await bench.run(command).text
                #expect(text.contains("faulty has a faulty configuration: "), "\(text)")
                #expect(text.contains("faulty.yaml:") && text.contains("`wrong`"), "\(text)")
                let doctor = try await bench.run(["doctor", "--config", bench.path + "/etc/pushspool.yaml", "weather"])
                #expect(doctor.text.contains("do not remove it"), "\(doctor)")
                #expect(!doctor.text.contains("or remove the folder"), "\(doctor)")
                #expect(try await daemon.stop() == 0)
            }
            // The next daemon knows it from the journal.
            try await bench.withDaemon { daemon in
                try await daemon.says("app is not configured")
                try await eventually("its jobs") {
                    try await bench.run(command).text.contains(#/weather  unconfigured +1/#)
                }
                try bench.configureApp("weather")
                _ = try await bench.end(of: "a.json")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `an app whose volume has too little space is full, and says so`() async throws {
        try await Bench.running(try .init()) { bench in
            let file = try String(contentsOfFile: bench.path + "/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", file + "limits: {free_space: 900000GiB}\n")
            try await bench.withDaemon { daemon in
                try await daemon.says("low disk space: no jobs are claimed")
                let command = ["status", "--config", bench.path + "/etc/pushspool.yaml"]
                let end = try await awaited("the status") {
                    let end = try await bench.run(command)
                    return end.text.contains("weather  full") ? end : nil
                }
                #expect(end.text.contains("weather claims no jobs: its volume has "), "\(end)")
                #expect(end.text.contains("free some space"), "\(end)")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `a file with a wrong name is told while it is new`() async throws {
        var setup = try Bench.Setup()
        setup.rescan = "1h"
        try await Bench.serving(setup) { bench, daemon in
            try bench.write("spool/weather/new/a.txt", job(1))
            try bench.drop("b.JSON", job(2))
            try await daemon.says("file in new/ is ignored: its name is not valid for a job", times: 2)
            let status = bench.path + "/spool/.pushspool/public/node-a/status.json"
            try await eventually("the status") {
                try String(contentsOfFile: status, encoding: .utf8).contains(#""ignored":2"#)
            }
        }
    }

    @Test func `a list shows what waits, what is sent and how far it is, and what is held`() async throws {
        try await Bench.running(try .init(app: "rate: 25/s", patience: "1h")) { bench in
            let command = ["list", "--config", bench.path + "/etc/pushspool.yaml"]
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.write("spool/weather/hold/held.json", job(1))
                let tokens = (0..<400).map { #""\#(token($0))""# }.joined(separator: ",")
                try bench.drop("long.json", #"{"tokens":[\#(tokens)],"alert":"Hi"}"#)
                let line = #/weather  sending  +\d+ s +\d+  long\.json +\d+ %  \d+ of 400/#
                try await eventually("progress") { try await bench.run(command).text.contains(line) }
                try bench.write("spool/weather/new/half.yaml", "tokens:")
                let end = try await bench.run(command)
                #expect(end.code == 0 && end.text.contains(#/weather  waiting  +\d+ s +7  half\.yaml/#), "\(end)")
                #expect(end.text.contains(#/weather  held  +\d+ s +\d+  held\.json/#), "\(end)")
                let json = try await bench.run(command + ["--json", "--app", "weather"])
                let job = #/"state":"sending","job":"long.json","id":"\w{26}".*"count":400,"settled":/#
                #expect(json.text.contains(job), "\(json)")
                try await daemon.destroy()
            }
            // What the daemon said last soon counts no more; the files are there.
            try await eventually("no progress") {
                let end = try await bench.run(command)
                return end.code == 0 && end.text.contains("long.json") && !end.text.contains("of 400")
            }
            let other = try await bench.run(command + ["--app", "other"])
            #expect(other.code == 65 && other.log.contains("hint: check the spool's path, the app's name"), "\(other)")
        }
    }

    @Test func `a status that was left by a daemon that was killed is not taken for news`() async throws {
        try await Bench.running(try .init()) { bench in
            let folder = bench.path + "/spool/.pushspool/public/node-a"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let times = #""started_at":"2026-01-01T00:00:00Z","written_at":"2026-01-01T00:00:00Z""#
            try Data(#"{"v":1,"node":"node-a","pid":1,"state":"running",\#(times),"apps":[]}"#.utf8)
                .write(to: URL(fileURLWithPath: folder + "/status.json"))
            let end = try await bench.run(["status", "--config", bench.path + "/etc/pushspool.yaml"])
            #expect(end.code == 75 && end.log.contains("has not updated its status for"), "\(end)")
        }
    }

    @Test func `a daemon that was killed is not taken for one that runs`() async throws {
        try await Bench.running(try .init()) { bench in
            let command = ["status", "--config", bench.path + "/etc/pushspool.yaml"]
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await eventually("a status") { try await bench.run(command).code == 0 }
            }
            let end = try await bench.run(command)
            #expect(end.code == 75 && end.log.contains("the daemon ended without a clean shutdown"), "\(end)")
            #expect(end.text.contains(", dead, started ") && end.log.contains("pushspool run --config"), "\(end)")
        }
    }

    @Test func `a daemon that cannot say what it does is told from none`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let command = ["status", "--config", bench.path + "/etc/pushspool.yaml"]
            try await eventually("a status") { try await bench.run(command).code == 0 }
            // One that runs on would write another status.
            try await daemon.freeze()
            try FileManager.default.removeItem(atPath: bench.path + "/spool/.pushspool/public/node-a/status.json")
            let end = try await bench.run(command)
            daemon.send(SIGCONT)
            #expect(end.code == 75 && end.log.contains("the daemon is running, but its status"), "\(end)")
            #expect(end.log.contains("is full") && !end.log.contains("start one"), "\(end)")
        }
    }

    @Test func `the list of apps follows the configuration, and stays when the daemon ends`() async throws {
        try await Modern().running { bench in
            try bench.configureModern()
            let file = bench.path + "/spool/.pushspool/public/node-a/apps.json"
            let hasTopic = #""app":"modern","carrier":"http2","environment":"sandbox","topic":"com.example.weather""#
            try await bench.withDaemon { daemon in
                try await eventually("the list") {
                    (try? String(contentsOfFile: file, encoding: .utf8))?.contains(hasTopic) == true
                }
                try bench.configureModern("on_doubt: report")
                daemon.send(SIGHUP)
                try await eventually("a new list") {
                    try String(contentsOfFile: file, encoding: .utf8).contains(#""on_doubt":"report""#)
                }
                #expect(try await daemon.stop() == 0)
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains(hasTopic))
        }
    }

    /// Waits until the status of the bench's daemon has all these words.
    @discardableResult
    private func expect(_ words: [String], on bench: Bench) async throws -> String {
        let command = ["status", "--config", bench.path + "/etc/pushspool.yaml"]
        var text = ""
        try await eventually("a status of \(words)") {
            text = try await bench.run(command).text
            return words.allSatisfy(text.contains)
        }
        return text
    }

    @Test func `status says that a gateway cannot be reached, and why, until it can`() async throws {
        try await Bench.serving(try .init(app: "gateway: 127.0.0.1:1")) { bench, _ in
            try await expect(["weather  idle"], on: bench)
            try bench.drop("a.json", job(1))
            try await expect(["weather  unreachable", "  until 2", "weather cannot reach its gateway: "], on: bench)
            try bench.configureApp("weather")
            #expect(try await bench.end(of: "a.json").accepted == 1)
            try await expect(["weather  idle"], on: bench)
        }
    }

    @Test(arguments: [
        ("answer status=503 reason=ServiceUnavailable", "the gateway answered ServiceUnavailable (status 503)"),
        ("answer status=411 text=Length.Required", "status 411 with a body that is not Apple's"),
    ])
    func `status says that a gateway takes nothing, and what it answers`(script: String, words: String) async throws {
        try await Modern(script).serving { bench, daemon in
            try bench.drop("a.json", job(1), app: "modern")
            try await expect(["modern  refused", "modern cannot send: \(words)"], on: bench)
            try await daemon.says("cannot send to the gateway")
            #expect(try await bench.operate("cancel", "modern/a.json").code == 0)
        }
    }

    @Test func `status says that a gateway takes notifications and does not answer`() async throws {
        try await Modern("latency delay=28s times=1").serving { bench, _ in
            try bench.drop("a.json", job(1), app: "modern")
            let text = try await expect(
                ["modern  sending", "modern waits for answers: its gateway accepts"], on: bench)
            #expect(text.contains("  for 1") || text.contains("  for 2"), "\(text)")
            #expect(try await bench.end(of: "a.json", app: "modern").accepted == 1)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a watch shows the status again and again, until a signal`(signal: Int32) async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let watch = try bench.start(["status", "--watch", "--config", bench.path + "/etc/pushspool.yaml"])
                try await eventually("three screens") {
                    watch.text.components(separatedBy: "weather  idle").count > 3
                }
                watch.send(signal)
                #expect(try await watch.end() == 0)
                #expect(!watch.text.contains("\u{1B}") && watch.text.contains("node node-a, process "))
            }
        }
    }

    @Test func `on a terminal a watch draws one screen, and leaves it at a key`() async throws {
        try await Bench.running(try .init()) { bench in
            let command = "\(try BuiltProgram.path) status --watch --config \(bench.path)/etc/pushspool.yaml"
            let script = ["script", "--quiet", "--return", "--command", command, "/dev/null"]
            let program = try Program("/usr/bin/env", script, input: "q", logs: bench.path + "/logs")
            #expect(try await program.end() == 0)
            #expect(program.text.contains("\u{1B}[?1049h") && program.text.contains("no daemon is running"))
            #expect(program.text.contains("\u{1B}[?25h\u{1B}[?1049l"), "\(program.text)")
        }
    }

    @Test func `a thread stands still when one piece of work takes ten seconds`() {
        let looks: [(second: Int, finished: Int, isAtWork: Bool)] = [
            (0, 7, true), (9, 7, true), (10, 7, true), (11, 7, true), (12, 8, true), (13, 8, false), (99, 8, false),
        ]
        var detector = HangDetector()
        var found: [String] = []
        for look in looks {
            let progress = WorkerThread.Progress(finishedCount: look.finished, isAtWork: look.isAtWork)
            let isNews = detector.note(progress, at: .zero + .seconds(look.second))
            found.append("\(isNews ? "news" : "no news"), \(detector.begin == nil ? "goes on" : "stands")")
        }
        #expect(
            found == [
                "no news, goes on", "no news, goes on", "news, stands", "no news, stands", "news, goes on",
                "no news, goes on", "no news, goes on",
            ])
    }

    @Test func `a box that is full asks for a scan`() throws {
        let box = HintBox()
        let name = try #require(FileName(bytes: Array("a.json".utf8)))
        for _ in 0..<4097 { box.add(name, .movedIn) }
        let content = box.take()
        #expect(content.hints.count == 4096 && content.wantsScan)
        #expect(box.take().hints.isEmpty && !box.take().wantsScan)
    }
}
