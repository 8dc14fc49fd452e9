import Foundation
import TestSupport
import Testing

/// `pushspool show` as a shell sees it.
@Suite struct ShowTests {
    private let ended = #""dropped_at":"2026-11-21T08:00:00.000Z","finished_at":"2026-11-21T08:00:09.000Z""#

    private func line(_ name: String, _ id: Int, ref: String, path: String) -> String {
        #"{"v":1,"kind":"job","app":"weather","node":"node-a","job":"\#(name)","id":"\#(FeedbackText.id(id))","#
            + #""ref":"\#(ref)","state":"done","path":"weather/\#(path)","notifications":3,"accepted":2,"#
            + #""rejected":1,"expired":0,"unsent":0,"unknown":0,\#(ended)}"#
    }

    private func result(_ name: String, _ id: Int) -> String {
        #"{"v":1,"job":"\#(name)","id":"\#(FeedbackText.id(id))","ref":"campaign","state":"failed","code":"unsent","#
            + #""why":"gave up",\#(ended),"counts":{"notifications":5,"accepted":1,"rejected":3,"expired":0,"#
            + #""unsent":1,"unknown":0},"indexes":{"rejected":[[0,1],[3,3]],"unsent":[[4,4]]}}"#
    }

    /// A result file with as many diagnostics, laid out in lines, that counts so many errors and one warning.
    private func faulty(_ count: Int, errors: Int, hint: String = "pass it on") -> String {
        let faults = (1...count).map { number in
            #"{"severity": "error","line":\#(number),"column":5,"path":"tokens[\#(number)]","#
                + #""message":"no hex","hint":"\#(hint)"}"#
        }
        let list = faults.joined(separator: ",\n")
        return #"{"v":1,"job":"bad.json","id":"\#(FeedbackText.id(6))","state":"failed","code":"invalid","#
            + #""errors":\#(errors),"warnings":1,"diagnostics":[\#(list)]}"#
    }

    private func spool() throws -> StillSpool {
        let spool = try StillSpool()
        for app in ["weather", "news"] { try spool.makeApp(app) }
        try spool.write("weather/new/new.json", "{}")
        try spool.write("news/hold/held.json", "{}")
        try spool.write("weather/work/node-a/\(FeedbackText.id(5))-busy.json", "{}")
        for day in ["2026-11-20", "2026-11-21"] { try spool.write("weather/done/\(day)/same.json", "{}") }
        try spool.write("weather/done/2026-11-21/same~2.json", "{}")
        try spool.write("weather/failed/2026-11-21/bad.json", "{}")
        try spool.write("weather/failed/2026-11-21/bad.json.result.json", result("bad.json", 6))
        let told = line("told.json", 1, ref: "r-1", path: "done/2026-11-21/told.json")
        try spool.publish([told, FeedbackText.notification(2, job: "told.json")], second: 1)
        try spool.write("weather/done/2026-11-21/told.json", "{}")
        return spool
    }

    @Test(arguments: [
        (["new.json"], ["weather/new.json  waiting"]), (["held.json"], ["news/held.json  held"]),
        (["weather/held.json", "news/held.json"], ["news/held.json  held"]),
        (["busy.json"], ["weather/busy.json  sending"]), ([FeedbackText.id(5)], ["weather/busy.json  sending"]),
        (["told.json"], ["weather/told.json  done"]), ([FeedbackText.id(1)], ["weather/told.json  done"]),
        (["r-1"], ["weather/told.json  done"]), (["bad.json"], ["weather/bad.json  failed"]),
        ([FeedbackText.id(6)], ["weather/bad.json  failed"]), (["campaign"], ["weather/bad.json  failed"]),
        (["weather/failed/2026-11-21/bad.json"], ["weather/bad.json  failed"]),
        (["spool/weather/failed/2026-11-21/bad.json"], ["weather/bad.json  failed"]),
        (["ref:r-1"], ["weather/told.json  done"]), (["weather/ref:campaign"], ["weather/bad.json  failed"]),
        (["news/ref:campaign", "ref:campaign"], ["weather/bad.json  failed"]),
        (["same.json"], ["weather/same.json  done", "weather/same~2.json  done", "weather/same.json  done"]),
    ])
    func `a job is found by each of its names, wherever it is`(names: [String], wanted: [String]) async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["show"] + names)
            let found = end.text.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map(String.init)
            #expect(found == wanted && end.code == (names.count > wanted.count ? 1 : 0), "\(end)")
            let piped = try await spool.run(["show", "-"], input: names.joined(separator: "\n"))
            #expect(piped.text == end.text && piped.code == end.code, "\(piped)")
        }
    }

    @Test(arguments: [
        ("weather/new/a.json", "weather/a.json  waiting"), ("news/hold/a.json", "news/a.json  held"),
        ("weather/work/node-a/\(FeedbackText.id(9))-a.json", "weather/a.json  sending"),
    ])
    func `a job that is not over is found by its producer's name`(path: String, wanted: String) async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            try spool.write(path, job(1, #","id":"down/ref","not_before":"+1h""#))
            for name in ["down/ref", "ref:down/ref", wanted.prefix(while: { $0 != "/" }) + "/ref:down/ref"] {
                let end = try await spool.run(["show", name])
                #expect(end.code == 0 && end.text.hasPrefix(wanted + "\n"), "\(name): \(end)")
                #expect(end.text.contains("  ref       down/ref\n"), "\(end)")
            }
        }
    }

    @Test func `what became of a job and what is left of it is shown`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let end = try await spool.run(["show", "bad.json"])
            for words in [
                "  id        \(FeedbackText.id(6))", "  ref       campaign", "  code      unsent",
                "  why       gave up",
                "  counts    5 notifications, 1 accepted, 3 rejected, 1 unsent", "  rejected  [0-1, 3]",
                "  unsent    [4]", "  finished  2026-11-21T08:00:09.000Z",
            ] {
                #expect(end.text.contains(words + "\n"), "\(words) in \(end)")
            }
            let told = try await spool.run(["show", "told.json"])
            #expect(told.text.contains("  feedback  1 × rejected\n"), "\(told)")
            #expect(!told.text.contains(token(2)))
            let json = try await spool.run(["show", "--json", "bad.json"])
            #expect(json.text.hasPrefix(#"{"app":"weather","job":"bad.json","id":"#), "\(json)")
            #expect(json.text.contains(#""indexes":{"rejected":[[0,1],[3,3]],"unsent":[[4,4]]}"#), "\(json)")
        }
    }

    @Test(arguments: [(4, 3, 0), (5, 4, 0), (7, 6, 2), (7, 1006, 1002)])
    func `the first faults of the file are shown, and how many more there are`(
        kept: Int, errors: Int, more: Int
    ) async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            try spool.write("weather/failed/2026-11-21/bad.json.result.json", faulty(kept, errors: errors))
            let end = try await spool.run(["show", "bad.json"])
            var wanted = ["  diagnostics"]
            for number in 1...min(kept, 5) {
                wanted += ["    \(number):5: tokens[\(number)]: no hex", "    hint: pass it on"]
            }
            if more > 0 { wanted.append("    … and \(more) more in its result file") }
            let lines = end.text.split(separator: "\n").map(String.init)
            let shown = Array(lines.drop(while: { $0 != "  diagnostics" }))
            #expect(shown == wanted, "\(end)")
        }
    }

    @Test func `a JSON object has the diagnostics of the result file, all of them and on its line`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let without = try await spool.run(["show", "--json", "bad.json"])
            #expect(without.code == 0 && !without.text.contains("diagnostics"), "\(without)")
            try spool.write("weather/failed/2026-11-21/bad.json.result.json", faulty(7, errors: 6))
            let end = try await spool.run(["show", "--json", "bad.json"])
            let faults = (1...7).map { number in
                #"{"severity":"error","line":\#(number),"column":5,"path":"tokens[\#(number)]","#
                    + #""message":"no hex","hint":"pass it on"}"#
            }
            let member = #","diagnostics":["# + faults.joined(separator: ",") + "]"
            #expect(end.text.contains(member) && end.text.split(separator: "\n").count == 1, "\(end)")
        }
    }

    @Test func `a job that waits for its time says so`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            try spool.write("weather/new/later.json", job(1, #","not_before":"+1h""#))
            try spool.write("weather/new/lines.jsonl", "{\"job\":{\"not_before\":\"+1h\"}}\n\"\(token(1))\"\n")
            for name in ["later.json", "lines.jsonl"] {
                let end = try await spool.run(["show", name])
                #expect(end.text.hasPrefix("weather/\(name)  waiting\n") && end.text.contains("\n  waits     until 2"))
            }
            let json = try await spool.run(["show", "--json", "later.json"])
            #expect(json.code == 0 && json.text.contains(#""not_before":"2"#), "\(json)")
            let atOnce = try await spool.run(["show", "new.json"])
            #expect(!atOnce.text.contains("waits"), "\(atOnce)")
        }
    }

    @Test func `a job that is a link is not followed, and one with an escaped name is read`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let later = job(1, #","not_before":"+1h""#)
            try spool.write("weather/new/50%.json", later)
            try spool.write("elsewhere.json", later)
            let made = try await spool.shell(
                "cd \"$spool/weather/new\" && ln -s ../../elsewhere.json link.json && ln -s /dev/zero zero.jsonl")
            #expect(made.code == 0, "\(made)")
            for name in ["link.json", "zero.jsonl"] {
                let end = try await spool.run(["show", name])
                #expect(end.code == 0 && end.text.hasPrefix("weather/\(name)  waiting\n"), "\(end)")
                #expect(!end.text.contains("waits"), "\(end)")
            }
            let end = try await spool.run(["show", "50%25.json"])
            #expect(end.text.hasPrefix("weather/50%25.json  waiting\n") && end.text.contains("\n  waits     until 2"))
        }
    }

    @Test func `what is no file is told, and hides no job`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let result = "weather/done/2026-11-21/same~2.json.result.json"
            let made = try await spool.shell(
                """
                cd "$spool" && ln -s nowhere weather/feedback/0.jsonl && mkdir \(result) \
                    && ln -s nowhere news/hold/held.json.rest
                """)
            #expect(made.code == 0, "\(made)")
            let end = try await spool.run(["show", "told.json", "same.json", "held.json"])
            for words in ["weather/told.json  done", "weather/same~2.json  done", "news/held.json  held"] {
                #expect(end.code == 0 && end.text.contains(words), "\(words) in \(end)")
            }
            #expect(end.log.contains("no permission to read \(result), weather/feedback/0.jsonl"), "\(end)")
            let list = try await spool.run(["list"])
            #expect(list.code == 0 && list.text.contains("held.json"), "\(list)")
        }
    }

    @Test func `a result file is no job`() async throws {
        try await Turnstile.daemons.passing {
            let end = try await spool().run(["show", "bad.json.result.json"])
            #expect(end.code == 1 && end.text.isEmpty, "\(end)")
        }
    }

    @Test func `a job of which nothing is known is told with where it was looked for`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            for name in ["nothing.json", "nothing", FeedbackText.id(9)] {
                let end = try await spool.run(["show", name, "new.json"])
                #expect(end.code == 1 && end.text.contains("weather/new.json  waiting"), "\(end)")
                #expect(end.log.contains("found nothing about \(name); searched new/, work/"), "\(end)")
            }
            let other = try await spool.run(["show", "--app", "nobody", "new.json"])
            #expect(other.code == 65 && other.log.contains("nobody"), "\(other)")
        }
    }

    @Test func `nothing that a file says moves the cursor of a terminal`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let reason = #""outcome":"rejected","reason":"\u001b[2J""#
            try spool.publish([FeedbackText.notification(1, job: "\\u001b[2J.json", reason)], second: 9)
            let end = try await spool.run(["show", FeedbackText.id(1)])
            #expect(end.code == 0 && end.text.contains("[2J") && !end.text.contains("\u{1B}"), "\(end)")
            let hint = #"\u001b[2J\u000aweather/good.json  done"#
            try spool.write("weather/failed/2026-11-21/bad.json.result.json", faulty(1, errors: 0, hint: hint))
            let bad = try await spool.run(["show", "bad.json"])
            #expect(bad.text.contains("hint: \u{FFFD}[2J\u{FFFD}weather/good.json  done\n"), "\(bad)")
        }
    }

    @Test func `what is in a result file that cannot be read is left out`() async throws {
        try await Turnstile.daemons.passing {
            let spool = try spool()
            let counts = #""errors":9223372036854775807,"warnings":9223372036854775807"#
            for text in [
                "", "[]", #"{"indexes":{"x":[[9,1],[0,9223372036854775807],7]},"counts":3}"#,
                #"{"diagnostics":7,\#(counts)}"#, #"{"diagnostics":[7,{"line":[],"hint":{}}],\#(counts)}"#,
            ] {
                try spool.write("weather/failed/2026-11-21/bad.json.result.json", text)
                let end = try await spool.run(["show", "bad.json"])
                #expect(end.code == 0 && end.text.hasPrefix("weather/bad.json  failed\n"), "\(end)")
            }
        }
    }

    @Test func `the journal tells the history of a job, and what is left of one that is sent`() async throws {
        try await Bench.running(try .init(app: "rate: 5/s")) { bench in
            let show = ["show", "--config", bench.path + "/etc/pushspool.yaml"]
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("a.json", job(1, #","id":"mine""#))
                let line = try await bench.end(of: "a.json")
                for name in [try #require(line.id), "a.json", "mine"] {
                    let end = try await bench.run(show + [name])
                    #expect(end.code == 0 && end.text.hasPrefix("weather/a.json  done\n"), "\(end)")
                    for record in ["HEADER", "CLAIMED", "RESULT", "FINAL"] {
                        let count = end.text.components(separatedBy: " \(record) \(line.id ?? "?")").count - 1
                        #expect(count == 1, "\(record) in \(end)")
                    }
                }
                let tokens = (0..<200).map { #""\#(token($0))""# }.joined(separator: ",")
                try bench.drop("long.json", #"{"tokens":[\#(tokens)],"alert":"Hi"}"#)
                try await eventually("what is left") {
                    let end = try await bench.run(show + ["long.json"])
                    return end.text.contains("weather/long.json  sending") && end.text.contains("  left      [")
                        && end.text.contains("  counts    200 notifications")
                }
                try await daemon.destroy()
            }
        }
    }
}
