import Foundation
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
                var name: String?
                do {
                    name = try submission.submit(Array("{}".utf8), name: "a.json")
                } catch {
                    // So a log can tell that it is the same failure each time.
                    #expect(!error.cause.contains(place.path), "\(error.cause)")
                }
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

/// Submissions to folders that are moved, replaced or removed while the submission is in use.
@Suite struct ReplacedFolderTests {
    /// What an operator does to the folders of the app `weather`.
    enum Way: String, CaseIterable {
        case new, app, spool, newIsGone, appIsGone, newIsLinked, appIsLinked
    }

    let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
        try make("spool/weather/new", "spool/weather/tmp", "spool/weather/feedback", "spool/weather/done")
        try make("spool/weather/failed", "spool/weather/hold")
    }

    private var spool: String { place.path + "/spool" }

    private func make(_ paths: String...) throws {
        for path in paths {
            try FileManager.default.createDirectory(
                atPath: "\(place.path)/\(path)", withIntermediateDirectories: true)
        }
    }

    /// Moves a folder away. Returns where jobs in the old `new/` are now.
    @discardableResult
    private func carryOut(_ way: Way) throws -> String {
        let (files, app) = (FileManager.default, spool + "/weather")
        func move(_ path: String) throws { try files.moveItem(atPath: path, toPath: place.path + "/elsewhere") }
        switch way {
        case .new, .newIsGone, .newIsLinked: try move(app + "/new")
        case .app, .appIsGone, .appIsLinked: try move(app)
        case .spool: try move(spool)
        }
        switch way {
        case .new, .app, .spool: try make("spool/weather/new", "spool/weather/tmp")
        case .newIsLinked: try files.createSymbolicLink(atPath: app + "/new", withDestinationPath: "../../elsewhere")
        case .appIsLinked: try files.createSymbolicLink(atPath: app, withDestinationPath: "../elsewhere")
        case .newIsGone, .appIsGone: break
        }
        return switch way {
        case .new, .newIsGone, .newIsLinked: "elsewhere"
        case .app, .appIsGone, .appIsLinked: "elsewhere/new"
        case .spool: "elsewhere/weather/new"
        }
    }

    private func names(in path: String) throws -> [String] {
        try Directory.open(path: "\(place.path)/\(path)").sortedNames()
    }

    @Test(arguments: [Way.new, .app, .spool])
    func `a job goes to the folder that has the path now`(way: Way) throws {
        let submission = try Submission(app: "weather", spool: spool)
        try submission.submit(Array("{}".utf8), name: "before.json")
        let old = try carryOut(way)
        let name = try submission.submit(Array("{}".utf8), name: "after.json")
        #expect(try names(in: "spool/weather/new") == [name])
        #expect(try names(in: old).count == 1)
    }

    @Test(arguments: [Way.newIsGone, .appIsGone, .newIsLinked, .appIsLinked])
    func `a job is refused if no folder has the path`(way: Way) throws {
        let submission = try Submission(app: "weather", spool: spool)
        let old = try carryOut(way)
        #expect(throws: SpoolClientError.self) { try submission.submit(Array("{}".utf8), name: "after.json") }
        #expect(try names(in: old).isEmpty)
    }

    @Test(arguments: [Way.newIsGone, .appIsGone, .newIsLinked, .appIsLinked])
    func `a rehearsal fails where a job is refused, and leaves nothing elsewhere`(way: Way) throws {
        let submission = try Submission(app: "weather", spool: spool)
        try submission.rehearse()
        try submission.requireWay()
        #expect(try names(in: "spool/weather/new").isEmpty && names(in: "spool/weather/tmp").isEmpty)
        let old = try carryOut(way)
        let error = #expect(throws: SpoolClientError.self) { try submission.rehearse() }
        #expect(error?.hint != nil, "\(String(describing: error))")
        #expect(throws: SpoolClientError.self) { try submission.requireWay() }
        #expect(try names(in: old).isEmpty)
    }

    @Test func `without a usable tmp/, a rehearsal uses a hidden name in new/, as a job does`() throws {
        let submission = try Submission(app: "weather", spool: spool)
        try FileManager.default.removeItem(atPath: spool + "/weather/tmp")
        try submission.rehearse()
        try submission.requireWay()
        #expect(try names(in: "spool/weather/new").isEmpty)
    }

    @Test(arguments: Way.allCases)
    func `a job whose folder is moved before it is published is refused, and stays in no folder`(way: Way) throws {
        let job = try Submission(app: "weather", spool: spool).begin("a.json")
        try job.append(Array("{}".utf8))
        let old = try carryOut(way)
        let error = #expect(throws: SpoolClientError.self) { try job.publish() }
        #expect(error?.hint?.contains("nothing was dropped: submit the job again") == true)
        #expect(try names(in: old).isEmpty)
    }

    @Test func `a job whose new/ is removed before it is published is refused`() throws {
        let job = try Submission(app: "weather", spool: spool).begin("a.json")
        try FileManager.default.removeItem(atPath: spool + "/weather")
        try make("spool/weather/new", "spool/weather/tmp")
        #expect(throws: SpoolClientError.self) { try job.publish() }
        #expect(try names(in: "spool/weather/new").isEmpty)
    }

    @Test func `feedback and jobs are looked up in the folder that has the path now`() throws {
        let reader = try FeedbackReader(app: "weather", spool: spool)
        let locator = try JobLocator(app: "weather", spool: spool)
        try carryOut(.app)
        try make("spool/weather/feedback", "spool/weather/hold")
        try Directory.open(path: spool + "/weather/feedback").put("1-a.jsonl", "one\n")
        try Directory.open(path: spool + "/weather/new").put("b.json")
        #expect(try reader.files() == ["1-a.jsonl"])
        try reader.remove("1-a.jsonl")
        #expect(try names(in: "spool/weather/feedback").isEmpty)
        #expect(try locator.place(of: "b.json") == .waiting)
    }
}
