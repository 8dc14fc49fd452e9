import Document
import JSON
import JobFormat
import PushModel
import SpoolModel
import Synchronization
import TestSupport
import Testing

/// Lines that are recognized without a parser. A space at the end of a line means nothing, and makes it unusual.
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
    private static let digits = String(repeating: "b1", count: 32)

    @Test(arguments: ["\"\(digits)\"", "{\"token\":\"\(digits)\"}", "{\"token\": \"\(digits)\"}\r"])
    func `usual lines are not parsed`(line: String) {
        let count = Count()
        var reader = LinesJobReader(parser: CountingParser(count: count), context: context())
        reader.append(Array((Self.head + String(repeating: line + "\n", count: 100)).utf8))
        reader.finish()
        #expect(reader.next()?.batches.map(\.count) == [100])
        // The first line, and the first recipient, which begins the run.
        #expect(count.value.load(ordering: .relaxed) == 2)
    }

    @Test(arguments: Carrier.allCases) func `a usual line means what the parser says`(carrier: Carrier) {
        for seed in UInt64(0)..<100 {
            var random = SeededGenerator(seed: seed)
            let rows = (0..<40).map { _ in Self.row(&random) }
            let (plain, padded) = (Self.job(rows, "\n", carrier), Self.job(rows, " \n", carrier))
            #expect(plain.sent == padded.sent && plain.allLines == padded.allLines, "seed \(seed)")
            #expect(plain.summary.failure == padded.summary.failure, "seed \(seed)")
        }
    }

    private static func job(_ rows: [[UInt8]], _ end: String, _ carrier: Carrier) -> ReadJob {
        ReadJob.lines(Array(head.utf8) + rows.flatMap { $0 + Array(end.utf8) }, context(carrier))
    }

    /// A line: usual in half of the cases, no JSON in one of forty.
    private static func row(_ random: inout SeededGenerator) -> [UInt8] {
        var text = Array(digits.utf8)
        if Bool.random(using: &random) {
            let isText = Int.random(in: 0..<20, using: &random) > 0
            let alphabet =
                Array("0123456789abcdefABCDEF-_:<> g=".utf8) + (isText ? [] : Array("\"\\".utf8) + [0xFF, 0])
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                text[Int.random(in: text.indices, using: &random)] = alphabet.randomElement(using: &random) ?? 0
            }
            text = Array(text.prefix([0, 1, 2, 32, 63, 64, 64].randomElement(using: &random) ?? 64))
        }
        let forms = ["\"", "{\"token\":\"", "{\"token\": \"", "{\"token\" :\"", "{\"fid\":\""]
        let opening = forms.randomElement(using: &random) ?? ""
        return Array(opening.utf8) + text + Array((opening == "\"" ? "\"" : "\"}").utf8)
    }
}
