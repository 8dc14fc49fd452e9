import Foundation
import TestSupport
import Testing

/// `pushspool list` as a shell sees it, where no daemon runs.
@Suite struct ListCommandTests {
    private func spool() throws -> StillSpool {
        let spool = try StillSpool()
        for app in ["weather", "news", "quiet"] { try spool.makeApp(app) }
        try spool.write("weather/new/a.json", "{}")
        try spool.write("weather/new/b.json", "{}")
        try spool.write("news/hold/a.json", "{}")
        try spool.write("news/work/node-a/\(FeedbackText.id(7))-c.json", "{}")
        try spool.write("news/new/.hidden.json", "{}")
        return spool
    }

    /// App, state and job of each row.
    private func rows(_ text: String) -> [String] {
        text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: " ").map(String.init)
            return [cells.first, cells.dropFirst().first, cells.last].compactMap(\.self).joined(separator: " ")
        }
    }

    @Test func `what is over is listed where that is asked for, by state and age`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("good.json", job(1))
            try bench.drop("bad.json", "{}")
            try bench.drop("later.json", job(2, #","not_before":"+1h""#))
            for name in ["good.json", "bad.json"] { _ = try await bench.end(of: name) }
            func names(_ options: String...) async throws -> [String] {
                let end = try await bench.run(
                    ["list", "--config", "\(bench.path)/etc/pushspool.yaml", "--json"] + options)
                #expect(end.code == 0, "\(end)")
                return end.text.matches(of: #/"state":"(\w+)","job":"(\S+?)"/#).map { "\($0.1) \($0.2)" }
            }
            #expect(try await names() == ["waiting later.json"])
            try await eventually("the archives") {
                try await names("--state", "failed", "--state", "done").sorted() == [
                    "done good.json", "failed bad.json",
                ]
            }
            #expect(try await names("--state", "done", "--since", "1h") == ["done good.json"])
            #expect(try await names("--state", "done", "--older-than", "1h") == [])
            #expect(try await names("--state", "failed", "--state", "waiting", "bad.json") == ["failed bad.json"])
            #expect(try await names("--state", "held") == [])
        }
    }

    @Test func `all jobs are listed, and no app twice`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let all = try await spool.run(["list"])
            let wanted = [
                "news sending c.json", "news held a.json", "weather waiting a.json", "weather waiting b.json",
            ]
            #expect(all.code == 0 && Set(rows(all.text)) == Set(wanted) && rows(all.text).count == 4, "\(all)")
            let twice = try await spool.run(["list", "--app", "news", "--app", "news"])
            #expect(rows(twice.text) == Array(wanted.prefix(2)), "\(twice)")
        }
    }

    @Test(arguments: [
        (["a.json"], ["news held a.json", "weather waiting a.json"]), (["weather/a.json"], ["weather waiting a.json"]),
        (["news"], ["news sending c.json", "news held a.json"]), ([FeedbackText.id(7)], ["news sending c.json"]),
        (["weather/b.json", "c.json"], ["news sending c.json", "weather waiting b.json"]), (["quiet"], []),
    ])
    func `names of jobs and apps are filters`(names: [String], wanted: [String]) async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["list"] + names)
            #expect(end.code == 0 && rows(end.text) == wanted, "\(end)")
            let piped = try await spool.run(["list", "-"], input: names.map { $0 + "\n" }.joined())
            #expect(piped.code == 0 && rows(piped.text) == wanted, "\(piped)")
        }
    }

    @Test func `a name of nothing is told, and so is what the others name`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["list", "nothing.json", "b.json"])
            #expect(end.code == 1 && end.log.contains("no waiting, active or held job is named nothing.json"), "\(end)")
            #expect(end.log.contains("pushspool show --spool \(spool.path) 'nothing.json'"), "\(end)")
            #expect(rows(end.text) == ["weather waiting b.json"])
            let over = try await spool.run(["list", "--state", "done", "nothing.json"])
            #expect(
                over.code == 1 && over.log.contains("no job in this state and time range is named nothing.json"),
                "\(over)")
            let none = try await spool.run(["list", "-"], input: "")
            #expect(none.code == 0 && none.text.isEmpty, "\(none)")
        }
    }

    @Test func `a shape counts the jobs of each app by age`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["list", "--shape"])
            let zeros = String(repeating: " 0", count: 9)
            let lines = end.text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
            let wanted = [
                "T 5 10 20 40 80 160 320 640 1280 1280+", "TOTAL 4 4" + zeros, "news 2 2" + zeros,
                "weather 2 2" + zeros, "quiet 0 0" + zeros,
            ]
            #expect(end.code == 0 && lines == wanted, "\(end)")
            let json = try await spool.run(["list", "--shape", "--json", "--app", "news"])
            #expect(json.text.hasPrefix(#"{"app":"news","total":2,"minutes":{"5":2,"10":0,"#), "\(json)")
            #expect(try await spool.run(["list", "--shape", "a.json"]).code == 64)
        }
    }
}
