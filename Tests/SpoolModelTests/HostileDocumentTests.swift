import Document
import JSON
import PushModel
import Synchronization
import TestSupport
import Testing

@testable import JobFormat
@testable import SpoolModel

/// Documents that are made to take long.
@Suite struct HostileDocumentTests {
    /// How often something was done.
    private final class Count: Sendable {
        let value = Mutex(0)

        func add() -> Int {
            value.withLock {
                $0 += 1; return $0
            }
        }
    }

    /// A job of so many recipients of whom each is a fault or two.
    static let shapes: [String] = ["\"(null)\"", "\"\"", "7", "{}", "{\"token\":\"?\"}", "{\"tokn\":1,\"allert\":2}"]

    private static func recipients(_ unit: String, _ count: Int, more: String = "") -> String {
        "{\"alert\":\"x\"\(more),\"recipients\":[" + Array(repeating: unit, count: count).joined(separator: ",") + "]}"
    }

    @Test(.catalogue("J71 hostile-documents, faults beyond the first thousand", checks: []), arguments: shapes)
    func `all faults are counted, and the first thousand put into words`(unit: String) {
        let summary = json(Self.recipients(unit, 3_000)).summary
        #expect(summary.rejectedCount == 3_000 && summary.recipientCount == 3_000)
        #expect(summary.report.diagnostics.count == Report.capacity)
        #expect(summary.report.errorCount % 3_000 == 0 && summary.report.errorCount >= 3_000)
        #expect(lines(Array(repeating: unit, count: 3_000).joined(separator: "\n")).summary.rejectedCount == 3_000)
    }

    @Test(arguments: [1, 10, 1_000])
    func `what there is no room for is not put into words`(room: Int) {
        let made = Count()
        var findings = Findings(at: .root, room: room)
        for _ in 0..<5_000 {
            findings.add(.badValue, Diagnostic("\(made.add())"), about: "")
            findings.warn(Diagnostic("\(made.add())"), about: "")
        }
        #expect(made.value.withLock { $0 } == 2 * room)
        #expect(findings.faults.count + findings.unworded.faults == 5_000)
        #expect(findings.warnings.count + findings.unworded.warnings == 5_000)
    }

    @Test func `a mapping of many unknown keys is told of a thousand times`() {
        let keys = (0..<20_000).map { "\"k\($0)\":1" }.joined(separator: ",")
        let token = String(repeating: "0A", count: 32)
        let summary = json("{\"token\":\"\(token)\",\"alert\":{\(keys)}}").summary
        #expect(summary.report.diagnostics.count == Report.capacity && summary.report.warningCount == 20_000)
        #expect(summary.failure == .invalid && summary.fault.map(summary.report.diagnostics.contains) == true)
    }

    @Test func `a strict job fails for its first rejection, also when a thousand warnings came before`() {
        let warned = "{\"token\":\"0A\",\"alert\":{\"bodi\":\"x\"}}"
        let units = Array(repeating: warned, count: 1_500) + ["{\"token\":\"?\"}"]
        let summary = json("{\"strict\":true,\"alert\":\"x\",\"recipients\":[\(units.joined(separator: ","))]}").summary
        #expect(summary.failure == .invalid && summary.fault?.path == "recipients[1500].token")
    }

    @Test func `a chunk is made of no more than a certain part of the file`() {
        let unit = "{\"token\":\"0A\",\"tokn\":\"\(String(repeating: "x", count: 10_000))\"}"
        for job in [
            json(Self.recipients(unit, 100)), lines(Array(repeating: unit, count: 100).joined(separator: "\n")),
        ] {
            #expect(job.chunks.allSatisfy { $0.indices.count <= JobChunk.byteLimit / 10_000 + 1 })
            #expect(job.chunks.dropLast().allSatisfy { $0.weight >= JobChunk.capacity })
            #expect(job.sent.map(\.index) == Array(0..<100))
        }
    }

    @Test func `a first line as long as a chunk does not end the reading`() {
        var context = context()
        context.limits.lineByteCount = 1 << 20
        let custom = String(repeating: "x", count: JobChunk.byteLimit)
        let text = "{\"defaults\":{\"alert\":\"\(custom)\"}}\n\"0A\"\n\"0B\"\n"
        #expect(lines(text, context).summary.recipientCount == 2)
    }

    @Test(arguments: ["\"token\":\"0A\",\"x\":", "\"token\":"])
    func `a recipient that takes too much of the file is refused unread`(start: String) {
        let long = "{\(start)\"\(String(repeating: "a", count: JobChunk.byteLimit))\"}"
        let job = json(Self.recipients(long, 1))
        #expect(job.sent.map(\.reason) == ["BadValue"])
        #expect(job.lines.first?.contains(#/recipients\[0\]: has \d+ bytes in the file; the limit is /#) == true)
    }

    @Test func `a long shorthand of the job is not put together with those of each recipient`() {
        let custom = ",\"custom\":{\"a\":\"\(String(repeating: "x", count: 100_000))\"}"
        let job = json(Self.recipients("{\"token\":\"0A\",\"badge\":1}", 200, more: custom))
        #expect(job.sent.allSatisfy { $0.reason == "PayloadTooLarge" } && job.sent.count == 200)
        #expect(job.summary.rejectedCount == 200)
    }

    @Test func `a job whose budget is spent fails and says so`() {
        let asked = Count()
        let budget = ReadingBudget { asked.add() > 2 ? Diagnostic("over") : nil }
        var parser = JSON.Parser()
        let source = Array(Self.recipients("\"0A\"", 100_000).utf8)
        var reader = DocumentJobReader(parsing: source, with: &parser, context: context())
        let summary = reader.validate(within: budget)
        #expect(summary.failure == .invalid && summary.fault == Diagnostic("over"))
        #expect(summary.recipientCount < 10_000)
    }

    @Test func `lines of which no more may be read are a job that fails`() {
        var reader = LinesJobReader(parser: JSON.Parser(), context: context())
        reader.append(Array("\"0A\"\n\"0B\"\n".utf8))
        reader.giveUp(Diagnostic("over"))
        #expect(reader.next() == nil)
        #expect(reader.summary.failure == .invalid && reader.summary.fault == Diagnostic("over"))
    }
}
