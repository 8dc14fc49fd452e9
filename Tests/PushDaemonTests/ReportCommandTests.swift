import Foundation
import TestSupport
import Testing

/// `pushspool report` as a shell sees it.
@Suite struct ReportCommandTests {
    private static let span = ["--since", "2026-11-21", "--until", "2026-11-22"]

    private func line(
        _ name: String, _ id: Int, app: String = "weather", _ counts: (accepted: Int, rejected: Int)
    ) -> String {
        #"{"v":1,"kind":"job","app":"\#(app)","node":"node-a","job":"\#(name)","id":"\#(FeedbackText.id(id))","#
            + #""state":"done","path":"\#(app)/done/2026-11-21/\#(name)","notifications":\#(counts.accepted + counts.rejected),"#
            + #""accepted":\#(counts.accepted),"rejected":\#(counts.rejected),"expired":0,"unsent":0,"unknown":0,"#
            + #""dropped_at":"2026-11-21T08:00:00.000Z","claimed_at":"2026-11-21T08:00:01.000Z","#
            + #""finished_at":"2026-11-21T08:00:09.000Z"}"#
    }

    private func spool() throws -> StillSpool {
        let spool = try StillSpool()
        let told = line("told.json", 1, (1234, 1))
        let refused = FeedbackText.notification(2, job: "told.json", #""outcome":"rejected","reason":"Unregistered""#)
        try spool.publish([told, refused, told, "{broken"], second: 1)
        try spool.publish([line("news.json", 2, app: "news", (5, 0))], app: "news", second: 2)
        for name in ["told.json", "silent.json", "bad.json"] {
            try spool.write("weather/done/2026-11-21/\(name)", "{}")
        }
        try spool.write("weather/done/2026-11-19/old.json", "{}")
        try spool.write(
            "weather/done/2026-11-21/bad.json.result.json",
            #"{"v":1,"job":"bad.json","id":"\#(FeedbackText.id(3))","state":"done","#
                + #""finished_at":"2026-11-21T10:00:00.000Z","counts":{"notifications":9,"accepted":7,"rejected":2}}"#)
        return spool
    }

    /// The numbers in the tiles at the top.
    private func tiles(_ page: String) -> [String] {
        page.matches(of: #/<dt>(.*?)</dt><dd>(.*?)</dd>/#).map { "\($0.output.1): \($0.output.2)" }
    }

    @Test func `the page tells what feedback and archives tell, each job once`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["report"] + Self.span)
            #expect(end.code == 0 && end.text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"), "\(end.log)")
            let found = tiles(end.text)
            for tile in ["jobs: 4", "failed jobs: 0", "notifications: ≥1,249", "not accepted: 3"] {
                #expect(found.contains(tile), "\(tile) in \(found)")
            }
            for sentence in [
                "Feedback is missing: for 1 of 4 jobs,",
                "From feedback lines: 2 jobs in 2 files.", "From done/ and failed/ only",
                "2 jobs, with a result file: 1.", "time of claim: 1 job,",
                "Reasons come from 1 line about notifications", "Repeated, and not counted: 1 line about jobs.",
                "Unreadable, and not counted: 1 line.",
            ] {
                #expect(end.text.contains(sentence), "\(sentence)")
            }
            #expect(end.text.contains("Unregistered") && !end.text.contains(token(2)))
        }
    }

    @Test func `an app and a time without jobs make a page that says so`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let news = try await spool.run(["report", "--app", "news"] + Self.span)
            #expect(tiles(news.text).contains("jobs: 1") && !news.text.contains("weather"), "\(news.log)")
            let none = try await spool.run(["report", "--since", "2001-01-01", "--until", "2001-01-02"])
            #expect(none.code == 0 && none.text.contains("No jobs ended in this period"), "\(none.log)")
        }
    }

    @Test func `the file is replaced whole, and nothing is left beside it`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            try spool.write("pages/push.html", "old")
            let file = spool.path + "/pages/push.html"
            let end = try await spool.run(["report", "--output", file] + Self.span)
            #expect(end.code == 0 && end.text.isEmpty, "\(end)")
            let page = try String(contentsOfFile: file, encoding: .utf8)
            #expect(page.hasSuffix("</html>\n") && spool.names(in: "pages") == ["push.html"])
            let nowhere = try await spool.run(["report", "--output", spool.path + "/nowhere/push.html"] + Self.span)
            #expect(nowhere.code == 65 && nowhere.log.contains("nowhere"), "\(nowhere)")
        }
    }

    @Test func `what is no file is told, and the rest is on the page`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let result = "weather/done/2026-11-21/silent.json.result.json"
            let made = try await spool.shell(
                "cd \"$spool\" && ln -s /dev/zero weather/feedback/0.jsonl && ln -s nowhere \(result)")
            #expect(made.code == 0, "\(made)")
            let end = try await spool.run(["report"] + Self.span)
            #expect(end.code == 65 && tiles(end.text).contains("jobs: 4"), "\(end.log)")
            for words in ["cannot read weather/feedback/0.jsonl, \(result): ", "and remove files that are not regular"]
            {
                #expect(end.log.contains(words), "\(words) in \(end.log)")
            }
            #expect(end.text.contains("Not included, because it cannot be read: weather/feedback/0.jsonl, \(result)."))
        }
    }

    @Test(arguments: [["--since", "yesterday"], ["--since", "1d", "--until", "2d"], ["--app"]])
    func `a mistake exits with 64`(arguments: [String]) async throws {
        try await Turnstile.daemons.passing {
            let end = try await spool().run(["report"] + arguments)
            #expect(end.code == 64 && end.text.isEmpty, "\(end)")
        }
    }

    @Test func `jobs still count when their feedback was consumed, and rates are gone`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("a.json", job(1))
            try bench.drop("bad.json", job(2, #","alrt":1"#))
            for name in ["a.json", "bad.json"] { _ = try await bench.end(of: name) }
            let config = ["--config", bench.path + "/etc/pushspool.yaml"]
            let before = tiles(try await bench.run(["report"] + config).text)
            #expect(try await bench.run(["feedback", "--consume"] + config).code == 0)
            let page = try await bench.run(["report"] + config).text
            let after = tiles(page)
            #expect(before.contains { $0.hasPrefix("acceptance rate: ") && $0.hasSuffix(" %") }, "\(before)")
            #expect(before.prefix(2) == ["jobs: 2", "failed jobs: 1"] && after.prefix(2) == before.prefix(2))
            #expect(after.contains("acceptance rate: –") && page.contains("Feedback is missing: for 1 of 2 jobs"))
            #expect(page.contains(">Never sent<") && page.contains(">bad.json<"))
        }
    }

    @Test func `what a daemon did is on the page`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("a.json", job(1))
            _ = try await bench.end(of: "a.json")
            let command = ["report", "--config", bench.path + "/etc/pushspool.yaml", "--since", "1h"]
            let end = try await bench.run(command)
            #expect(end.code == 0 && tiles(end.text).contains("jobs: 1"), "\(end.log)")
            #expect(tiles(end.text).contains("notifications: 1") && end.text.contains("a.json"))
        }
    }
}
