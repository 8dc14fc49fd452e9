import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// The commands as a shell sees them.
@Suite struct CommandTests {
    private func submit(_ bench: Bench, _ more: [String], input: String? = nil) async throws -> (
        code: Int32, text: String, log: String
    ) {
        try await bench.run(
            ["submit", "--config", "\(bench.path)/etc/pushspool.yaml", "--app", "weather"] + more, input: input)
    }

    @Test func `submit waits for the end and tells it`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.write("staged/a.json", job(1))
            let end = try await submit(bench, ["--wait", bench.path + "/staged/a.json"])
            #expect(end.code == 0 && end.text.contains("done, all accepted"), "\(end)")
            #expect(await bench.simulator.ledger.acceptedCount == 1)
        }
    }

    @Test func `submit of several jobs, of which one fails, says that those before it are dropped`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            try bench.write("staged/a.json", job(1))
            let end = try await submit(bench, [bench.path + "/staged/a.json", bench.path + "/staged/none.json"])
            #expect(end.code == 69 && end.log.contains("1 of 2 jobs is dropped"), "\(end)")
            #expect(bench.names(in: "weather/new").count == 1)
        }
    }

    @Test func `submit takes a job from standard input`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let end = try await submit(
                bench, ["--wait", "--format", "yaml", "-"], input: "token: \(token(1))\nalert: Hi\n")
            #expect(end.code == 0 && end.text.contains(".yaml: done"), "\(end)")
        }
    }

    @Test func `an empty standard input is no job`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            let end = try await submit(bench, ["-"], input: "")
            #expect(end.code == 65 && end.log.contains("standard input is empty"), "\(end)")
            #expect(bench.names(in: "weather/new").isEmpty && bench.names(in: "weather/tmp").isEmpty)
        }
    }

    @Test(arguments: [
        (["cancle", "weather/a.json"], "did you mean `cancel`?"), (["lits"], "did you mean `list`?"),
        (["stauts", "--json"], "did you mean `status`?"), (["channel", "creat"], "did you mean `create`?"),
    ])
    func `a misspelt command is told the right one`(words: [String], hint: String) async throws {
        try await Bench.running(try .init()) { bench in
            let end = try await bench.run(words)
            #expect(end.code == 64 && end.log.contains(hint), "\(end)")
        }
    }

    @Test(arguments: [("1", 69), ("1s", 69), ("10ms", 69), ("1x", 64), ("-1s", 64)])
    func `times are taken with a unit and in seconds`(time: String, code: Int) async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            let end = try await submit(bench, ["--wait", "--timeout=\(time)", "-"], input: job(1))
            #expect(Int(end.code) == code && (code == 64 || end.log.contains("has not finished after 1 s")), "\(end)")
        }
    }

    @Test func `submit says why what was not accepted, and how often`() async throws {
        try await Modern { $0.unregistered = [bytes(of: 2): 1, bytes(of: 3): 1] }.serving { bench, _ in
            let tokens = (1...3).map { #""\#(token($0))""# }.joined(separator: ",")
            try bench.write("staged/some.json", #"{"tokens":[\#(tokens),"x!"],"alert":"Hi"}"#)
            let arguments = ["--app", "modern", "--wait", bench.path + "/staged/some.json"]
            let end = try await bench.run(["submit", "--config", bench.path + "/etc/pushspool.yaml"] + arguments)
            #expect(end.code == 65 && end.text.contains("\n  rejected: 2 Unregistered, 1 BadDeviceToken\n"), "\(end)")
        }
    }

    @Test func `submit and stop tell programs how jobs and the daemon end`() async throws {
        try await Modern { $0.unregistered = [bytes(of: 2): 1] }.serving { bench, _ in
            let tokens = (1...2).map { #""\#(token($0))""# }.joined(separator: ",")
            try bench.write("staged/some.json", #"{"tokens":[\#(tokens)],"alert":"Hi"}"#)
            let place = ["--config", bench.path + "/etc/pushspool.yaml", "--json"]
            let sent = try await bench.run(
                ["submit", "--app", "modern", "--wait", bench.path + "/staged/some.json"] + place)
            let lines = try objects(sent.text)
            #expect(sent.code == 65 && lines.map { $0["state"] as? String } == ["waiting", "done"], "\(sent)")
            #expect(lines.last?["text"] as? String == "done, but 2 notifications, 1 accepted, 1 rejected", "\(sent)")
            let reasons = lines.last?["reasons"] as? [String: [String: Int]]
            #expect(reasons == ["rejected": ["Unregistered": 1]], "\(sent)")

            let journal = "\(bench.path)/spool/.pushspool/node-a/journal"
            let records = try objects(try await bench.run(["journal", "--json", journal]).text)
            #expect(records.first?["region"] as? Int == 0 && records.contains { $0["record"] as? String == "FINAL" })

            let ended = try await bench.run(["stop"] + place)
            let answers = try objects(ended.text)
            #expect(ended.code == 0 && answers.last?["result"] as? String == "begun", "\(ended)")

            let report = try objects(try await bench.run(["report", "--since", "1h"] + place).text)
            #expect(report.map { $0["kind"] as? String } == ["total", "app", "reason"], "\(report)")
            #expect(report.first?["rejected"] as? Int == 1 && report.last?["reason"] as? String == "Unregistered")
        }
    }

    /// What a command printed, a JSON object a line.
    private func objects(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
    }

    @Test func `what operators' commands answer is there for programs, too`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("later.json", job(1, #","not_before":"+1h""#))
            try await eventually("the job") { bench.names(in: "weather/new") == ["later.json"] }
            let held = try await bench.operate("hold", "--json", "weather/later.json", "weather/none.json")
            let lines = held.text.split(separator: "\n")
            #expect(held.code == 1 && lines.count == 2 && held.log.isEmpty, "\(held)")
            #expect(lines[0].hasPrefix(#"{"v":1,"app":"weather","job":"later.json","result":"done","text":"held as "#))
            #expect(lines[1].hasPrefix(#"{"v":1,"app":"weather","job":"none.json","result":"not_found","text":"#))
            let paused = try await bench.operate("pause", "--json", "weather")
            #expect(paused.text.hasPrefix(#"{"v":1,"app":"weather","result":"done","text":"paused"#), "\(paused)")
        }
    }

    @Test func `a fault elsewhere in the configuration is in nobody's way while the daemon runs`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let file = "etc/pushspool.yaml"
            let good = try String(contentsOfFile: "\(bench.path)/\(file)", encoding: .utf8)
            try bench.write(file, good + "jurnal: {}\n")
            try bench.drop("later.json", job(1, #","not_before":"+1h""#))
            for command in [["status"], ["list"], ["hold", "weather/later.json"], ["show", "later.json"]] {
                let end = try await bench.run([command[0], "--config", "\(bench.path)/\(file)"] + command.dropFirst())
                #expect(end.code == 0 && end.log.contains("/\(file):"), "\(command): \(end)")
                let warning = "warning: the key `jurnal` is unknown\nhint: did you mean `journal`?"
                #expect(end.log.contains(warning), "\(end)")
            }
            let check = try await bench.run(["check", "--config", "\(bench.path)/\(file)"])
            #expect(check.code == 78 && check.log.contains("error: the key `jurnal`"), "\(check)")
            // It may be meant to say where the spool is.
            try bench.write(file, good.replacingOccurrences(of: "spool: ../spool", with: "spol: ../spool"))
            let lost = try await bench.run(["list", "--config", "\(bench.path)/\(file)"])
            #expect(lost.code == 78 && lost.log.contains("error: the key `spol`"), "\(lost)")
            try bench.write(file, good)
        }
    }

    @Test func `without a daemon a faulty configuration changes nothing`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            try bench.drop("a.json", job(1))
            let good = try String(contentsOfFile: "\(bench.path)/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", good + "jurnal: {}\n")
            let end = try await bench.operate("hold", "weather/a.json")
            #expect(end.code == 78 && end.log.contains("no daemon is listening"), "\(end)")
            #expect(bench.names(in: "weather/new").count == 1)
        }
    }

    @Test func `the environment names the configuration`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            let words = ["PUSHSPOOL_CONFIG=\(bench.path)/etc/pushspool.yaml", try BuiltProgram.path, "check"]
            let program = try Program("/usr/bin/env", words, logs: bench.path + "/logs")
            let code = try await program.end()
            #expect(code == 0 && program.text.hasPrefix("weather: "), "\(code) \(program.log)")
        }
    }

    @Test func `submit exits with 65 when not everything was accepted, and says why`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.write("staged/bad.json", #"{"token":"\#(token(1))","alrt":1}"#)
            let end = try await submit(bench, ["--wait", bench.path + "/staged/bad.json"])
            #expect(end.code == 65 && end.text.contains("invalid") && end.text.contains("alrt"), "\(end)")
        }
    }

    @Test func `a fault without a place is told with its field`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.write("staged/short.json", job(1, #","count":2"#))
            let end = try await submit(bench, ["--wait", bench.path + "/staged/short.json"])
            #expect(end.code == 65 && end.text.contains("failed: incomplete, 1 notification\n"), "\(end)")
            #expect(end.text.contains("\n  count: is 2, but the job has") && end.log.contains("pushspool show"))
        }
    }

    @Test(arguments: [
        (["--app", "weather", "/dev/null"], 65, "is not a valid job name"), (["--app", "../x", "-"], 64, "../x"),
        (["--app", "weather", "--timeout=-1", "-"], 64, "--timeout"),
    ])
    func `what no other try would mend is told at once`(arguments: [String], code: Int, words: String) async throws {
        try await Bench.running(try .init()) { bench in
            try FileManager.default.createDirectory(
                atPath: bench.path + "/spool/weather/new", withIntermediateDirectories: true)
            let end = try await bench.run(["submit", "--spool", bench.path + "/spool"] + arguments, input: job(1))
            #expect(Int(end.code) == code && end.log.contains(words), "\(end)")
            #expect(bench.names(in: "weather/new").isEmpty)
        }
    }

    @Test func `submit exits with 69 when the job is not over in time, and leaves it to be sent`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            try bench.write("staged/a.json", job(1))
            let end = try await submit(bench, ["--wait", "--timeout", "1", bench.path + "/staged/a.json"])
            #expect(end.code == 69 && end.log.contains("is the daemon running?"), "\(end)")
            #expect(end.log.contains("has not finished after 1 s: still waiting in new/"), "\(end)")
            let option = "--config \(bench.path)/etc/pushspool.yaml"
            #expect(end.log.contains("pushspool status \(option); pushspool show \(option) --app weather"), "\(end)")
            #expect(bench.names(in: "weather/new").count == 1)
        }
    }

    @Test func `a command that is proposed takes a job's name for nothing else`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            try bench.write("staged/a';id;'.json", job(1))
            let end = try await submit(bench, ["--wait", "--timeout", "0", bench.path + "/staged/a';id;'.json"])
            #expect(end.code == 69 && end.log.contains(#" --app weather 'a'\'';id;'\''"#), "\(end)")
        }
    }

    @Test func `submit to an app that is not there says so`() async throws {
        try await Bench.running(try .init()) { bench in
            let end = try await bench.run(
                ["submit", "--spool", bench.path + "/spool", "--app", "nobody", "-"], input: job(1))
            #expect(end.code == 75 && end.log.contains("nobody") && end.log.contains("hint: "), "\(end)")
        }
    }

    @Test func `check tells of every fault of every job, with its place`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.write("staged/good.json", job(1))
            try bench.write("staged/bad.yaml", "token: \(token(1))\nalrt: Hi\nbagde: 1\n")
            try bench.write("staged/later.json", job(1, #","not_before":"+1h""#))
            try bench.write("staged/cut.yaml", "token: \(token(1))\nalert: x")
            let cut = try await bench.run(["check", "--jobs-only", bench.path + "/staged/cut.yaml"])
            #expect(cut.code == 0 && cut.log.contains("cut.yaml: warning: the last line has no line feed"), "\(cut)")
            let later = try await bench.run(["check", "--jobs-only", bench.path + "/staged/later.json"])
            #expect(later.code == 0 && later.text.contains("later.json: 1 notification, not before 2"), "\(later)")
            let (good, bad) = (bench.path + "/staged/good.json", bench.path + "/staged/bad.yaml")
            let config = ["check", "--config", "\(bench.path)/etc/pushspool.yaml"]
            let well = try await bench.run(config + [good])
            #expect(well.code == 0 && well.text.contains("good.json: 1 notification\n"), "\(well)")
            let ill = try await bench.run(config + ["--app", "weather", good, bad])
            #expect(ill.code == 65, "\(ill)")
            for words in ["bad.yaml:2:1: error", "bad.yaml:3:1: error", "hint: "] {
                #expect(ill.log.contains(words), "\(ill)")
            }
            #expect(bench.names(in: "").allSatisfy { $0 != "weather" })
            let none = try await bench.run(config + ["--app", "wether", good])
            #expect(none.code == 65 && none.log.contains("no app is named wether"), "\(none)")
            #expect(none.log.contains("hint: configured app: weather\n"), "\(none)")
        }
    }

    @Test func `check takes a job from standard input, and tells programs what it finds`() async throws {
        try await Bench.running(try .init()) { bench in
            let check = ["check", "--config", "\(bench.path)/etc/pushspool.yaml", "-a", "weather"]
            let yaml = try await bench.run(
                check + ["--format", "yaml", "-"], input: "token: \(token(1))\nalert: Hi\nbagde: 1\n")
            #expect(yaml.code == 65 && yaml.log.contains("-:3:1: error: "), "\(yaml)")
            let json = try await bench.run(check + ["--json", "-"], input: job(1))
            let last = json.text.split(separator: "\n").last
            let whole =
                #"{"file":"-","ok":true,"notifications":1,"rejected":0,"text":"1 notification","#
                + #""diagnostics":[]}"#
            #expect(json.code == 0 && last == whole[...], "\(json)")
            #expect(json.text.contains(#""app":"weather","ok":true,"text":"sandbox at localhost"#), "\(json)")
            try bench.configureApp("bad", "bogus: 1")
            let bad = try await bench.run(check + ["--json", "-"], input: #"{"alert":"x","tokens":["x!"]}"#)
            #expect(bad.code == 78 && bad.text.contains(#"bad.yaml","ok":false,"diagnostics":[{"#), "\(bad)")
            let found = #""rejected":1,"text":"1 notification, 1 rejected: nothing would be sent","diagnostics":[{"#
            #expect(bad.text.contains(#"{"file":"-","ok":false,"notifications":1,"# + found), "\(bad)")
        }
    }

    @Test(arguments: [
        ("run", ["new/", "work/", "done/", "failed/", "feedback/"]), ("submit", ["tmp/", "new/"]),
        ("check", ["send nothing"]), ("doctor", [".doctor-<process>"]),
        ("simulate", ["ca.pem", "client.pem", "service-account.json"]),
    ])
    func `help says what moves on the disk`(command: String, words: [String]) async throws {
        try await Bench.running(try .init()) { bench in
            let help = try await bench.run([command, "--help"])
            #expect(help.code == 0)
            for word in words { #expect(help.text.contains(word), "\(word)") }
            #expect(help.text.contains("Example: "))
        }
    }

    @Test(arguments: [["bogus"], ["submit"], ["run", "--drain", "x"], ["check", "--bogus"]])
    func `a mistake on the command line exits with 64`(arguments: [String]) async throws {
        try await Bench.running(try .init()) { bench in
            let end = try await bench.run(arguments)
            #expect(end.code == 64, "\(end)")
        }
    }

    @Test(arguments: ["http2", "binary"])
    func `what simulate prints is a usable app's file, and another behind comment signs`(wire: String) async throws {
        try await Bench.running(try .init()) { bench in
            // Its paths hold from elsewhere, too.
            let script = "cd \"$0\" && exec \"$1\" simulate --certificates gateway"
            let arguments = ["-c", script, bench.path, try BuiltProgram.path]
            let gateway = try Program("/bin/sh", arguments, logs: bench.path + "/logs")
            try await eventually("its words") { gateway.text.contains("feedback_service:") }
            let parts = gateway.text.components(separatedBy: "# Over the binary protocol")
            let other = (parts.last ?? "").split(separator: "\n").dropFirst().map { $0.dropFirst(2) }
            try bench.write("etc/apps/weather.yaml", wire == "http2" ? gateway.text : other.joined(separator: "\n"))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let end = try await submit(bench, ["--wait", "-"], input: job(1))
                #expect(end.code == 0, "\(end)")
            }
            #expect(try await gateway.stop() == 0)
            #expect(
                gateway.log.contains("accepted 1, refused 0") && gateway.log.contains("violations 0"), "\(gateway.log)")
        }
    }

    @Test func `what simulate prints for FCM is an app's file, too`() async throws {
        try await Bench.running(try .init()) { bench in
            let gateway = try bench.start(["simulate", "--certificates", bench.path + "/gateway"])
            try await eventually("its words") { gateway.text.contains("feedback_service:") }
            let rest = gateway.text.components(separatedBy: "# For FCM, in a file of its own:\n").last ?? ""
            let lines = rest.components(separatedBy: "\n\n")[0].split(separator: "\n").map { $0.dropFirst(2) }
            try bench.write("etc/apps/weather.yaml", lines.joined(separator: "\n") + "\n")
            let end = try await bench.run(["check", "--config", bench.path + "/etc/pushspool.yaml"])
            #expect(end.code == 0 && end.text.contains("weather"), "\(end)")
            #expect(try await gateway.stop() == 0)
        }
    }

    @Test func `simulate tells gone tokens, and makes keys that old clients read`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.write("gone", "\(token(7))\n\n")
            let files = ["--certificates", bench.path + "/gateway", "--gone", bench.path + "/gone"]
            let simulate = ["simulate", "--rsa"] + files
            let gateway = try bench.start(simulate)
            try await eventually("its words") { gateway.text.contains("feedback_service:") }
            try await bench.tool("openssl", "rsa", "-noout", "-check", "-in", bench.path + "/gateway/client.pem")
            let binary = (gateway.text.components(separatedBy: "# Over the binary protocol").last ?? "")
                .replacing("every: 1h", with: "every: 1s").split(separator: "\n").dropFirst().map { $0.dropFirst(2) }
            try bench.write("etc/apps/weather.yaml", binary.joined(separator: "\n"))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await eventually("the gone token") { try bench.lines("token").map(\.token) == [token(7)] }
                try bench.drop("a.json", #"{"tokens":["\#(token(7))","\#(token(8))","DEADBEAF"],"alert":"Hi"}"#)
                let line = try await bench.end(of: "a.json")
                #expect(line.accepted == 1 && line.rejected == 2, "\(line)")
                // Status 8 is told there as well.
                try await eventually("the refused token") {
                    try bench.lines("token").map(\.token) == [token(7), token(7)]
                }
            }
            #expect(try await gateway.stop() == 0)
            try bench.write("gone", "no token!\n")
            let end = try await bench.run(simulate)
            #expect(end.code == 65 && end.log.contains("gone:1: not a token"), "\(end)")
        }
    }

    @Test func `simulate tells which file or rule cannot be read, and makes nothing then`() async throws {
        try await Bench.running(try .init()) { bench in
            let (rules, certificates) = (bench.path + "/rules", bench.path + "/gateway")
            try bench.write("rules", "nth=3 close\nnth=3 close bogus\n")
            let faults = [
                (["--script", bench.path + "/nowhere"], "hint: check the path"),
                (["--script", rules], "pushspool: \(rules):2:13: "),
                (["--fault", "nth=1 close", "--fault", "nth=3 close bogus"], "pushspool: --fault:2:13: "),
            ]
            for (arguments, words) in faults {
                let end = try await bench.run(["simulate", "--certificates", certificates] + arguments)
                #expect(end.code == 65 && end.log.contains(words), "\(end)")
                #expect(!FileManager.default.fileExists(atPath: certificates))
            }
        }
    }

    @Test(arguments: ["--port", "--feedback-port", "--http2-port", "--fcm-port", "--oauth-port"])
    func `simulate tells which port is in use`(option: String) async throws {
        try await Bench.running(try .init()) { bench in
            let port = "\(bench.simulator.ports.gateway)"
            let end = try await bench.run(["simulate", "--certificates", bench.path + "/gateway", option, port])
            #expect(end.code == 78 && end.log.contains("pushspool: \(option): bind "), "\(end)")
            #expect(end.log.contains("hint: choose another port"), "\(end)")
        }
    }

    @Test(arguments: [("live-activity", 8), ("android", 161)])
    func `demo shows another scenario than the samples`(scenario: String, goodCount: Int) async throws {
        try await Bench.running(try .init()) { bench in
            let folder = bench.path + "/tour"
            let end = try await bench.run(["demo", "--scenario", scenario, "--folder", folder])
            #expect(end.code == 0, "\(end)")
            let verdict = "each of \(goodCount) good notifications was accepted exactly once."
            #expect((end.text + end.log).contains(verdict), "\(end)")
        }
    }

    @Test func `demo does not ask for the removal of a folder that is not its own`() async throws {
        try await Bench.running(try .init()) { bench in
            let end = try await bench.run(["demo", "--folder", bench.path])
            #expect(end.code == 1 && end.log.contains("hint: choose another place with --folder\n"), "\(end)")
        }
    }

    @Test func `submit needs none of the apps' files, which its user may not read`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            try FileManager.default.removeItem(atPath: bench.path + "/etc/apps")
            try bench.write("staged/a.json", job(1))
            let end = try await submit(bench, [bench.path + "/staged/a.json"])
            #expect(end.code == 0, "\(end)")
            #expect(bench.names(in: "weather/new").count == 1)
        }
    }

    @Test func `the program tells its version`() async throws {
        try await Bench.running(try .init()) { bench in
            let end = try await bench.run(["--version"])
            #expect(end.code == 0 && end.text.contains(#/^\d+\.\d+\.\d+\n$/#), "\(end)")
        }
    }

    @Test(arguments: [
        ("[/nowhere/forget, weather]", "`/nowhere/forget` is not a program"),
        ("[forget-nobody]", "`forget-nobody` is not a program"),
        ("/nowhere/forget --all >/dev/null", "`/nowhere/forget` is not a program"),
        ("[/etc/passwd]", "`/etc/passwd` is not a program"),
        ("/bin/cat >/dev/null", nil), ("[cat]", nil), ("forget-nobody | cat", nil), ("$HOME/bin/forget", nil),
    ])
    func `check warns of a hook that cannot be started`(hook: String, words: String?) async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("weather", "hook: \(hook)")
            let end = try await bench.run(["check", "--config", bench.path + "/etc/pushspool.yaml"])
            #expect(end.code == 0, "\(end)")
            #expect(end.log.contains("warning: hook: ") == (words != nil), "\(end)")
            if let words { #expect(end.log.contains(words), "\(end)") }
        }
    }

    @Test func `a configuration that is not there exits with 78`() async throws {
        try await Bench.running(try .init()) { bench in
            for command in ["run", "check"] {
                let end = try await bench.run([command, "--config", bench.path + "/nowhere.yaml"])
                #expect(end.code == 78 && end.log.contains("nowhere.yaml"), "\(end)")
                #expect(end.log.contains("give the daemon's file with --config"), "\(end)")
            }
        }
    }
}
