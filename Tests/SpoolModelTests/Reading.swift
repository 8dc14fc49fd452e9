import APNSModel
import Document
import JSON
import JobFormat
import PushModel
import SpoolModel
import YAML

/// What would be sent of one recipient, or why nothing is.
struct Sent: Hashable {
    var index: Int
    var token: String?
    var payload: String?
    var attributes: Attributes?
    var onDoubt: OnDoubt?
    var reason: String?
}

/// A job as two passes over it see it.
struct ReadJob {
    var summary: JobSummary
    var sent: [Sent] = []
    var chunks: [JobChunk] = []

    /// The diagnostics but for that of short tokens: those of most tests are, so that they can be read.
    var diagnostics: [Diagnostic] {
        summary.report.inOrder.filter { $0.severity == .error || !$0.message.hasPrefix("the token has ") }
    }
    /// The same as compilers would print them.
    var lines: [String] { diagnostics.map { $0.rendered(file: "job") } }
    /// All diagnostics in the order of the file.
    var allLines: [String] { summary.report.inOrder.map { $0.rendered(file: "job") } }
    /// The payloads alone.
    var payloads: [String] { sent.compactMap(\.payload) }

    private mutating func add(_ chunk: JobChunk) {
        chunks.append(chunk)
        for batch in chunk.batches {
            for index in batch.indices {
                sent.append(
                    Sent(
                        index: index, token: String(spelledBy: batch.address(at: index).append),
                        payload: String(decoding: batch.payload(at: index), as: UTF8.self),
                        attributes: batch.attributes, onDoubt: batch.onDoubt))
            }
        }
        for recipient in chunk.rejected {
            sent.append(
                Sent(
                    index: recipient.index, token: recipient.address.map { String(spelledBy: $0.append) },
                    reason: recipient.refusal.reason))
        }
        sent.sort { $0.index < $1.index }
    }

    /// Reads a document: once to see whether it may be sent, once to send it.
    static func document(_ source: [UInt8], _ parser: some DocumentParser, _ context: JobContext) -> ReadJob {
        var parser = parser
        var reader = DocumentJobReader(parsing: source, with: &parser, context: context)
        var job = ReadJob(summary: reader.validate())
        while let chunk = reader.next() { job.add(chunk) }
        return job
    }

    /// Reads lines in pieces of this many bytes.
    static func lines(_ source: [UInt8], _ context: JobContext, piece: Int = .max) -> ReadJob {
        var reader = LinesJobReader(parser: JSON.Parser(limits: context.limits.perLine), context: context)
        var job = ReadJob(summary: reader.summary)
        var rest = source[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let chunk = reader.next() { job.add(chunk) }
        }
        reader.finish()
        while let chunk = reader.next() { job.add(chunk) }
        job.summary = reader.summary
        return job
    }
}

/// The drop of every job of these tests.
let noon = WallTime(epochSeconds: 1_795_262_400)

/// Returns a context for the carrier.
func context(_ carrier: Carrier = .http2, inPlace: Bool = false) -> JobContext {
    var context = JobContext(job: JobID(bits: 77), droppedAt: noon, carrier: carrier) { text throws(Diagnostic) in
        var parser = JSON.Parser()
        return try parser.parse(text)
    }
    context.topic = "com.example.app"
    context.isPublishedByRename = !inPlace
    return context
}

/// Reads a JSON document.
func json(_ text: String, _ context: JobContext = context()) -> ReadJob {
    ReadJob.document(Array(text.utf8), JSON.Parser(), context)
}

/// Reads a YAML document.
func yaml(_ text: String, _ context: JobContext = context()) -> ReadJob {
    ReadJob.document(Array(text.utf8), YAML.Parser(), context)
}

/// Reads lines.
func lines(_ text: String, _ context: JobContext = context(), piece: Int = .max) -> ReadJob {
    ReadJob.lines(Array(text.utf8), context, piece: piece)
}
