import Foundation
import TestSupport
import Testing

/// Names on the command line and on standard input, in all commands that take them.
@Suite struct NameInputTests {
    private func spool() throws -> StillSpool {
        let spool = try StillSpool()
        for name in ["a.json", "with space.json"] { try spool.write("weather/new/\(name)", "{}") }
        let lines = ["a.json", "with space.json", "other.json"].map { FeedbackText.notification(1, job: $0) }
        try spool.publish(lines, second: 1)
        return spool
    }

    @Test(arguments: ["list", "show", "feedback"])
    func `names end in line feeds, in what others end lines with, or in NUL bytes`(command: String) async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            // The age in a table grows.
            let command = command == "feedback" ? [command] : [command, "--json"]
            let end = try await spool.run(command + ["weather/a.json", "with space.json"])
            #expect(end.code == 0 && end.text.contains("with space.json") && !end.text.contains("other"), "\(end)")
            for input in ["weather/a.json\nwith space.json\n", "weather/a.json\r\n\r\nwith space.json\r\n"] {
                let piped = try await spool.run(command + ["-"], input: input)
                #expect(piped.code == 0 && piped.text == end.text, "\(piped)")
            }
            let zeroes = try await spool.run(command + ["-0", "-"], input: "weather/a.json\0with space.json\0")
            #expect(zeroes.code == 0 && zeroes.text == end.text, "\(zeroes)")
            let mixed = try await spool.run(command + ["a.json", "-", "a.json"], input: "with space.json")
            #expect(mixed.code == 0 && mixed.text == end.text, "\(mixed)")
            let none = try await spool.run(command + ["-"], input: "\n")
            #expect(none.code == 0 && none.text.isEmpty && none.log.isEmpty, "\(none)")
        }
    }

    @Test(arguments: ["list", "show", "feedback"])
    func `names that only look the same are two`(command: String) async throws {
        try await Turnstile.daemons.passing {
            let spool = try StillSpool()
            // A letter with its accent, and a letter and an accent.
            let names = ["caf\u{E9}.json", "cafe\u{301}.json"]
            for name in names { try spool.write("weather/new/\(name)", "{}") }
            if command == "feedback" {
                try spool.publish(names.map { FeedbackText.notification(1, job: $0) }, second: 1)
            }
            let command = command == "feedback" ? [command] : [command, "--json"]
            let one = try await spool.run(command + [names[0]])
            #expect(one.code == 0 && one.text.split(separator: "\n").count == 1, "\(one)")
            let both = try await spool.run(command + ["-"], input: names.joined(separator: "\n"))
            #expect(both.code == 0 && both.text.split(separator: "\n").count == 2, "\(both)")
        }
    }

    @Test func `what ends in NUL bytes and is not said to is refused`() async throws {
        try await Turnstile.daemons.passing {
            let end = try await spool().run(["list", "-"], input: "a.json\0with space.json\0")
            #expect(end.code == 65 && end.text.isEmpty && end.log.contains("use -0"), "\(end)")
        }
    }

    @Test func `a line of feedback may be of a job that an option names, or another`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["feedback", "--job", "other.json", "news/a.json", "weather/a.json"])
            let lines = ["a.json", "other.json"].map { FeedbackText.notification(1, job: $0) + "\n" }
            #expect(end.code == 1 && end.text == lines.joined(), "\(end)")
            #expect(end.log.contains("no feedback line is about news/a.json"), "\(end)")
            let refused = try await spool.run(["feedback", "--consume", "a.json"])
            #expect(refused.code == 64 && refused.log.contains("do not combine it with filters"), "\(refused)")
            #expect(spool.names(in: "weather/feedback").count == 1)
        }
    }

    @Test func `a status is of the apps that are named`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.configureApp("faulty", "wrong: key")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await eventually("a status") {
                    let end = try await bench.operate("status", "weather")
                    return end.code == 0 && end.text.contains("weather  idle") && !end.text.contains("faulty")
                }
                let some = try await bench.operate("status", "nobody", "-", input: "faulty\n")
                #expect(some.code == 1 && some.text.contains("faulty  broken"), "\(some)")
                #expect(some.log.contains("has no app named nobody") && !some.text.contains("weather"), "\(some)")
                #expect(try await bench.operate("status", "--json", "weather").code == 64)
                let watch = try bench.start(
                    ["status", "--watch", "faulty", "--config", bench.path + "/etc/pushspool.yaml"])
                try await eventually("a screen") { watch.text.contains("faulty  broken") }
                try await watch.destroy()
                #expect(watch.text.contains("1 app, 1 not sending") && !watch.text.contains("weather"))
                let doctor = try await bench.operate("doctor", "-", input: "nobody\n")
                #expect(doctor.code == 78 && doctor.text.contains("nobody"), "\(doctor)")
                try await daemon.destroy()
            }
        }
    }

    @Test func `journals may be named on standard input`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let path = bench.path + "/spool/.pushspool/node-a/journal"
            let end = try await bench.run(["journal", path])
            #expect(end.code == 0 && end.text.contains("journal of node node-a"), "\(end)")
            let piped = try await bench.run(["journal", "-"], input: "\(path)\n\(path)\n")
            #expect(piped.code == 0 && piped.text.hasPrefix("journal of node node-a"), "\(piped)")
            #expect(piped.text.components(separatedBy: "journal of node").count == 2, "\(piped)")
        }
    }
}
