import Document
import JobFormat
import JournalModel
import PushModel
import SpoolModel
import Testing

@Suite struct EndedJobTests {
    private static func result(_ name: String, accepted: Int, of count: Int) throws -> ResultFile {
        var tally = Tally()
        tally.add(accepted, to: .accepted)
        tally.add(count - accepted, to: .rejected)
        let identity = JobIdentity(name: try #require(FileName(name)), id: JobID(bits: 7))
        var report = JobReport(
            identity, Conclusion(tally: tally, fault: nil), notificationCount: count, at: WallTime(epochSeconds: 0))
        report.path = "weather/done/2026-11-21/\(identity.name)"
        return ResultFile(report)
    }

    private static func last(_ name: String, _ text: String, isStart: Bool = true) throws -> EndedJob? {
        EndedJob.last(of: try #require(FileName(name)), in: Array(text.utf8), isStart: isStart)
    }

    @Test func `a job of which everything was accepted has a short line`() throws {
        let result = try Self.result("a b%.json", accepted: 1, of: 1)
        let line = EndedJob.line(result.report, result, inode: 12)
        #expect(String(decoding: line, as: UTF8.self) == "a b%25.json\t12\tdone/2026-11-21/a b%25.json\t{}\n")
    }

    @Test func `a line gives back the path and the result`() throws {
        let result = try Self.result("a.json", accepted: 1, of: 2)
        let text = String(decoding: EndedJob.line(result.report, result, inode: 12), as: UTF8.self)
        let job = try #require(try Self.last("a.json", text))
        #expect(job.path == "done/2026-11-21/a.json")
        #expect(job.result == result.bytes.filter { $0 != 0x0A })
    }

    @Test func `a line has no indexes and few findings of a long result`() throws {
        var result = try Self.result("a.json", accepted: 1, of: 200_000)
        result.reasons = [.rejected: ["Unregistered": 199_999]]
        result.runs = [.rejected: IndexRuns((0..<50_000).map { $0 * 3..<$0 * 3 + 1 })]
        let words = String(repeating: "x", count: 99)
        for number in 0..<1_000 { result.findings.add(Diagnostic("finding \(number) \(words)")) }
        let text = String(decoding: EndedJob.line(result.report, result, inode: 12), as: UTF8.self)
        let job = try Self.last("a.json", text)
        let line = String(decoding: try #require(job?.result), as: UTF8.self)
        #expect(line.utf8.count < 8_000 && line.contains(#""errors": 1000"#) && line.contains(#""indexes_incomplete""#))
        #expect(line.contains(#""reasons": {"rejected":{"Unregistered":199999}}"#), "\(line)")
    }

    @Test(arguments: [
        ("", nil), ("a.json\t1\tdone/d/a.json\t{}", nil), ("a.json\t1\tdone/d/a.json\n", nil),
        ("a.json\t1\tdone/d/x\t{}\na.json\t1\tdone/d/y\t{}\nb.json\t1\tdone/d/z\t{}\n", "done/d/y"),
        ("a.json\t1\tdone/d/x\t{}\na.json\t1\tdone/d/y\t{", "done/d/x"),
        ("aa.json\t1\tdone/d/x\t{}\n", nil), ("\0\0\na.json\t1\tdone/d/x\t{}\n", "done/d/x"),
    ])
    func `the last complete line about a job counts`(text: String, path: String?) throws {
        #expect(try Self.last("a.json", text)?.path == path)
    }

    @Test func `what may be the end of a line is none`() throws {
        let text = "a.json\t1\tdone/d/x\t{}\n"
        #expect(try Self.last("a.json", text, isStart: false) == nil)
        #expect(try Self.last("a.json", "n\n" + text, isStart: false)?.path == "done/d/x")
    }
}
