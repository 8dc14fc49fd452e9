import Foundation
import Glibc
import TestSupport
import Testing

/// What commands that read do when they cannot print, or may not read.
@Suite struct OutputTests {
    private func spool() throws -> StillSpool {
        let spool = try StillSpool()
        try spool.makeApp("weather")
        try spool.write("weather/new/a.json", "{}")
        try spool.publish([FeedbackText.notification(1)], second: 1)
        return spool
    }

    @Test(arguments: [
        "list", "list --json", "list --shape", "list --shape --json", "show a.json", "show --json a.json",
    ])
    func `what could not be printed does not end well`(command: String) async throws {
        try await Turnstile.daemons.passing {
            let end = try await spool().shell("\"$pushspool\" \(command) --spool \"$spool\" > /dev/full")
            #expect(end.code == 65 && end.log.contains("ENOSPC") && end.log.contains("hint: free some space"), "\(end)")
        }
    }

    @Test(arguments: ["check", "doctor", "doctor --json", "hold weather/a.json", "submit --app weather ../a.json"])
    func `nor does a command that prints a line at a time`(command: String) async throws {
        try await Bench.running(try .init()) { bench in
            try await bench.withDaemon { try await $0.says("app started") }
            try bench.write("spool/weather/new/a.json", job(1))
            try bench.write("a.json", job(1))
            let words = command.split(separator: " ").map { $0 == "../a.json" ? bench.path + "/a.json" : String($0) }
            let script = ["-c", "exec \"$@\" > /dev/full", "sh", try BuiltProgram.path]
            let option = ["--config", bench.path + "/etc/pushspool.yaml"]
            let program = try Program("/bin/sh", script + words + option, logs: bench.path + "/logs")
            let code = try await program.end()
            // What the doctor finds without a daemon says more.
            #expect(code == 65 || command.hasPrefix("doctor") && code != 0, "\(code) \(program.log)")
            let told = program.log.components(separatedBy: "the output is incomplete").count - 1
            #expect(told == 1 && program.log.contains("ENOSPC"), "\(program.log)")
        }
    }

    @Test(arguments: ["status", "status --json", "journal"])
    func `nor does what a daemon tells`(command: String) async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let status = bench.path + "/spool/.pushspool/public/node-a/status.json"
            try await eventually("a status") { FileManager.default.fileExists(atPath: status) }
            let subject =
                command == "journal"
                ? [bench.path + "/spool/.pushspool/node-a/journal"] : ["--config", bench.path + "/etc/pushspool.yaml"]
            let words = command.split(separator: " ").map(String.init) + subject
            let script = ["-c", "exec \"$@\" > /dev/full", "sh", try BuiltProgram.path]
            let program = try Program("/bin/sh", script + words, logs: bench.path + "/logs")
            let code = try await program.end()
            #expect(code == 65 && program.log.contains("ENOSPC"), "\(code) \(program.log)")
        }
    }

    @Test(arguments: [
        ("list", 0, "no permission to read weather/new"),
        ("list a.json", 1, "a.json was not found, but some folders cannot be read"),
        ("show a.json", 1, "run as the daemon's user"), ("feedback", 65, "no permission to read weather/feedback"),
        ("report", 65, "cannot read weather/feedback: the report does not include them"),
    ])
    func `what may not be read is told, and not taken for nothing`(
        command: String, code: Int, words: String
    ) async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            // Root may read everything, and is made somebody else.
            let other = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
            let end = try await spool.shell(
                """
                chmod 000 "$spool/weather/new" "$spool/weather/feedback"
                \(other) "$pushspool" \(command) --spool "$spool"; code=$?
                chmod 700 "$spool/weather/new" "$spool/weather/feedback"
                exit $code
                """)
            #expect(Int(end.code) == code && end.log.contains(words), "\(end)")
        }
    }

    @Test(arguments: [
        ("feedback", "no permission to read"),
        ("report --since 2026-11-21 --until 2026-11-22", ": the report does not include them"),
    ])
    func `one file that may not be read hides no other`(command: String, words: String) async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            try spool.publish([FeedbackText.notification(2)], second: 2)
            let file = "weather/feedback/" + StillSpool.feedbackName(1)
            // Root may read everything, and is made somebody else.
            let other = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""
            let end = try await spool.shell(
                "chmod 000 \"$spool/\(file)\"; \(other) \"$pushspool\" \(command) --spool \"$spool\"")
            #expect(end.code == 65 && end.log.contains(file) && end.log.contains(words), "\(end)")
            let rest =
                command == "feedback" ? FeedbackText.notification(2) + "\n" : " in 1 file."
            #expect(end.text.contains(rest), "\(end)")
        }
    }
}
