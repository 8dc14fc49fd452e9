import Document
import JSON
import JobFormat
import PushModel
import SpoolModel
import Synchronization
import TestSupport
import Testing

/// Lines that are recognized without a parser, because they differ from the last one only in the address. Spaces at the end of a
/// line mean nothing; as many as no other line has make it unusual.
struct UsualLineTests {
    /// Counts the lines that are parsed.
    private final class Count: Sendable {
        let value = Atomic(0)
    }

    private struct CountingParser: DocumentParser {
        var parser = JSON.Parser()
        let count: Count

        mutating func parse(_ source: [UInt8], range: Range<Int>, into tape: inout Tape) throws(Diagnostic) {
            count.value.add(1, ordering: .relaxed)
            try parser.parse(source, range: range, into: &tape)
        }
    }

    private static let head = "{\"job\":{\"record\":\"all\"},\"defaults\":{\"payload\":{\"aps\":{\"alert\":\"x\"}}}}\n"
    private static let messageHead = "{\"defaults\":{\"notification\":{\"body\":\"x\"}}}\n"
    private static let digits = String(repeating: "b1", count: 32)
    private static let lineForms = ["\"", "{\"token\":\"", "{ \"token\" : \"", "\t{\"to\\u006ben\":\""]

    /// What follows the token in a line of this form.
    private static func ending(_ form: String) -> String { form == "\"" ? "\"" : "\"}\r" }

    @Test(arguments: lineForms) func `usual lines are not parsed`(form: String) {
        let line = form + Self.digits + Self.ending(form) + "\n"
        let read = Self.read(Self.head + String(repeating: line, count: 100), context())
        #expect(read.batches == [100])
        // The first line, and the first recipient, which begins the run.
        #expect(read.parsedLineCount == 2)
    }

    @Test(arguments: lineForms) func `usual lines of FCM's tokens of any length are not parsed`(form: String) {
        let lines = (0..<100).map { number in
            form + "cD_-:" + String(repeating: "z", count: 137 + number % 23) + Self.ending(form) + "\n"
        }
        let read = Self.read(Self.messageHead + lines.joined(), context(.fcm))
        #expect(read.batches == [100])
        #expect(read.parsedLineCount == 2)
    }

    @Test func `a usual line that is too long is refused`() {
        var context = context(.fcm)
        context.limits.lineByteCount = 200
        let lines = [20, 198, 199].map { "\"" + String(repeating: "z", count: $0) + "\"\n" }
        let job = ReadJob.lines(Array((Self.messageHead + lines.joined()).utf8), context)
        #expect(job.sent.count == 2)
        #expect(job.summary.fault?.message == "the line is longer than 200 bytes")
        #expect(job.summary.fault?.place?.line == 4)
    }

    private static func read(_ job: String, _ context: JobContext) -> (batches: [Int]?, parsedLineCount: Int) {
        let count = Count()
        var reader = LinesJobReader(parser: CountingParser(count: count), context: context)
        reader.append(Array(job.utf8))
        reader.finish()
        return (reader.next()?.batches.map(\.count), count.value.load(ordering: .relaxed))
    }

    @Test(arguments: Carrier.allCases) func `a usual line means what the parser says`(carrier: Carrier) {
        for seed in UInt64(0)..<100 {
            var random = SeededGenerator(seed: seed)
            let (rows, piece) = (Self.rows(&random), Int.random(in: 1...4000, using: &random))
            let spaced = rows.enumerated().map { $1 + Array(repeating: UInt8(ascii: " "), count: $0) }
            let (plain, padded) = (Self.job(rows, carrier, piece: piece), Self.job(spaced, carrier))
            #expect(plain.sent == padded.sent && plain.allLines == padded.allLines, "seed \(seed)")
            #expect(plain.summary.failure == padded.summary.failure, "seed \(seed)")
        }
    }

    private static func job(_ rows: [[UInt8]], _ carrier: Carrier, piece: Int = .max) -> ReadJob {
        let first = carrier == .fcm ? messageHead : head
        return ReadJob.lines(Array(first.utf8) + rows.flatMap { $0 + [0x0A] }, context(carrier), piece: piece)
    }

    /// Lines of which most have the form of the one before.
    private static func rows(_ random: inout SeededGenerator) -> [[UInt8]] {
        let forms = lineForms + ["{\"token\" :\"", "{\"fid\":\"", "{\"badge\":null,\"token\":\""]
        var form = ""
        return (0..<40).map { number in
            if number == 0 || Int.random(in: 0..<6, using: &random) == 0 {
                form = forms.randomElement(using: &random) ?? ""
            }
            return Array(form.utf8) + text(&random) + Array(ending(form).utf8)
        }
    }

    /// The text of a token: usual in half of the cases, no JSON in one of forty.
    private static func text(_ random: inout SeededGenerator) -> [UInt8] {
        let isLong = Int.random(in: 0..<3, using: &random) == 0
        var text = Array((isLong ? "c:" + digits + digits : digits).utf8)
        if Bool.random(using: &random) {
            let isText = Int.random(in: 0..<20, using: &random) > 0
            let alphabet =
                Array("0123456789abcdefABCDEF-_:<> g=".utf8) + (isText ? [] : Array("\"\\".utf8) + [0xFF, 0])
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                text[Int.random(in: text.indices, using: &random)] = alphabet.randomElement(using: &random) ?? 0
            }
            text = Array(text.prefix([0, 1, 2, 32, 63, 64, 64, 65, 130].randomElement(using: &random) ?? 64))
        }
        return text
    }
}
