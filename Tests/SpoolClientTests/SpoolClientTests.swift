import Glibc
import LinuxIO
import SpoolClient
import TestSupport
import Testing

@Suite struct SpoolClientTests {
    let place: TemporaryDirectory
    let app: Directory

    init() throws {
        place = try TemporaryDirectory()
        app = try place.directory.makeChild(Array("weather".utf8), mode: 0o755)
        for folder in ["new", "tmp", "hold", "done", "failed", "feedback"] {
            _ = try app.makeChild(Array(folder.utf8), mode: 0o700)
        }
    }

    @Test func `a job is dropped whole under a name of its own`() throws {
        let submission = try Submission(app: "weather", spool: place.path)
        let names = try (0..<10).map { try submission.submit(Array("{\"n\":\($0)}".utf8), name: "urgent-storm.json") }
        #expect(Set(names).count == 10)
        #expect(names.allSatisfy { $0.hasPrefix("urgent-storm-") && $0.hasSuffix(".json") })
        #expect(try folder("new").text(names[3]) == "{\"n\":3}")
        #expect(try folder("tmp").names().isEmpty)
    }

    @Test func `a job may come in pieces`() throws {
        let submission = try Submission(app: "weather", spool: place.path)
        let lines = (0..<100).lazy.map { Array("\"\($0)\"\n".utf8) }
        let name = try submission.submit(chunks: lines, name: "all.jsonl")
        #expect(try folder("new").text(name)?.count == 490)
    }

    @Test func `without a place to stage, a hidden name will do`() throws {
        try app.removeChild(Array("tmp".utf8))
        let name = try Submission(app: "weather", spool: place.path).submit(Array("{}".utf8), name: "a.yaml")
        #expect(try folder("new").sortedNames() == [name])
    }

    @Test(arguments: [
        "", "a", ".json", ".a.json", "a/b.json", "a.result.json", "a.txt", "a\0.json", "a\n.json", "\u{7F}.json",
    ])
    func `what is no job's name is refused`(name: String) throws {
        let submission = try Submission(app: "weather", spool: place.path)
        let error = #expect(throws: SpoolClientError.self) { try submission.submit([], name: name) }
        #expect(error?.hint != nil)
    }

    #if FAILPOINTS
        @Test(arguments: ["eio", "enospc", "einval"])
        func `whatever operation fails, a submission that throws has dropped nothing`(action: String) throws {
            let submission = try Submission(app: "weather", spool: place.path)
            var failureCount = 0
            for number in 1... {
                let plan = FailPlan(under: place.path, points: FailPoint.list("\(number):\(action)") ?? [])
                plan.install()
                let name = try? submission.submit(Array("{}".utf8), name: "a.json")
                plan.remove()
                let dropped = try folder("new").sortedNames()
                #expect(dropped == (name.map { [$0] } ?? []), "operation \(number)")
                for job in dropped { try folder("new").unlink(Array(job.utf8)) }
                failureCount += name == nil ? 1 : 0
                guard plan.passedCount >= number else { break }
            }
            #expect(failureCount >= 4)
        }
    #endif

    @Test(arguments: ["nowhere", "..", "", "a/b"])
    func `an app that is not there is told with a remedy`(app: String) {
        #expect(throws: SpoolClientError.self) { _ = try Submission(app: app, spool: place.path) }
    }

    @Test func `feedback is read in order, line by line, and removed`() throws {
        let long = String(repeating: "x", count: 100_000)
        try folder("feedback").put("20261121T120001.000000Z-b.jsonl", "three\n\(long)\n")
        try folder("feedback").put("20261121T120000.000000Z-c.jsonl", "one\ntwo\n")
        try folder("feedback").put(".c.tmp", "half")
        let reader = try FeedbackReader(app: "weather", spool: place.path)
        var lines: [String] = []
        for file in try reader.files() {
            try reader.forEachLine(of: file) { lines.append($0) }
            try reader.remove(file)
        }
        #expect(lines == ["one", "two", "three", long])
        #expect(try reader.files().isEmpty)
    }

    @Test func `what is no file of feedback is passed over`() throws {
        let feedback = try folder("feedback")
        try feedback.put("2-a.jsonl", "one\n")
        try folder("done").put("secret", "secret\n")
        try feedback.makeSymbolicLink(Array("1-a.jsonl".utf8), to: "../done/secret")
        try feedback.makeSymbolicLink(Array("3-a.jsonl".utf8), to: "nowhere")
        _ = try feedback.makeChild(Array("4-a.jsonl".utf8), mode: 0o700)
        let code = unsafe mkfifo(place.path + "/weather/feedback/5-a.jsonl", 0o600)
        #expect(code == 0)
        let reader = try FeedbackReader(app: "weather", spool: place.path)
        #expect(try reader.files() == ["2-a.jsonl"])
        for name in ["1-a.jsonl", "4-a.jsonl", "5-a.jsonl"] {
            #expect(throws: SpoolClientError.self, "\(name)") { try reader.forEachLine(of: name) { _ in } }
        }
    }

    @Test func `a file that another consumer has taken has no lines`() throws {
        let reader = try FeedbackReader(app: "weather", spool: place.path)
        try reader.forEachLine(of: "1-a.jsonl") { Issue.record("\($0)") }
        try reader.remove("1-a.jsonl")
    }

    @Test func `a feedback file is moved and replaces none`() throws {
        _ = try app.makeChild(Array("read".utf8), mode: 0o700)
        try folder("feedback").put("1-a.jsonl", "one\n")
        let reader = try FeedbackReader(app: "weather", spool: place.path)
        try reader.move("1-a.jsonl", to: place.path + "/weather/read")
        #expect(try folder("read").text("1-a.jsonl") == "one\n")
        #expect(try reader.files().isEmpty)
        try folder("feedback").put("1-a.jsonl", "two\n")
        #expect(throws: SpoolClientError.self) { try reader.move("1-a.jsonl", to: place.path + "/weather/read") }
        #expect(try folder("read").text("1-a.jsonl") == "one\n")
    }

    @Test func `a job is found wherever it is`() throws {
        let locator = try JobLocator(app: "weather", spool: place.path)
        try folder("new").put("a.json")
        try folder("hold").put("b.json")
        try folder("done").makeChild(Array("2026-11-20".utf8), mode: 0o700).put("c.json")
        let failed = try folder("failed").makeChild(Array("2026-11-21".utf8), mode: 0o700)
        try failed.put("d.json")
        try failed.put("d.json.result.json", "why")
        #expect(try locator.place(of: "a.json") == .waiting)
        #expect(try locator.place(of: "b.json") == .held)
        #expect(try locator.place(of: "c.json") == .done(day: "2026-11-20", result: nil))
        #expect(try locator.place(of: "d.json") == .failed(day: "2026-11-21", result: Array("why".utf8)))
        #expect(try locator.place(of: "e.json") == nil)
    }

    private func folder(_ name: String) throws -> Directory {
        try app.openChild(Array(name.utf8))
    }
}
