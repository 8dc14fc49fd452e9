import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// What a producer learns of its jobs: a user of the group that may drop jobs, and nothing more.
@Suite(.enabled(if: geteuid() == 0, "needs root, to become another user"))
struct ProducerTests {
    private static let weather = "weather"

    @Test func `a producer is told that everything was accepted, and reads nothing else`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.admitProducer()
            let end = try await bench.submit(job(1))
            #expect(end.code == 0 && end.text.contains(": done, all accepted\n"), "\(end)")
            let done = try await bench.asProducer(["ls", bench.path + "/spool/weather/done"])
            #expect(done.code != 0, "\(done)")
        }
    }

    @Test func `a producer is told why a job failed, and why notifications were refused`() async throws {
        try await Modern { $0.unregistered = [bytes(of: 2): 1] }.serving { bench, _ in
            try bench.admitProducer(to: "modern")
            let refused = try await bench.submit(job(tokens: 1..<3), to: "modern")
            #expect(refused.code == 65 && refused.text.contains("done, but 2 notifications, 1 accepted"), "\(refused)")
            #expect(refused.text.contains("\n  rejected: 1 Unregistered\n"), "\(refused)")
            let invalid = try await bench.submit(#"{"token":"\#(token(1))","priorty":5}"#, to: "modern")
            #expect(invalid.code == 65 && invalid.text.contains("hint: did you mean `priority`?"), "\(invalid)")
        }
    }

    @Test func `a producer is told that a job is held, and of its end once it is released`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.admitProducer()
            let producer = try bench.waiting(for: job(1, #","not_before":"+1h""#))
            let name = try await bench.name(producer)
            #expect(try await bench.operate("hold", "weather/\(name)").code == 0)
            #expect(try await producer.end() == 65, "\(producer.log)")
            #expect(producer.text.contains("\(name): held in hold/"), "\(producer.text)")
            // Released, it is what waits in new/, and no longer what is held.
            #expect(try await bench.operate("release", "weather/\(name)").code == 0)
            let shell = try await bench.wait(for: name, seconds: 0)
            #expect(shell.code == 69, "\(shell)")
            #expect(try await bench.operate("cancel", "weather/\(name)").code == 0)
            let end = try await bench.wait(for: name)
            #expect(end.code == 65 && end.text.contains("failed weather/failed/"), "\(end)")
        }
    }

    @Test func `a file that is moved to hold and back by hand is told as what it is`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.admitProducer()
            let name = try await bench.name(try bench.waiting(for: job(1, #","not_before":"+1h""#)))
            let folder = "\(bench.path)/spool/weather"
            try await bench.tool("mv", "\(folder)/new/\(name)", "\(folder)/hold/\(name)")
            let held = try await bench.wait(for: name)
            #expect(held.code == 65 && held.text == "held weather/hold/\(name)\n", "\(held)")
            try bench.write("staged/sent", job(1))
            try await bench.tool("cp", "\(bench.path)/staged/sent", "\(folder)/hold/\(name)")
            try await bench.tool("mv", "\(folder)/hold/\(name)", "\(folder)/new/\(name)")
            let done = try await bench.wait(for: name)
            #expect(done.code == 0 && done.text.hasPrefix("done weather/done/"), "\(done)")
        }
    }

    @Test func `a wait ends when the gateway refuses the app`() async throws {
        try await Modern("answer reason=InvalidProviderToken").serving { bench, _ in
            try bench.admitProducer(to: "modern")
            let end = try await bench.submit(job(1), to: "modern", timeout: 600)
            #expect(end.code == 69 && end.log.contains(" modern is stopped: "), "\(end)")
            #expect(end.log.contains("InvalidProviderToken") && end.log.contains("do not submit it again"), "\(end)")
            #expect(try await bench.operate("cancel", "--all", "--app", "modern").code == 0)
        }
    }

    @Test func `a producer that nobody answers in time knows that the job is dropped`() async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            try bench.admitProducer()
            let end = try await bench.submit(job(1), timeout: 0)
            #expect(end.code == 69 && end.log.contains("still waiting in new/"), "\(end)")
            try await bench.tool("chmod", "0700", bench.path + "/spool/weather/new")
            #expect(try await bench.submit(job(1)).code == 75)
        }
    }

    @Test func `a producer that waits is told the end of its job, wherever the daemon dies`() async throws {
        for place in ["before", "after"] {
            try await Bench.running(try .init()) { bench in
                try await bench.withDaemon { try await $0.says("app started") }
                try bench.admitProducer()
                let producer = try bench.waiting(for: job(1))
                let name = try await bench.name(producer)
                let sabotage = try await Sabotage(on: bench)
                // A job is told when its lines are published, before it gets its own name in the archive.
                try sabotage.begin(.rename, name)
                try await bench.withDaemon(sabotage) { _ = try await $0.end() }
                try sabotage.end(.rename)
                #expect(bench.jobs(in: "done").isEmpty)
                let folder = "\(bench.path)/spool/weather/tmp/.jobs"
                // A power loss takes what was not synced.
                if place == "before" { try await bench.tool("rm", "-r", folder) }
                try await bench.withDaemon { _ in
                    let code = try await producer.end()
                    #expect(code == 0, "\(place): \(producer.text)\(producer.log)")
                }
            }
        }
    }

    @Test func `a producer checks a job against what the daemon publishes`() async throws {
        try await Modern().serving { bench, _ in
            try bench.admitProducer(to: "modern")
            try await bench.tool("chmod", "0700", bench.path + "/etc/apps")
            try bench.write("staged/good.json", job(1))
            try bench.write("staged/bad.json", #"{"token":"\#(token(1))","alert":"Hi","topic":"not one"}"#)
            let place = ["--config", bench.path + "/etc/pushspool.yaml", bench.path + "/staged/"]
            for options in [place, ["--spool", bench.path + "/spool", place[2]]] {
                let head = ["check"] + options.dropLast()
                let good = try await bench.asProducer([try BuiltProgram.path] + head + [options.last! + "good.json"])
                #expect(good.code == 0, "\(good)")
                let bad = try await bench.asProducer([try BuiltProgram.path] + head + [options.last! + "bad.json"])
                #expect(bad.code == 65, "\(bad)")
                let other = try await bench.asProducer(
                    [try BuiltProgram.path] + head + ["--app", "other", options.last! + "good.json"])
                #expect(other.code == 78 && other.log.contains("--app: modern"), "\(other)")
            }
        }
    }
}

extension Bench {
    /// Lets the user 65534 drop jobs, and read nothing but what everybody may.
    fileprivate func admitProducer(to app: String = "weather") throws {
        #expect(unsafe chmod(path, 0o755) == 0)
        for folder in ["new", "tmp"] { #expect(unsafe chown("\(path)/spool/\(app)/\(folder)", 0, 65534) == 0) }
    }

    /// Starts a program as that user.
    fileprivate func startAsProducer(_ command: [String], input: String? = nil) throws -> Program {
        let become = ["--reuid", "65534", "--regid", "65534", "--clear-groups"]
        return try Program("/usr/bin/setpriv", become + command, input: input, logs: path + "/logs")
    }

    fileprivate func asProducer(
        _ command: [String], input: String? = nil
    ) async throws -> (code: Int32, text: String, log: String) {
        let program = try startAsProducer(command, input: input)
        let code = try await program.end()
        return (code, program.text, program.log)
    }

    /// Drops a job and waits for its end.
    fileprivate func submit(
        _ job: String, to app: String = "weather", timeout: Int = 60
    ) async throws -> (code: Int32, text: String, log: String) {
        let program = try waiting(for: job, of: app, timeout: timeout)
        let code = try await program.end()
        return (code, program.text, program.log)
    }

    /// Starts to drop a job and to wait for its end.
    fileprivate func waiting(for job: String, of app: String = "weather", timeout: Int = 60) throws -> Program {
        let options = ["--spool", path + "/spool", "--app", app, "--wait", "--timeout", "\(timeout)", "-"]
        return try startAsProducer([try BuiltProgram.path, "submit"] + options, input: job)
    }

    /// The name under which a producer has dropped its job.
    fileprivate func name(_ producer: Program) async throws -> String {
        try await awaited("a name, have \(producer.log)") {
            producer.text.contains("\n") ? producer.text.split(separator: "\n").first.map(String.init) : nil
        }
    }

    /// Waits for the end of a job with the shell's client.
    fileprivate func wait(
        for name: String, seconds: Int = 60
    ) async throws -> (code: Int32, text: String, log: String) {
        let client = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "etc/clients/pushspool.sh").path
        let script = #"file=$1; shift; . "$file"; pushspool_wait "$@""#
        return try await asProducer(["sh", "-c", script, "sh", client, path + "/spool", "weather", name, "\(seconds)"])
    }
}
