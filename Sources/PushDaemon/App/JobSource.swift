import APNSModel
import Document
import JSON
import LinuxIO
import SpoolModel
import SpoolStore
import YAML

/// A job file being read: one document held as a tape, or lines read again from the file.
struct JobSource {
    /// How much of a `.jsonl` file is read at a time.
    private static let chunkByteCount = 256 * 1024

    private var document: DocumentJobReader?
    private var lines: LinesFile?
    /// How many bytes the job keeps in memory while it is read.
    let heldByteCount: Int

    /// A `.jsonl` file and how far it has been read.
    private struct LinesFile {
        let job: OpenJob
        var reader: LinesJobReader<JSON.Parser>
        var offset: Int64 = 0
        var hasEnded = false

        init(_ job: OpenJob, _ context: JobContext) {
            self.job = job
            self.reader = LinesJobReader(parser: JSON.Parser(limits: context.limits.perLine), context: context)
        }

        mutating func next() throws(SystemError) -> JobChunk? {
            while true {
                if let chunk = reader.next() { return chunk }
                guard !hasEnded else { return nil }
                var bytes: [UInt8] = []
                let count = try job.file.read(JobSource.chunkByteCount, at: offset, appendingTo: &bytes)
                reader.append(bytes)
                offset += Int64(count)
                hasEnded = count < JobSource.chunkByteCount
                if hasEnded { reader.finish() }
            }
        }
    }

    /// Reads the file once, to its end, and says what is in it. Blocks, but gives others a turn in a long one.
    ///
    /// - Throws: `SystemError` when reading fails: the file cannot be judged.
    static func open(
        _ job: OpenJob, context: JobContext
    ) async throws(SystemError) -> (
        source: JobSource, summary: JobSummary
    ) {
        switch job.name.form {
        case .lines: return try await openLines(job, context)
        case .yaml:
            var parser = YAML.Parser(limits: context.limits)
            return try openDocument(job, context, &parser)
        case .json, nil:
            var parser = JSON.Parser(limits: context.limits)
            return try openDocument(job, context, &parser)
        }
    }

    /// Returns the next recipients, `nil` at the end. Blocks for the file.
    ///
    /// - Throws: `SystemError` when reading fails; the job cannot be finished.
    mutating func next() throws(SystemError) -> JobChunk? {
        try lines?.next() ?? document?.next()
    }

    private static func openDocument(
        _ job: OpenJob, _ context: JobContext, _ parser: inout some DocumentParser
    ) throws(SystemError) -> (source: JobSource, summary: JobSummary) {
        let bytes = try job.file.contents(limit: context.limits.byteCount)
        var document = DocumentJobReader(parsing: bytes ?? [], with: &parser, context: context)
        var summary = document.validate()
        if bytes == nil {
            let fault = Diagnostic(
                "the file is longer than \(context.limits.byteCount) bytes",
                hint: "write it as .jsonl, which may be of any length, or raise limits.document")
            (summary.failure, summary.fault, summary.report) = (.invalid, fault, Report())
            summary.report.add(fault)
        }
        return (JobSource(document: document, heldByteCount: bytes?.count ?? 0), summary)
    }

    private static func openLines(
        _ job: OpenJob, _ context: JobContext
    ) async throws(SystemError) -> (source: JobSource, summary: JobSummary) {
        var check = LinesFile(job, context)
        while try check.next() != nil { await Task.yield() }
        let source = JobSource(lines: LinesFile(job, context), heldByteCount: chunkByteCount)
        return (source, check.reader.summary)
    }
}
