import Document
import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

struct LinesTests {
    private let head = #"{"job":{"id":"r","record":"all"},"defaults":{"alert":"x","priority":5}}"# + "\n"

    @Test func `a line is a token or a recipient, the first may speak for all`() {
        let job = lines(head + "\"0A\"\n{\"token\":\"0B\"}\n{\"token\":\"0C\",\"badge\":2}\r\n")
        #expect(job.sent.map(\.token) == ["0a", "0b", "0c"] && job.lines.isEmpty)
        #expect(job.payloads.last == #"{"aps":{"alert":"x","badge":2}}"#)
        #expect(job.summary.header.ref == "r" && job.summary.header.record == .all)
        #expect(job.summary.recipientCount == 3 && job.summary.endsInNewline && !job.summary.isSealed)
    }

    @Test(arguments: [#"{"job":{}}"#, #"{"defaults":{}}"#, #"{"job":null,"defaults":null}"#])
    func `either part of the first line may be missing`(first: String) {
        let job = lines(first + "\n{\"token\":\"0A\",\"alert\":\"x\"}\n")
        #expect(job.sent.map(\.token) == ["0a"] && job.lines.isEmpty)
    }

    @Test func `a file may do without a first line`() {
        #expect(lines("{\"token\":\"0A\",\"alert\":\"x\"}\n").payloads == [#"{"aps":{"alert":"x"}}"#])
        #expect(lines("\"0A\"\n").sent.map(\.reason) == ["PayloadEmpty"])
    }

    @Test(arguments: [
        (
            "{\"job\":{\"alert\":\"x\"}}\n",
            "job:1:9: error: job: the key `alert` is not allowed here\nhint: put it into `defaults`"
        ),
        (
            "{\"defaults\":{\"id\":\"x\"}}\n",
            "job:1:14: error: defaults: the key `id` is not allowed here\nhint: put it into `job`"
        ),
        (
            "{\"defaults\":{\"token\":\"x\"}}\n",
            "job:1:14: error: defaults: the key `token` is not allowed here\nhint: put recipients on the lines below"
        ),
        (
            "{\"defaults\":{\"priority\":7}}\n",
            "job:1:25: error: defaults.priority: must be 10, 5 or 1, unquoted (got `7`)"
        ),
        (
            "{\"defaults\":{},\"token\":\"x\"}\n",
            "job:1:16: error: the key `token` is unknown in the first line\nhint: use `job` and `defaults` there; recipients go on the lines below"
        ),
        ("{\"job\":[]}\n", "job:1:8: error: job: expected an object, found an array"),
    ])
    func `a fault of the first line fails the job`(first: String, line: String) {
        let job = lines(first + "{\"token\":\"0A\",\"alert\":\"x\"}\n")
        #expect(job.lines.first == line && job.summary.failure == .invalid)
    }

    @Test(arguments: [
        ("\n", "the line is blank"), (" \t\r\n", "the line is blank"), ("0A\n", nil), ("{\"token\":\n", nil),
        ("\"0A\" \"0B\"\n", nil),
    ])
    func `a line that is no JSON fails the job, at its place, and ends the list`(line: String, message: String?) {
        let job = lines(head + "\"0A\"\n\(line)\"!\"\n\"0B\"\n")
        #expect(job.summary.failure == .invalid && job.lines.count == 1)
        #expect(job.summary.fault?.place?.line == 3)
        if let message { #expect(job.summary.fault?.message == message) }
    }

    @Test(arguments: ["\n", "\n\n", " \t\r\n\n"])
    func `blank lines at the end are no fault`(end: String) {
        for piece in [1, Int.max] {
            let job = lines(head + "\"0A\"\n\"0B\"\n\(end)", piece: piece)
            #expect(job.summary.failure == nil && job.summary.endsInNewline && job.diagnostics.isEmpty)
            #expect(job.sent.count == 2)
        }
        #expect(lines(end).summary.failure == .invalid)
    }

    @Test(arguments: ["17", "null", "[]", "true", "{}", "{\"job\":{}}", "\"\"", "{\"token\":7}"])
    func `a line of JSON with a bad value rejects that recipient`(line: String) {
        let job = lines(head + "\"0A\"\n\(line)\n\"0B\"\n")
        #expect(job.summary.failure == nil && job.summary.rejectedCount == 1)
        #expect(job.sent.map { $0.reason == nil } == [true, false, true])
        #expect(job.diagnostics.allSatisfy { $0.place?.line == 3 })
    }

    @Test func `a line has a limit, whether it ends or not`() {
        for ending in ["\n\"0B\"\n", ""] {
            let long = "\"" + String(repeating: "a", count: 16 << 10) + "\"" + ending
            for piece in [1000, Int.max] {
                let job = lines(head + long, piece: piece)
                #expect(job.summary.failure == .invalid)
                #expect(job.summary.fault?.message == "the line is longer than 16384 bytes")
                #expect(job.summary.fault?.place?.line == 2)
            }
        }
    }

    @Test func `a last line without an end counts if the file was renamed into place`() {
        let text = head + "\"0A\"\n\"0B\""
        #expect(lines(text).sent.count == 2 && lines(text).summary.failure == nil)
        let job = lines(text, context(inPlace: true))
        #expect(job.summary.failure == .incomplete && !job.summary.endsInNewline)
        #expect(job.summary.fault?.message == "the last line has no line feed" && job.summary.fault?.place?.line == 3)
    }

    @Test func `a count that agrees makes up for the missing end`() {
        let text = #"{"job":{"count":2},"defaults":{"alert":"x"}}"# + "\n\"0A\"\n\"0B\""
        let job = lines(text, context(inPlace: true))
        #expect(job.summary.failure == nil && job.summary.isSealed && job.sent.count == 2)
        #expect(lines(text + "\n\"0C\"\n").summary.failure == .incomplete)
    }

    @Test func `an empty file is incomplete, a first line alone is no job`() {
        #expect(lines("").summary.failure == .incomplete)
        #expect(lines(head).summary.failure == .invalid)
        #expect(lines("\"0", context(inPlace: true)).summary.failure == .incomplete)
    }

    @Test func `a byte order mark is no part of the first line`() {
        #expect(lines("\u{FEFF}" + head + "\"0A\"\n").sent.map(\.token) == ["0a"])
    }
}

struct LineChunkTests {
    /// A file of good and bad recipients, with and without payloads of their own.
    private func text(_ random: inout SeededGenerator, count: Int) -> String {
        var text = #"{"job":{"id":"r"},"defaults":{"alert":"x"}}"# + "\n"
        for index in 0..<count {
            switch Int.random(in: 0..<12, using: &random) {
            case 0: text += "{\"token\":\"0A\",\"badge\":\(index)}\n"
            case 1: text += "\"x!\"\n"
            case 2: text += "{\"token\":\"0B\",\"priority\":5}\r\n"
            case 3: text += "{ \"token\" : \"\\u0030C\" }\n"
            default:
                text += "\"\(String(index, radix: 16).utf8.count % 2 == 0 ? "" : "0")\(String(index, radix: 16))\"\n"
            }
        }
        return text
    }

    @Test func `chunks do not depend on how the bytes came`() {
        for seed in UInt64(0)..<12 {
            var random = SeededGenerator(seed: seed)
            let text = text(&random, count: Int.random(in: 0...1500, using: &random))
            let whole = lines(text)
            for piece in [1, 7, Int.random(in: 2...5000, using: &random)] {
                let pieces = lines(text, piece: piece)
                #expect(pieces.sent == whole.sent && pieces.lines == whole.lines, "seed \(seed)")
                #expect(pieces.chunks.map(\.indices) == whole.chunks.map(\.indices), "seed \(seed)")
                #expect(
                    pieces.chunks.map { $0.batches.map(\.indices) } == whole.chunks.map { $0.batches.map(\.indices) },
                    "seed \(seed)")
            }
        }
    }

    @Test func `chunks cover every recipient once, in order, at most 1024 at a time`() {
        var random = SeededGenerator(seed: 4)
        let job = lines(text(&random, count: 5000))
        #expect(job.sent.map(\.index) == Array(0..<5000))
        #expect(job.chunks.map(\.indices.lowerBound) == [0, 1024, 2048, 3072, 4096])
        #expect(job.chunks.allSatisfy { $0.indices.count <= JobChunk.capacity })
    }

    @Test func `bare tokens fill whole batches`() {
        let text = #"{"defaults":{"alert":"x"}}"# + "\n" + String(repeating: "\"0A0B\"\n", count: 3000)
        #expect(lines(text).chunks.map { $0.batches.map(\.count) } == [[1024], [1024], [952]])
    }
}
