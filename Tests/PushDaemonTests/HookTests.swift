import Foundation
import GatewaySimulator
import Glibc
import PushModel
import TestSupport
import Testing

@testable import AppEngine
@testable import Configuration
@testable import PushDaemon
@testable import SharedResources

/// The command that gets an app's feedback.
@Suite struct HookTests {
    /// What a hook has written to a file of the bench.
    private func written(_ name: String, _ bench: Bench) -> String {
        (try? String(contentsOfFile: "\(bench.path)/\(name)", encoding: .utf8)) ?? ""
    }

    /// Waits until a hook has written all feedback there is, once.
    private func hasAll(_ name: String, _ bench: Bench, from first: Int = 0) async throws {
        try await eventually("\(name): \(written(name, bench))") {
            let texts = try bench.texts().dropFirst(first)
            return written(name, bench) == texts.map { $0 + "\n" }.joined()
        }
    }

    /// Waits until the hook of an app has its place: it gets what is published from then on.
    private func hasBegun(_ app: String, _ bench: Bench) async throws {
        try await eventually("a mark") { FileManager.default.fileExists(atPath: "\(bench.path)/state/hook-\(app)") }
    }

    @Test func `a hook gets every line once and in order, over a restart`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("weather", "hook: cat >> \(bench.path)/out")
            for round in 0..<2 {
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started")
                    for number in 0..<5 {
                        let name = "n\(round)\(number).json"
                        try bench.drop(name, job(number))
                        _ = try await bench.end(of: name)
                    }
                    try await hasAll("out", bench)
                    // What a hook has not ended with before the stop, the next start gives it again.
                    let last = try #require(bench.names(in: "weather/feedback").last)
                    try await eventually("a mark") { written("state/hook-weather", bench).contains(last) }
                    #expect(try await daemon.stop() == 0)
                }
            }
        }
    }

    @Test func `what a hook prints is in the log, as objects where that has them, and a flood is cut`() async throws {
        var setup = try Bench.Setup(app: "hook: echo \"said $PUSHSPOOL_APP\" >&2; seq 200")
        setup.intake = "}\nlog: {format: json, level: debug"
        try await Bench.running(setup) { bench in
            let file = "\(bench.path)/etc/pushspool.yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try bench.write("etc/pushspool.yaml", text.replacing("\nlog: {level: debug}\n", with: "\n"))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("a.json", job(1))
                try await daemon.says(#""message":"hook output","app":"weather","path":"#)
                try await daemon.says(#""text":"said weather"}"#)
                try await daemon.says(#""message":"hook output truncated","app":"weather","lines":101,"#)
                #expect(try await daemon.stop() == 0)
                let strangers = daemon.log.split(separator: "\n").filter { !$0.hasPrefix("{") || !$0.hasSuffix("}") }
                #expect(strangers == [])
            }
        }
    }

    @Test func `a hook that is configured later gets what is published from then on, and one that is gone nothing`()
        async throws
    {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.drop("before.json", job(1))
            _ = try await bench.end(of: "before.json")
            let before = try bench.texts().count
            try bench.configureApp("weather", "hook: [sh, -c, 'cat >> \"$0\"', \(bench.path)/out]")
            try await daemon.says("app reconfigured")
            try await hasBegun("weather", bench)
            try bench.drop("with.json", job(2))
            _ = try await bench.end(of: "with.json")
            try await hasAll("out", bench, from: before)
            let with = written("out", bench)
            try bench.configureApp("weather")
            try await daemon.says("app reconfigured", times: 2)
            try bench.drop("after.json", job(3))
            _ = try await bench.end(of: "after.json")
            #expect(written("out", bench) == with)
        }
    }

    @Test func `a hook that fails gets its file again, and one that refuses it does not`() async throws {
        try await Bench.running(try .init()) { bench in
            let script = """
                cat > input
                grep -q refuse input && exit 65
                echo >> tries
                test $(wc -l < tries) -ge 3 || exit 1
                cat input >> out
                """
            try bench.write("hook.sh", "cd \(bench.path)\n" + script)
            try bench.configureApp("weather", "hook: [sh, \(bench.path)/hook.sh]")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("refuse.json", job(1))
                _ = try await bench.end(of: "refuse.json")
                try bench.drop("good.json", job(2))
                _ = try await bench.end(of: "good.json")
                try await hasAll("out", bench, from: 1)
                #expect(written("tries", bench) == "\n\n\n")
                #expect(daemon.log.contains("hook refused a file") && daemon.log.contains("exited with status 1"))
            }
        }
    }

    @Test func `a hook that takes too long is ended, and a stop waits for none`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("weather", "hook: echo >> \(bench.path)/tries; sleep 1000\ntimeouts: {hook: 1s}")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("a.json", job(1))
                _ = try await bench.end(of: "a.json")
                try await daemon.says("timed out and was terminated")
                try await eventually("another try") { written("tries", bench).count >= 2 }
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test(.catalogue("J78 hook-leftovers, the daemon", checks: []))
    func `what a hook leaves behind ends with it`() async throws {
        try await Bench.running(try .init()) { bench in
            let line = "sleep 1000 <&- >&- 2>&- & echo $! > \(bench.path)/left; cat >> \(bench.path)/out"
            try bench.configureApp("weather", "hook: '\(line)'")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("a.json", job(1))
                _ = try await bench.end(of: "a.json")
                try await hasAll("out", bench)
                let number = written("left", bench).dropLast()
                try #require(Int(number) != nil)
                try await eventually("the end of \(number)") {
                    let status = (try? String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)) ?? ""
                    return status.isEmpty || status.contains(") Z ")
                }
            }
        }
    }

    @Test(.catalogue("J78 hook-leftovers, environment", checks: []))
    func `a hook gets a small environment, and nothing that is the service's`() {
        let own = ["PATH=/bin", "HOME=/", "LANG=C", "LC_ALL=C", "TZ=UTC", "TMPDIR=/t", "USER=a", "LOGNAME=a"]
        let others = [
            "NOTIFY_SOCKET=/n", "CREDENTIALS_DIRECTORY=/c", "LISTEN_FDS=1", "PUSHSPOOL_FULL=1", "AWS_SECRET=x",
            "INVOCATION_ID=1", "LC", "LCX=1", "HOMEX=1", "=x", "", "LD_PRELOAD=/x",
        ]
        #expect(Hook.inherited(of: others + own + others) == own)
    }

    private func setMark(_ name: String, _ bench: Bench) throws {
        try FileManager.default.createDirectory(
            atPath: bench.path + "/state", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try bench.write("state/hook-weather", name + "\n")
    }

    /// A name of feedback of that many seconds from now.
    private func feedbackName(_ seconds: Int64) -> String {
        WallTime(epochSeconds: Int64(Date.now.timeIntervalSince1970) + seconds).compact + "-node-a.jsonl"
    }

    @Test func `a hook that fails is in the status and the metrics until it works`() async throws {
        try await Bench.running(try .init()) { bench in
            let status = bench.path + "/spool/.pushspool/public/node-a/status.json"
            let metrics = bench.path + "/spool/.pushspool/public/node-a/metrics.prom"
            try bench.configureApp("weather", "hook: test -e \(bench.path)/repaired")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await hasBegun("weather", bench)
                try bench.drop("a.json", job(1))
                _ = try await bench.end(of: "a.json")
                try await eventually("the failure") {
                    let text = try String(contentsOfFile: status, encoding: .utf8)
                    return text.contains(#""hook":{"since":"#) && text.contains(#""error":"exited with status 1""#)
                }
                let shown = try await bench.run(["status", "--config", "\(bench.path)/etc/pushspool.yaml"])
                #expect(shown.text.contains("weather: its hook has taken no feedback for "), "\(shown)")
                try await eventually("the metrics") {
                    let text = try String(contentsOfFile: metrics, encoding: .utf8)
                    return text.contains(#/pushspool_hook_runs_total\{.*result="failed"\} [1-9]/#)
                        && text.contains("pushspool_hook_failing_timestamp_seconds{")
                        && text.contains(#"pushspool_feedback_files{node="node-a",app="weather"} 1"#)
                }
                let doctor = try await bench.run(["doctor", "--config", "\(bench.path)/etc/pushspool.yaml"])
                #expect(doctor.text.contains("its hook has taken no feedback since "), "\(doctor.text)")
                try bench.write("repaired", "")
                try await eventually("no failure") {
                    try !String(contentsOfFile: status, encoding: .utf8).contains(#""hook":"#)
                }
                try await eventually("a run") {
                    try String(contentsOfFile: metrics, encoding: .utf8)
                        .contains(#/pushspool_hook_runs_total\{.*result="taken"\} 1/#)
                }
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `a mark of a time that no clock tells costs a hook nothing`() async throws {
        try await Bench.running(try .init()) { bench in
            try setMark("99991231T235959.999999Z-node-a.jsonl", bench)
            try bench.configureApp("weather", "hook: cat >> \(bench.path)/out")
            try await bench.withDaemon { daemon in
                try await daemon.says("hook position is in the future")
                try bench.drop("a.json", job(1))
                _ = try await bench.end(of: "a.json")
                try await hasAll("out", bench)
            }
        }
    }

    @Test func `what others put into feedback does not get to a hook, and holds nothing up`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("weather", "hook: cat >> \(bench.path)/out")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await hasBegun("weather", bench)
                #expect(try await daemon.stop() == 0)
            }
            let folder = bench.path + "/spool/weather/feedback/"
            let future = "99991231T235959.999999Z-node-a.jsonl"
            try bench.write("stolen", "stolen\n")
            try bench.write("spool/weather/feedback/" + future, "stolen\n")
            try #require(unsafe mkfifo(folder + feedbackName(1), 0o600) == 0)
            try FileManager.default.createSymbolicLink(
                atPath: folder + feedbackName(2), withDestinationPath: bench.path + "/stolen")
            let given = feedbackName(3)
            if geteuid() == 0 {
                try bench.write("spool/weather/feedback/" + given, "stolen\n")
                try #require(unsafe chown(folder + given, 65534, 65534) == 0)
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("file is not passed to the hook", times: geteuid() == 0 ? 4 : 3)
                #expect(daemon.log.contains("ignored a feedback file with a time in the future"))
                for number in 1...3 {
                    let name = "n\(number).json"
                    try bench.drop(name, job(number))
                    try await eventually("\(name): \(written("out", bench))") { written("out", bench).contains(name) }
                }
                #expect(!written("out", bench).contains("stolen"))
                let mark = written("state/hook-weather", bench)
                #expect(mark < "2200" && !mark.isEmpty)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `a clock that was set back costs a hook nothing`() async throws {
        try await Bench.running(try .init()) { bench in
            let last = "22000101T000000.000000Z-node-a.jsonl"
            try setMark(last, bench)
            try bench.configureApp("weather", "hook: cat >> \(bench.path)/out")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("a.json", job(1))
                _ = try await bench.end(of: "a.json")
                try await hasAll("out", bench)
                let names = bench.names(in: "weather/feedback").filter { $0.hasSuffix(".jsonl") }
                #expect(!names.isEmpty && names.allSatisfy { $0 > last })
            }
        }
    }

    @Test func `hooks that hang keep the hook of no other app from running`() async throws {
        try await Bench.withHangingHooks(of: HookGate.limit + 1) { bench, daemon in
            try bench.configureApp("last", "hook: cat >> \(bench.path)/out")
            try await daemon.says("app started app=last")
            try await hasBegun("last", bench)
            try bench.drop("a.json", job(1), app: "last")
            try await eventually("the hook of the last app") { written("out", bench).contains("a.json") }
            #expect(try await daemon.stop() == 0)
        }
    }

    @Test func `an app whose hook waits for those of others says so until it runs`() async throws {
        // The last of them waits for five times as long as a hook keeps its place.
        try await Bench.withHangingHooks(of: 5 * HookGate.limit + 1) { bench, daemon in
            try await daemon.says("waits for the hooks of other apps")
            try await eventually("all hooks run") { bench.hangingCount == 5 * HookGate.limit + 1 }
            try await daemon.says("app no longer waits for room")
            let status = bench.path + "/spool/.pushspool/public/node-a/status.json"
            try await eventually("no reason") {
                try !String(contentsOfFile: status, encoding: .utf8).contains("waits for the hooks")
            }
            #expect(try await daemon.stop() == 0)
        }
    }

    @Test func `a hook that is no program is told by check`() async throws {
        try await Bench.running(try .init()) { bench in
            for (hook, words) in [("[]", "names no program"), ("{a: b}", "expected a string")] {
                try bench.configureApp("weather", "hook: \(hook)")
                let (code, text, log) = try await bench.run(["check", "--config", "\(bench.path)/etc/pushspool.yaml"])
                #expect(code == 78 && (text + log).contains(words), "\(text)\(log)")
            }
        }
    }
}

extension Bench {
    /// Runs a daemon with so many apps whose hooks never end by themselves, each with a file for its hook.
    fileprivate static func withHangingHooks(
        of count: Int, _ body: @Sendable (Bench, Program) async throws -> Void
    ) async throws {
        var setup = try Setup()
        setup.hasApp = false
        try await running(setup) { bench in
            let apps = (0..<count).map { "app\($0)" }
            for app in apps {
                let hook = "hook: echo >> \(bench.path)/hanging-\(app); exec sleep 1000\ntimeouts: {hook: 1h}"
                try bench.configureApp(app, hook)
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("app started", times: count)
                for app in apps { try bench.drop("a.json", job(1), app: app) }
                for app in apps { _ = try await bench.end(of: "a.json", app: app) }
                try await body(bench, daemon)
            }
        }
    }

    /// How many of these hooks have begun.
    fileprivate var hangingCount: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.count { $0.hasPrefix("hanging-") }
    }
}
