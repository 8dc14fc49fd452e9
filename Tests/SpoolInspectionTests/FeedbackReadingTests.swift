import APNSModel
import Document
import JSON
import JobFormat
import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

@testable import SpoolInspection

/// What is decided of feedback that somebody reads.
struct FeedbackReadingTests {
    private static let noon = WallTime(epochSeconds: 1_795_262_400)

    private static let line = #"{"v":1,"kind":"notification","app":"weather","job":"a%25.json","ref":"r/1","#
    private static let rest =
        #""id":"0000000000000000000000002D","outcome":"rejected","reason":"BadDeviceToken","#
        + #""verdict":"invalid","at":"2026-11-21T12:00:00.000Z"}"#

    private static func node(_ text: String) throws -> Node {
        var parser = JSON.Parser()
        return try parser.read(text).root
    }

    private static func filter(_ change: (inout FeedbackFilter) -> Void) -> FeedbackFilter {
        var filter = FeedbackFilter()
        change(&filter)
        return filter
    }

    private static let conditions: [(FeedbackFilter, Bool)] = [
        (filter { _ in }, true), (filter { $0.kinds = ["notification"] }, true),
        (filter { $0.kinds = ["job", "notification"] }, true), (filter { $0.kinds = ["job"] }, false),
        (filter { $0.outcomes = ["rejected"] }, true), (filter { $0.outcomes = ["accepted"] }, false),
        (filter { $0.verdicts = ["invalid", "gone"] }, true), (filter { $0.verdicts = ["gone"] }, false),
        (filter { $0.reasons = ["BadDeviceToken"] }, true), (filter { $0.reasons = ["Bad"] }, false),
        (filter { $0.since = Self.noon }, true), (filter { $0.since = Self.noon + .milliseconds(1) }, false),
        (both, false),
    ]

    private static let both = filter {
        $0.kinds = ["notification"]
        $0.verdicts = ["gone"]
    }

    @Test(arguments: conditions)
    func `a line is wanted when it has one of the values of each filter`(
        filter: FeedbackFilter, isWanted: Bool
    ) throws {
        #expect(filter.admits(try Self.node(Self.line + Self.rest), publishedAt: nil) == isWanted)
    }

    @Test(arguments: [
        ("a%25.json", true), ("a%.json", true), ("weather/a%25.json", true), ("r/1", true), ("r/2", false),
        ("weather/done/2026-11-21/a%25.json", true), ("news/a%25.json", false), ("b.json", false),
        ("0000000000000000000000002d", true), ("0000000000000000000000002E", false),
    ])
    func `a job is named by its name, by app and name, by our id, or by its own`(text: String, isMeant: Bool) throws {
        let filter = Self.filter { $0.jobs = JobQueries(["other.json", text]) }
        #expect(filter.admits(try Self.node(Self.line + Self.rest), publishedAt: nil) == isMeant)
    }

    @Test func `a line without a time has that of its file`() throws {
        let token = try Self.node(#"{"v":1,"kind":"token","app":"weather","token":"0a","verdict":"gone"}"#)
        let filter = Self.filter { $0.since = Self.noon }
        #expect(filter.admits(token, publishedAt: Self.noon))
        #expect(!filter.admits(token, publishedAt: Self.noon + .seconds(-1)))
        #expect(filter.admits(token, publishedAt: nil))
    }

    @Test(arguments: [
        (["a", "", "7"], "a,,7"), (["a,b"], #""a,b""#), ([#"a"b"#], #""a""b""#),
        (["é ", "50%", "a%25.json"], "é ,50%,a%25.json"), ([], ""),
    ])
    func `fields are quoted where they must be`(fields: [String], row: String) {
        #expect(String(decoding: FeedbackTable.row(fields), as: UTF8.self) == row + "\r\n")
    }

    @Test(arguments: [
        (["a\nb", "c\rd"], "a%0Ab,c%0Dd"), (["\u{1B}]52;c;eA==\u{7}"], "%1B]52;c;eA==%07"),
        (["a\tb", "\u{7F}", "\u{9B}1m", "é\0"], "a%09b,%7F,%C2%9B1m,é%00"),
        (["\u{202E}nosj.a", "\u{2028}"], "%E2%80%AEnosj.a,%E2%80%A8"), (["\r\n"], "%0D%0A"),
    ])
    func `what a terminal would obey is escaped in a table`(fields: [String], row: String) {
        #expect(String(decoding: FeedbackTable.row(fields), as: UTF8.self) == row + "\r\n")
    }

    @Test(arguments: [
        (["=1+1", "+1", "-a", "@a"], "'=1+1,'+1,'-a,'@a"), ([#"=HYPERLINK("x","y")"#], #""'=HYPERLINK(""x"",""y"")""#),
        (["-7", "-", "-1+1", "--7"], "-7,'-,'-1+1,'--7"), (["a=1", "7", "'=1", "\t=1"], "a=1,7,'=1,%09=1"),
    ])
    func `what a spreadsheet would compute has an apostrophe before it, and numbers have not`(
        fields: [String], row: String
    ) {
        #expect(String(decoding: FeedbackTable.row(fields), as: UTF8.self) == row + "\r\n")
    }

    @Test func `nobody who drops a job writes a table's commands`() throws {
        let text = #"{"kind":"job","job":"=cmd|a.json","id":"7T","ref":"\u001b]52;c;eA==\u0007","token":"0a"}"#
        let row = String(decoding: FeedbackTable.row(of: try Self.node(text)), as: UTF8.self)
        #expect(row.hasPrefix("job,,,'=cmd|a.json,7T,%1B]52;c;eA==%07,,0a,,"), "\(row)")
    }

    @Test func `the table has a column for every member of every kind of line`() throws {
        let writer = FeedbackLine(app: "weather", node: "n")
        var bytes: [UInt8] = []
        let identity = JobIdentity(name: try #require(FileName("a.json")), id: JobID(bits: 7), ref: "r")
        var report = JobReport(
            identity, Conclusion(tally: Tally(), fault: .expired), notificationCount: 1, at: Self.noon)
        report.claimedAt = Self.noon
        report.isKnownComplete = false
        report.earlier = SentTwin(id: JobID(bits: 8), endedAt: Self.noon)
        writer.appendJob(report, to: &bytes)
        writer.appendToken(DeviceToken(bytes: [1]), goneSince: Self.noon, to: &bytes)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let node = try Self.node(String(decoding: line, as: UTF8.self))
            let keys = node.members.map(\.key.text).filter { $0 != "v" }
            #expect(Set(keys).isSubset(of: FeedbackTable.columns))
            let cells = String(decoding: FeedbackTable.row(of: node), as: UTF8.self).split(
                separator: ",", omittingEmptySubsequences: false)
            let told = node.members.filter { !$0.value.text.isEmpty && $0.key.text != "v" }
            #expect(cells.count == FeedbackTable.columns.count)
            #expect(cells.filter { !$0.isEmpty && $0 != "\r\n" }.count == told.count)
        }
    }

    @Test func `of each node all files up to the newest that was read are known`() throws {
        func name(_ second: Int, _ node: String) throws -> FeedbackFileName {
            try #require(FeedbackFileName(Array("20261121T0836\(second).000000Z-\(node).jsonl".utf8)))
        }
        var cursor = FeedbackCursor()
        cursor.pass(try name(30, "a"))
        cursor.pass(try name(20, "a"))
        #expect(try !cursor.isNew(name(30, "a")) && !cursor.isNew(name(10, "a")))
        #expect(try cursor.isNew(name(31, "a")) && cursor.isNew(name(10, "b")))
        #expect(FeedbackFileName(Array(".x.jsonl".utf8)) == nil && FeedbackFileName(Array("x.tmp".utf8)) == nil)
        let stray = try #require(FeedbackFileName(Array("all.jsonl".utf8)))
        cursor.pass(stray)
        #expect(!cursor.isNew(stray))
        // Names that are not the daemon's share one place in the cursor.
        for text in ["a.jsonl", "99991121T083600.000000Z-a.jsonl", "20261399T083600.000000Z-a.jsonl", "b.jsonl"] {
            cursor.pass(try #require(FeedbackFileName(Array(text.utf8))))
        }
        #expect(cursor.text == "20261121T083630.000000Z-a.jsonl/b.jsonl")
        #expect(try cursor.isNew(name(31, "a")) && !cursor.isNew(name(30, "a")))
    }

    @Test func `the least elements are those of a sorted list`() {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            let limit = Int.random(in: 1...9, using: &random)
            let all = (0..<Int.random(in: 0...60, using: &random)).map { _ in Int.random(in: 0...30, using: &random) }
            var least = LeastElements<Int>(limit: limit)
            for element in all { least.add(element) }
            #expect(least.sorted == Array(all.sorted().prefix(limit)), "seed \(seed)")
        }
    }

    @Test func `a token that is gone keeps the newest time, whatever the order`() throws {
        for seed in UInt64(0)..<50 {
            var random = SeededGenerator(seed: seed)
            var newest: [String: Int] = [:]
            var gone = GoneList()
            for _ in 0..<40 {
                let token = "0\(Int.random(in: 0...3, using: &random))"
                let day = Int.random(in: 10...28, using: &random)
                newest[token] = max(newest[token] ?? 0, day)
                let text = #"{"app":"a","token":"\#(token)","verdict":"gone","gone_since":"2026-10-\#(day)T00:00:00Z"}"#
                gone.note(try Self.node(text))
            }
            var found: [String] = []
            gone.forEach { found.append("\($0.address.text) \($0.goneSince?.day ?? "")") }
            let wanted = newest.sorted { $0.key < $1.key }.map { "\($0.key) 2026-10-\($0.value)" }
            #expect(found == wanted, "seed \(seed)")
        }
    }

    @Test func `a token without a time, or with another verdict, makes up none`() throws {
        var gone = GoneList()
        gone.note(try Self.node(#"{"app":"a","token":"01","verdict":"gone"}"#))
        gone.note(try Self.node(#"{"app":"a","token":"02","verdict":"invalid"}"#))
        var rows: [[String]] = []
        gone.forEach { rows.append($0.fields) }
        #expect(rows == [["a", "01", "", ""]])
    }

    @Test func `an installation that is gone is listed under its own key`() throws {
        var gone = GoneList()
        gone.note(try Self.node(#"{"app":"a","fid":"dQw4w9WgXcQ-_AbCdEfGhI","verdict":"gone"}"#))
        var rows: [GoneList.Row] = []
        gone.forEach { rows.append($0) }
        #expect(rows.map(\.fields) == [["a", "", "", "dQw4w9WgXcQ-_AbCdEfGhI"]])
        let json = rows.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(json == [#"{"app":"a","fid":"dQw4w9WgXcQ-_AbCdEfGhI"}"# + "\n"])
    }

    @Test(arguments: [
        ("7d", "2026-11-14T12:00:00.000Z"), ("90m", "2026-11-21T10:30:00.000Z"), ("0", "2026-11-21T12:00:00.000Z"),
        ("2026-11-20", "2026-11-20T00:00:00.000Z"), ("2026-11-20T01:02:03Z", "2026-11-20T01:02:03.000Z"),
    ])
    func `a point in time is read as people write it`(text: String, time: String) throws {
        #expect(try SinceText.parse(text, now: Self.noon).rfc3339 == time)
    }

    @Test(arguments: ["", "yesterday", "7", "2026-13-01", "2026-11-21T08:00", "-7d"])
    func `what is no point in time is refused with what would be one`(text: String) {
        #expect(throws: TextFault.self) { try SinceText.parse(text, now: Self.noon) }
    }
}
