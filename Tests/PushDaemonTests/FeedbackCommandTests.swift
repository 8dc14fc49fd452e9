import Foundation
import Glibc
import TestSupport
import Testing

/// `pushspool feedback` as a shell sees it.
@Suite struct FeedbackCommandTests {
    private let gone = #""outcome":"rejected","status":410,"reason":"Unregistered","verdict":"gone","#

    private func goneLine(_ index: Int, app: String = "weather", since: String) -> String {
        FeedbackText.notification(index, app: app, gone + #""gone_since":"\#(since)""#)
    }

    private func spool() throws -> StillSpool {
        let spool = try StillSpool()
        try spool.publish([FeedbackText.notification(3)], second: 30)
        try spool.publish([FeedbackText.notification(2, app: "news")], app: "news", node: "node-b", second: 20)
        try spool.publish([FeedbackText.notification(1), FeedbackText.notification(4)], second: 10)
        return spool
    }

    @Test func `lines of all apps and nodes come in the order of publication, as they are`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["feedback"])
            let lines = [
                FeedbackText.notification(1), FeedbackText.notification(4), FeedbackText.notification(2, app: "news"),
                FeedbackText.notification(3),
            ]
            #expect(end.code == 0 && end.text == lines.map { $0 + "\n" }.joined(), "\(end)")
            let twice = try await spool.run(["feedback", "--app", "news", "--app", "news"])
            #expect(twice.text == lines[2] + "\n", "\(twice)")
            #expect(spool.names(in: "weather/feedback").count == 2)
        }
    }

    @Test func `filters leave out what is not wanted`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            try spool.publish([goneLine(7, since: "2026-11-20T00:00:00.000Z")], second: 40)
            let none = try await spool.run(["feedback", "--verdict", "gone", "--kind", "job"])
            #expect(none.code == 0 && none.text.isEmpty, "\(none)")
            let some = try await spool.run(["feedback", "--reason", "Unregistered", "--job", "weather/a.json"])
            #expect(some.text == goneLine(7, since: "2026-11-20T00:00:00.000Z") + "\n", "\(some)")
            let late = try await spool.run(["feedback", "--since", "2026-11-21T08:00:25Z"])
            #expect(late.text.isEmpty && late.code == 0, "\(late)")
            let wrong = try await spool.run(["feedback", "--since", "yesterday"])
            #expect(wrong.code == 64 && wrong.log.contains("yesterday"), "\(wrong)")
        }
    }

    @Test func `a job that no line is about is told`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["feedback", "weather/a.json", "nobody.json", "ref:none"])
            #expect(end.code == 1 && !end.text.isEmpty, "\(end)")
            for job in ["nobody.json", "ref:none"] {
                #expect(end.log.contains("no feedback line is about \(job)\nhint: "), "\(end)")
            }
            #expect(!end.log.contains("about weather/a.json"), "\(end)")
            // Another filter leaves out its lines, and it is known all the same.
            let known = try await spool.run(["feedback", "--kind", "token", "weather/a.json"])
            #expect(known.code == 0 && known.text.isEmpty, "\(known)")
        }
    }

    @Test func `tokens that are gone come once for each app, with the newest time`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try StillSpool()
            let days = (1...3).map { "2026-11-0\($0)T00:00:00.000Z" }
            try spool.publish([goneLine(1, since: days[1]), goneLine(2, since: days[0])], second: 1)
            try spool.publish([FeedbackText.goneToken(1, goneSince: days[2])], second: 2)
            try spool.publish([goneLine(1, since: days[0]), FeedbackText.notification(5)], second: 3)
            try spool.publish([goneLine(1, app: "news", since: days[0])], app: "news", second: 4)
            let table = try await spool.run(["feedback", "--gone", "--format", "csv"])
            let rows = [
                "app,token,gone_since,fid", "news,\(token(1)),\(days[0]),", "weather,\(token(1)),\(days[2]),",
                "weather,\(token(2)),\(days[0]),",
            ]
            #expect(table.code == 0 && table.text == rows.map { $0 + "\r\n" }.joined(), "\(table)")
            let lines = try await spool.run(["feedback", "--gone", "--app", "news"])
            #expect(lines.text == #"{"app":"news","token":"\#(token(1))","gone_since":"\#(days[0])"}"# + "\n")
        }
    }

    @Test func `a table has a row a line, and quotes what must be`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try StillSpool()
            try spool.publish([FeedbackText.notification(1, job: #"a,\"b.json"#)], second: 1)
            let end = try await spool.run(["feedback", "--format", "csv"])
            let rows = end.text.components(separatedBy: "\r\n")
            #expect(end.code == 0 && rows.count == 3 && rows[0].hasPrefix("kind,app,node,job,id,ref,index,token,"))
            let beginning = #"notification,weather,node-a,"a,""b.json",\#(FeedbackText.id(1)),,1,"#
            #expect(rows.count > 1 && rows[1].hasPrefix(beginning), "\(end)")
        }
    }

    @Test func `consume removes what was written, and nothing that could not be read`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            try spool.publish([FeedbackText.notification(6), "{broken"], second: 50)
            let end = try await spool.run(["feedback", "--consume"])
            #expect(end.code == 65 && end.text.split(separator: "\n").count == 5, "\(end)")
            let bad = StillSpool.feedbackName(50)
            #expect(end.log.contains("weather/feedback/\(bad):2: "), "\(end)")
            #expect(spool.names(in: "weather/feedback") == [bad] && spool.names(in: "news/feedback").isEmpty)
            for option in [["--kind", "job"], ["--gone"]] {
                let refused = try await spool.run(["feedback", "--consume"] + option)
                #expect(refused.code == 64, "\(refused)")
            }
        }
    }

    @Test func `what is no file is told once and left, and the others are printed and removed`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let made = try await spool.shell(
                "cd \"$spool/weather/feedback\" && ln -s /dev/zero 0.jsonl && mkdir 1.jsonl && mkfifo 2.jsonl")
            #expect(made.code == 0, "\(made)")
            let end = try await spool.run(["feedback", "--consume"])
            #expect(end.code == 65 && end.text.split(separator: "\n").count == 4, "\(end)")
            for words in [
                "0.jsonl: it is a symbolic link", "1.jsonl: it is a directory", "2.jsonl: it is a named pipe",
            ] {
                #expect(end.log.components(separatedBy: "weather/feedback/" + words).count == 2, "\(words) in \(end)")
            }
            #expect(spool.names(in: "weather/feedback") == ["0.jsonl", "1.jsonl", "2.jsonl"])
            #expect(spool.names(in: "news/feedback").isEmpty)
        }
    }

    @Test func `no name of a file is obeyed by a terminal`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let made = try await spool.shell(
                "echo '{broken' > \"$spool/weather/feedback/$(printf 'a\\033[2J\\302\\233').jsonl\"")
            #expect(made.code == 0, "\(made)")
            let end = try await spool.run(["feedback"])
            #expect(end.code == 65 && end.log.contains("weather/feedback/a%1B[2J%C2%9B.jsonl:1: "), "\(end)")
            #expect(!end.log.contains("\u{1B}") && !end.log.contains("\u{9B}"))
        }
    }

    @Test func `nothing is removed when it could not be written`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.shell("\"$pushspool\" feedback --spool \"$spool\" --consume > /dev/full")
            #expect(end.code == 65 && end.log.contains("ENOSPC"), "\(end)")
            #expect(spool.names(in: "weather/feedback").count == 2 && spool.names(in: "news/feedback").count == 1)
        }
    }

    @Test(arguments: ["", "trap '' PIPE;"])
    func `a reader that has enough ends it in silence`(trap: String) async throws {
        try await Turnstile.daemons.passing {
            let spool = try StillSpool()
            let lines = (0..<5000).map { FeedbackText.notification($0) }
            for second in 0..<3 { try spool.publish(lines, second: second) }
            let command = "\(trap) \"$pushspool\" feedback --spool \"$spool\" | head -n 1"
            let end = try await spool.shell(command)
            #expect(end.code == 0 && end.text == lines[0] + "\n" && end.log.isEmpty, "\(end)")
        }
    }

    @Test func `what is published later is followed, of an app that comes later too`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let program = try spool.start(["feedback", "--follow"])
            try await eventually("what is there") { program.text.split(separator: "\n").count == 4 }
            try spool.publish([FeedbackText.notification(8)], second: 60)
            try spool.publish([FeedbackText.notification(9, app: "late")], app: "late", node: "node-c", second: 5)
            try await eventually("what came") { program.text.split(separator: "\n").count == 6 }
            #expect(program.text.contains(FeedbackText.notification(9, app: "late")))
            // Tests run on threads that have signals blocked, and so has what they start.
            try await program.destroy()
            #expect(program.log.isEmpty)
        }
    }

    @Test func `an app that is not there is named`() async throws {
        try await Turnstile.daemons.passing {
            let end = try await spool().run(["feedback", "--app", "nobody"])
            #expect(end.code == 65 && end.log.contains("nobody") && end.log.contains("hint: "), "\(end)")
        }
    }

    @Test func `what a daemon tells is printed`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("a.json", job(1))
            _ = try await bench.end(of: "a.json")
            let command = ["feedback", "--config", bench.path + "/etc/pushspool.yaml", "--kind", "job"]
            let end = try await bench.run(command)
            #expect(end.code == 0 && end.text.contains(#""job":"a.json""#), "\(end)")
        }
    }
}
