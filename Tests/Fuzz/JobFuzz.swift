import Document
import JSON
import JobFormat
import PushModel
import SpoolModel
import YAML

/// Job files. Reading one twice, in other pieces, or in lines that only the parser knows, must find the same.
enum JobFuzz {
    /// What a reader found, short enough to be compared.
    private struct Finding: Equatable {
        var sent: [UInt8] = []
        var indices: [Range<Int>] = []
        var summary = ""

        mutating func add(_ chunk: JobChunk) {
            indices.append(chunk.indices)
            for batch in chunk.batches {
                for index in batch.indices {
                    sent += batch.addressBytes(at: index)
                    sent += batch.payload(at: index)
                }
            }
        }

        mutating func end(_ summary: JobSummary) {
            self.summary = "\(summary.recipientCount) \(summary.rejectedCount) \(summary.isSealed) "
            self.summary += "\(String(describing: summary.failure)) \(String(describing: summary.fault))"
            promise(indices.reduce(0) { $0 + $1.count } <= summary.recipientCount, "more chunks than recipients")
        }
    }

    /// The first byte chooses carrier and way of publishing, the second the cuts, the rest is a `.jsonl` file.
    static func runLines(_ input: Span<UInt8>) {
        guard input.count > 2 else { return }
        let (context, source) = (context(input[0]), input.extracting(droppingFirst: 2).array)
        var cuts = Cuts(seed: input[1])
        let whole = lines(source, context) { $0 }
        let cut = lines(source, context) { cuts.next(upTo: $0) }
        promise(whole == cut, "cuts make a difference:\n\(whole)\n\(cut)")
        // Spaces before a line feed mean nothing. As many as no other line has make a line unusual.
        let padded = lines(spaced(source), context) { $0 }
        promise(whole.sent == padded.sent, "spaces at the end of lines make a difference:\n\(whole)\n\(padded)")
        // Where each line occurs twice, the second one is usual if any is. Places and ids differ, the rest must not.
        let (twice, spacedTwice) = (twice(source), spaced(twice(source)))
        promise(
            lines(twice, context) { $0 }.sent == lines(spacedTwice, context) { $0 }.sent,
            "spaces at the end of repeated lines make a difference:\n\(whole)")
    }

    /// Puts one more space than before at the end of each line, up to 63.
    private static func spaced(_ source: [UInt8]) -> [UInt8] {
        var count = 0
        return source.flatMap { byte -> [UInt8] in
            guard byte == 0x0A else { return [byte] }
            count = (count + 1) % 64
            return Array(repeating: 0x20, count: count) + [byte]
        }
    }

    /// Repeats each line but the first, which may describe the job.
    private static func twice(_ source: [UInt8]) -> [UInt8] {
        let rows = source.split(separator: 0x0A, omittingEmptySubsequences: false)
        let repeated = rows.dropFirst().dropLast().flatMap { [$0, $0] }
        return Array(([rows[0]] + repeated + rows.dropFirst().suffix(1)).joined(separator: [0x0A]))
    }

    private static func lines(_ source: [UInt8], _ context: JobContext, cut: (Int) -> Int) -> Finding {
        var reader = LinesJobReader(parser: JSON.Parser(limits: context.limits.perLine), context: context)
        var finding = Finding()
        var rest = source[...]
        while !rest.isEmpty {
            let count = cut(rest.count)
            reader.append(rest.prefix(count))
            rest = rest.dropFirst(count)
            while let chunk = reader.next() { finding.add(chunk) }
        }
        reader.finish()
        while let chunk = reader.next() { finding.add(chunk) }
        finding.end(reader.summary)
        return finding
    }

    /// The first byte chooses carrier, way of publishing and parser, the rest is a document.
    static func runDocument(_ input: Span<UInt8>) {
        guard let first = input.isEmpty ? nil : input[0] else { return }
        let source = input.extracting(droppingFirst: 1).array
        if first & 8 == 0 {
            document(source, JSON.Parser(), context(first))
        } else {
            document(source, YAML.Parser(), context(first))
        }
    }

    private static func document(_ source: [UInt8], _ parser: some DocumentParser, _ context: JobContext) {
        var parser = parser
        var reader = DocumentJobReader(parsing: source, with: &parser, context: context)
        let (first, second) = (walk(&reader), walk(&reader))
        promise(first == second, "the second walk differs:\n\(first)\n\(second)")
    }

    private static func walk(_ reader: inout DocumentJobReader) -> Finding {
        var finding = Finding()
        while let chunk = reader.next() { finding.add(chunk) }
        finding.end(reader.summary)
        reader.rewind()
        return finding
    }

    private static func context(_ choice: UInt8) -> JobContext {
        // The bits of the older corpus keep their meaning.
        let carriers: [Carrier] = [.http2, .frame, .enhanced, .simple]
        let noon = WallTime(epochSeconds: 1_795_262_400)
        let carrier = choice & 16 == 0 ? carriers[Int(choice & 3)] : .fcm
        var context = JobContext(job: JobID(bits: 77), droppedAt: noon, carrier: carrier) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
        context.topic = "com.example.app"
        context.isPublishedByRename = choice & 4 == 0
        context.toleratesUnknownFields = choice & 32 != 0
        return context
    }
}
