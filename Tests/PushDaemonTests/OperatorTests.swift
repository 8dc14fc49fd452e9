import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// What operators do with jobs that nothing was sent of, through a daemon and without one.
@Suite struct OperatorTests {
    /// Runs `body` with a daemon that cannot send yet, so that jobs wait; or with none.
    private func running(
        _ hasDaemon: Bool, apps: [String] = ["weather"], _ body: @Sendable (Bench) async throws -> Void
    ) async throws {
        var setup = try Bench.Setup()
        setup.settle = "1h"
        try await Bench.running(setup) { bench in
            for app in apps {
                try bench.configureApp(app)
                for folder in ["new", "hold"] {
                    try FileManager.default.createDirectory(
                        atPath: "\(bench.path)/spool/\(app)/\(folder)", withIntermediateDirectories: true)
                }
            }
            guard hasDaemon else { return try await body(bench) }
            try await bench.withDaemon { daemon in
                try await daemon.says("app started", times: apps.count)
                try await body(bench)
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
        }
    }

    /// Puts a file into `new/` as one that is written in place: it waits until it has settled.
    private func write(_ name: String, _ bench: Bench, _ text: String = job(1)) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(bench.path)/spool/weather/new/\(name)"))
    }

    @Test(arguments: [true, false])
    func `a job that waits is held, released, and ended`(hasDaemon: Bool) async throws {
        try await running(hasDaemon) { bench in
            try write("a.json", bench)
            let held = try await bench.operate("hold", "weather/a.json")
            #expect(held.code == 0 && held.text.contains("weather/a.json: held as hold/a.json"), "\(held)")
            #expect(bench.names(in: "weather/hold") == ["a.json", "a.json.rest"])
            #expect(bench.names(in: "weather/new").isEmpty)
            let again = try await bench.operate("hold", "--app", "weather", "a.json")
            #expect(again.code == 1 && again.log.contains("already in hold/"), "\(again)")
            for command in ["cancel", "expire"] {
                try write("\(command).json", bench)
                let ended = try await bench.operate(command, "weather/\(command).json")
                #expect(ended.code == 0 && ended.text.contains("nothing was sent"), "\(ended)")
                let line = try #require(try bench.lines("job").last)
                #expect(line.job == "\(command).json" && line.code == (command == "cancel" ? "cancelled" : "expired"))
                #expect(line.state == "failed" && line.notifications == 0)
                #expect(try await bench.result(of: line).why == "\(line.code ?? "") by an operator")
            }
            #expect(bench.names(in: "weather/hold") == ["a.json", "a.json.rest"])
            #expect(bench.jobs(in: "failed").sorted() == ["cancel.json", "expire.json"])
            #expect(await bench.simulator.ledger.arrivedCount == 0)
        }
    }

    @Test(arguments: [true, false])
    func `a released job is sent, and its times count from its drop`(hasDaemon: Bool) async throws {
        try await running(hasDaemon) { bench in
            try write("a.json", bench)
            _ = try await bench.operate("hold", "weather/a.json")
            try await eventually("a second later") {
                let rest = try bench.contents("weather/hold/a.json.rest")
                return try dropped(rest) + 1 < Date.now.timeIntervalSince1970
            }
            let held = try dropped(try bench.contents("weather/hold/a.json.rest"))
            let released = try await bench.operate("release", "weather/hold/a.json")
            #expect(released.code == 0 && released.text.contains("released as new/a.json"), "\(released)")
            guard hasDaemon else { return #expect(bench.names(in: "weather/new") == ["a.json"]) }
            _ = try await bench.end(of: "a.json")
            let line = try #require(try bench.texts().last { $0.contains("\"kind\":\"job\"") })
            #expect(try abs(dropped(line) - held) < 0.001 && line.contains("\"accepted\":1"))
            #expect(bench.names(in: "weather/hold").isEmpty)
        }
    }

    /// The time of the drop that a JSON object tells, in seconds.
    private func dropped(_ text: String) throws -> Double {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let time = try #require((object?["dropped_at"] as? String).flatMap { formatter.date(from: $0) })
        return time.timeIntervalSince1970
    }

    @Test(arguments: [true, false])
    func `many names come from standard input, and each has a line`(hasDaemon: Bool) async throws {
        try await running(hasDaemon) { bench in
            let names = (0..<200).map { "j\($0).json" } + ["with space.json", "50%.json"]
            for name in names { try write(name, bench) }
            let lines = names.map { "weather/\($0)\n" }.joined()
            let held = try await bench.operate("hold", "-", input: lines + "weather/none.json\n")
            #expect(held.code == 1 && held.text.split(separator: "\n").count == names.count, "\(held.log)")
            #expect(held.log.contains("weather/none.json: no such job"))
            #expect(!held.log.contains("weather/weather") && held.log.contains("hint: run `pushspool show` to search"))
            #expect(bench.names(in: "weather/hold").count == 2 * names.count)
            let zeroes = names.map { "\($0)\0" }.joined()
            let released = try await bench.operate("release", "--app", "weather", "-0", "-", input: zeroes)
            #expect(released.code == 0 && released.text.split(separator: "\n").count == names.count)
        }
    }

    @Test(arguments: [true, false])
    func `jobs are meant by patterns, by their age, and all at once`(hasDaemon: Bool) async throws {
        try await running(hasDaemon, apps: ["news", "weather"]) { bench in
            // What is released must not be sent before it is cancelled.
            if hasDaemon { #expect(try await bench.operate("pause").code == 0) }
            for name in ["camp-1.json", "camp-2.json", "other.json", "odd[1].json"] { try write(name, bench) }
            try bench.write("spool/news/new/camp-1.json", job(1))
            let young = try await bench.operate("hold", "--older-than", "1h", "camp*")
            #expect(young.code == 1 && young.log.contains("no job matches camp*"), "\(young)")
            let held = try await bench.operate("hold", "weather/camp-?.json", "odd[1].json")
            #expect(held.code == 0 && held.text.split(separator: "\n").count == 3, "\(held)")
            #expect(bench.names(in: "news/new") == ["camp-1.json"] && bench.names(in: "weather/new") == ["other.json"])
            let released = try await bench.operate("release", "--all", "--app", "weather", "--older-than", "0")
            #expect(released.code == 0 && released.text.split(separator: "\n").count == 3, "\(released)")
            let ended = try await bench.operate("cancel", "--all")
            #expect(ended.code == 0 && ended.text.split(separator: "\n").count == 5, "\(ended)")
            #expect(bench.names(in: "news/new").isEmpty && bench.names(in: "weather/new").isEmpty)
            let again = try await bench.operate("retry", "-n", "--app", "news", "c*")
            #expect(again.text.contains("news/camp-1.json: "), "\(again)")
            // One whose line cannot be written at once is in hold/ until it can.
            try await eventually("nothing to act on") { try await bench.operate("cancel", "--all").code == 0 }
            for wrong in [["--all", "x.json"], [], ["--older-than", "1h", "x.json"]] {
                let command = ["cancel", "--config", "\(bench.path)/etc/pushspool.yaml"] + wrong
                #expect(try await bench.run(command).code == 64)
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `a command for all jobs tells what it did, and counts where it has nothing to do`(
        hasDaemon: Bool, isJSON: Bool
    ) async throws {
        try await running(hasDaemon) { bench in
            if hasDaemon { #expect(try await bench.operate("pause").code == 0) }
            let all = ["--all", "--app", "weather"] + (isJSON ? ["--json"] : [])
            for number in 0..<3 { try write("c\(number).json", bench) }
            let ended = try await bench.operate(["cancel"] + all)
            #expect(ended.code == 0 && ended.log == "cancel: 3 jobs\n", "\(ended)")
            let folder = "\(bench.path)/spool/weather/done/2026-11-21"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for number in 0..<50 { try bench.write("spool/weather/done/2026-11-21/d\(number).json", job(1)) }
            let planned = try await bench.operate(["retry", "-n"] + all)
            #expect(
                planned.code == 0 && planned.log == "retry: 3 jobs would change, 50 with nothing to do\n", "\(planned)")
            #expect(planned.text.split(separator: "\n").count == 3)
            let retried = try await bench.operate(["retry"] + all)
            #expect(retried.code == 0 && retried.log == "retry: 3 jobs, 50 with nothing to do\n", "\(retried)")
            let lines = retried.text.split(separator: "\n")
            #expect(lines.count == 3 && lines.allSatisfy { $0.contains(isJSON ? #""result":"done""# : "weather/c") })
            #expect(bench.names(in: "weather/new").count == 3)
            for (words, count) in [("hold: 3 jobs\n", 3), ("hold: 0 jobs\n", 0)] {
                let held = try await bench.operate(["hold"] + all)
                #expect(
                    held.code == 0 && held.log == words && held.text.split(separator: "\n").count == count, "\(held)")
            }
            // A job that is named must be there, and have something to do.
            let named = try await bench.operate(["retry", "--app", "weather", "weather/done/2026-11-21/d1.json"])
            #expect(
                named.code == 1 && named.log.contains("weather/done/2026-11-21/d1.json: nothing is left"), "\(named)")
            #expect(!named.log.contains("weather/weather"))
            try FileManager.default.createDirectory(
                atPath: "\(bench.path)/spool/weather/failed/2026-11-21", withIntermediateDirectories: true)
            try bench.write("spool/weather/failed/2026-11-21/broken.json", job(1))
            try bench.write("spool/weather/failed/2026-11-21/broken.json.result.json", "no result")
            let broken = try await bench.operate(["retry"] + all)
            #expect(
                broken.code == 1 && (broken.log + broken.text).contains("its result file cannot be read"), "\(broken)")
            #expect(broken.log.hasSuffix("retry: 0 jobs, 50 with nothing to do, 1 refused\n"), "\(broken)")
        }
    }

    @Test func `a command that finds nothing to do for many jobs does not fill the log`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let folder = "\(bench.path)/spool/weather/done/2026-11-21"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for number in 0..<50 { try bench.write("spool/weather/done/2026-11-21/d\(number).json", job(1)) }
            #expect(try await bench.operate("retry", "--all").code == 0)
            #expect(try await bench.operate("retry", "weather/d1.json").code == 1)
            #expect(try await bench.operate("pause").code == 0)
            try await daemon.says("command=pause")
            let lines = daemon.log.split(separator: "\n").filter { $0.contains("command=retry") }
            #expect(lines.allSatisfy { $0.contains("debug") }, "\(lines)")
        }
    }

    @Test func `held jobs that are ended together share feedback files, and with them syncs`() async throws {
        try await running(true) { bench in
            let names = (0..<200).map { "h\(100 + $0).json" }
            for name in names { try bench.write("spool/weather/hold/\(name)", job(1)) }
            let ended = try await bench.operate("cancel", "--all")
            #expect(ended.code == 0 && ended.log == "cancel: 200 jobs\n", "\(ended)")
            let lines = ended.text.split(separator: "\n").map(String.init)
            #expect(lines == names.map { "weather/\($0): cancelled, nothing was sent" }, "\(ended.text)")
            #expect(bench.names(in: "weather/hold").isEmpty && Set(bench.jobs(in: "failed")) == Set(names))
            #expect(try Set(bench.lines("job").compactMap(\.job)) == Set(names))
            #expect(try bench.lines("job").count == 200)
            #expect(bench.names(in: "weather/feedback").count < 50)
        }
    }

    @Test func `two operators at once do everything once`() async throws {
        try await running(true) { bench in
            let names = (0..<100).map { "weather/j\($0).json" }
            for number in 0..<100 { try write("j\(number).json", bench) }
            let input = names.joined(separator: "\n")
            async let one = bench.operate("hold", "-", input: input)
            async let other = bench.operate("cancel", "-", input: input)
            let ends = try await [one, other]
            #expect(ends.allSatisfy { $0.code == 0 || $0.code == 1 })
            let (held, failed) = (bench.names(in: "weather/hold"), bench.jobs(in: "failed"))
            let parked = held.filter { $0.hasSuffix(".json") }
            #expect(parked.count + failed.count == 100)
            #expect(bench.names(in: "weather/new").isEmpty && Set(failed).count == failed.count)
            #expect(try bench.lines("job").count == failed.count)
        }
    }

    @Test func `what is not there, or names no job, is told, and the rest is done`() async throws {
        try await running(true) { bench in
            try write("a.json", bench)
            let end = try await bench.operate(
                "hold", "weather/none.json", "none.json", "weather/tmp/a.json", "nowhere/a.json", "weather/a.json",
                "ref:nobody", "00000000000000000000000000")
            #expect(end.code == 1 && end.text.contains("weather/a.json: held"), "\(end)")
            let told = ["no such job", "not a job", "no such app is running", "hint: give APP/NAME"]
            for words in told { #expect(end.log.contains(words), "\(words): \(end.log)") }
        }
    }

    @Test(arguments: [true, false])
    func `of a job that is somewhere else it is said where`(hasDaemon: Bool) async throws {
        try await running(hasDaemon) { bench in
            try write("a.json", bench)
            let early = try await bench.operate("release", "weather/hold/a.json")
            #expect(early.code == 1 && early.log.contains("it is waiting in new/"), "\(early)")
            // By its path, as a shell completes it, and by its bare name.
            let expired = try await bench.operate("expire", bench.path + "/spool/weather/new/a.json")
            #expect(expired.code == 0, "\(expired)")
            for command in ["cancel", "hold", "release", "expire"] {
                let late = try await bench.operate(command, "a.json")
                let isTold = late.log.contains("already in failed/2") || late.log.contains("already ended")
                #expect(late.code == 1 && isTold, "\(command): \(late)")
            }
        }
    }

    @Test(arguments: [true, false])
    func `of several jobs of one name none is chosen`(hasDaemon: Bool) async throws {
        try await running(hasDaemon) { bench in
            try bench.write("spool/weather/hold/a.json", job(1))
            try write("a.json", bench)
            for command in ["cancel", "expire"] {
                let end = try await bench.operate(command, "weather/a.json")
                let told = "2 jobs match: weather/new/a.json, weather/hold/a.json"
                #expect(end.code == 1 && end.log.contains(told), "\(end)")
                #expect(end.log.contains("hint: give one of these names"), "\(end)")
            }
            #expect(bench.names(in: "weather/new") == ["a.json"] && bench.names(in: "weather/hold") == ["a.json"])
            #expect(try await bench.operate("cancel", "weather/hold/a.json").code == 0)
            #expect(try await bench.operate("cancel", "weather/a.json").code == 0)
            #expect(bench.names(in: "weather/new").isEmpty && bench.names(in: "weather/hold").isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `of jobs of two apps that their producers call the same none is chosen`(hasDaemon: Bool) async throws {
        let apps = ["news", "weather"]
        try await running(hasDaemon, apps: apps) { bench in
            for app in apps {
                let path = "spool/\(app)/failed/2999-01-01/a.json"
                try FileManager.default.createDirectory(
                    atPath: "\(bench.path)/spool/\(app)/failed/2999-01-01", withIntermediateDirectories: true)
                try bench.write(path, job(1))
                try bench.write(path + ".result.json", "{\n  \"ref\": \"storm\",\n  \"state\": \"failed\"\n}\n")
            }
            let end = try await bench.operate("retry", "--whole", "ref:storm")
            let told = "2 jobs match: news/failed/2999-01-01/a.json, weather/failed/2999-01-01/a.json"
            #expect(end.code == 1 && end.log.contains(told), "\(end)")
            #expect(try await bench.operate("retry", "--whole", "news/ref:storm").code == 0)
            #expect(bench.names(in: "news/failed/2999-01-01").isEmpty)
            #expect(bench.jobs(in: "failed") == ["a.json"] && bench.names(in: "weather/new").isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `a name alone means the job that the command can act on, not one of another app that is over`(
        hasDaemon: Bool
    ) async throws {
        try await running(hasDaemon, apps: ["news", "weather"]) { bench in
            let archive = "\(bench.path)/spool/news/failed/2999-01-01"
            try FileManager.default.createDirectory(atPath: archive, withIntermediateDirectories: true)
            try bench.write("spool/news/failed/2999-01-01/a.json", job(1))
            try write("a.json", bench)
            let end = try await bench.operate("hold", "a.json")
            #expect(end.code == 0 && end.text.contains("weather/a.json: held as hold/a.json"), "\(end)")
            let over = try await bench.operate("hold", "--app", "news", "a.json")
            #expect(over.code == 1 && over.log.contains("already in failed/2999-01-01/"), "\(over)")
        }
    }

    @Test func `a command is logged with who gave it`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            _ = try await bench.operate("cancel", "weather/none.json")
            try await daemon.says("operator command")
            let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("operator command") })
            #expect(line.contains("command=cancel") && line.contains("uid=\(geteuid())"), "\(line)")
            #expect(line.contains("result=not_found") && line.contains("process="), "\(line)")
            let status = try Directory.open(path: bench.path + "/run").status(of: Array("node-a.sock".utf8))
            #expect(status?.kind == .socket && status?.mode == 0o660)
            #expect(try await daemon.stop() == 0)
            #expect(try Directory.open(path: bench.path + "/run").names() == [])
        }
    }

    @Test func `a daemon without a place for its socket works, and commands say so`() async throws {
        try await Bench.running(try .init()) { bench in
            try FileManager.default.removeItem(atPath: bench.path + "/run")
            try await bench.withDaemon { daemon in
                try await daemon.says("control socket disabled")
                try await daemon.says("app started")
                try bench.drop("a.json", job(1))
                #expect(try await bench.end(of: "a.json").accepted == 1)
                let end = try await bench.operate("cancel", "weather/a.json")
                #expect(end.code == 75 && end.log.contains("another daemon uses"), "\(end)")
                #expect(try await bench.operate("stop").code == 75)
            }
        }
    }

    @Test func `a daemon that works alone refuses to hand over, and goes on`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let end = try await bench.operate("stop", "--handover")
                #expect(end.code == 1 && end.log.contains("works alone"), "\(end)")
                try bench.drop("a.json", job(1))
                #expect(try await bench.end(of: "a.json").accepted == 1)
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func `who is in the socket's group gives commands, and others are told that they may not`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            // Others may not get to where it was built.
            let program = bench.path + "/program"
            try FileManager.default.copyItem(atPath: try BuiltProgram.path, toPath: program)
            let command = [program, "cancel", "--config", bench.path + "/etc/pushspool.yaml", "weather/none.json"]
            let ends: [(group: Int, code: Int32, words: String)] = [
                (65_534, 75, "Permission denied"), (0, 1, "no such job"),
            ]
            for (group, code, words) in ends {
                let user = ["setpriv", "--reuid=65534", "--regid=\(group)", "--clear-groups"]
                let other = try Program("/usr/bin/env", user + command, logs: bench.path + "/logs")
                #expect(try await other.end() == code && other.log.contains(words), "\(other.log)")
                #expect(other.log.contains("control.group") == (code == 75), "\(other.log)")
            }
            let lines = daemon.log.split(separator: "\n").filter { $0.contains("operator command") }
            #expect(lines.count == 1 && lines[0].contains("uid=65534"), "\(lines)")
        }
    }

    @Test func `a job of an app whose file was removed is ended when that is back, as the hint says`() async throws {
        try await Bench.serving(try .init(app: "rate: 5/s")) { bench, daemon in
            let file = bench.path + "/etc/apps/weather.yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try bench.drop("long.json", job(tokens: 0..<100))
            _ = try await bench.accepted(1)
            try FileManager.default.removeItem(atPath: file)
            try await eventually("no app") {
                let end = try await bench.operate("cancel", "weather/none.json")
                return end.code == 1 && end.log.contains("put it back and try again")
            }
            #expect(bench.names(in: "weather/work/node-a").count == 1)
            try bench.write("etc/apps/weather.yaml", text)
            try await eventually("the app") { try await bench.operate("cancel", "weather/long.json").code == 0 }
            #expect(try await bench.end(of: "long.json").code == "cancelled")
        }
    }

    @Test func `a file in the place of the socket is left alone`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.write("run/node-a.sock", "mine")
            try await bench.withDaemon { daemon in
                try await daemon.says("is not a socket")
                #expect(try await daemon.stop() == 0)
            }
            #expect(try String(contentsOfFile: bench.path + "/run/node-a.sock", encoding: .utf8) == "mine")
        }
    }

    @Test func `what stands beside a note that cannot be read is not released`() async throws {
        try await running(false) { bench in
            let note = "spool/weather/hold/a.json.rest"
            try bench.write("spool/weather/hold/a.json", job(1))
            try bench.write(note, #"{"v":9}"#)
            let end = try await bench.operate("release", "weather/a.json")
            #expect(end.code == 1 && end.log.contains("its remainder cannot be read"), "\(end)")
            #expect(bench.names(in: "weather/hold") == ["a.json", "a.json.rest"])
            try FileManager.default.removeItem(atPath: bench.path + "/" + note)
            #expect(try await bench.operate("release", "weather/a.json").code == 0)
            #expect(bench.names(in: "weather/new") == ["a.json"])
        }
    }

    @Test func `a socket that a daemon left which was killed is taken over`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            #expect(FileManager.default.fileExists(atPath: bench.path + "/run/node-a.sock"))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                #expect(try await bench.operate("cancel", "weather/none.json").code == 1)
                #expect(try await daemon.stop() == 0)
            }
        }
    }
}
