package import Document
import JSON
package import JobFormat
package import JournalModel
package import LinuxIO
package import PushModel
package import SpoolStore
import YAML

/// A job file being read: a document in memory, as a tape or as its only chunk, or lines that are read again from the file.
///
/// A class because of its size: as a value it would take memory in each of an app's tasks, even without jobs.
package final class JobSource {
    private var document: DocumentJobReader?
    private var lines: LinesFile?
    /// The only chunk of a document, until it is handed out.
    private var chunk: JobChunk?
    /// How many bytes the job keeps in memory while it is read.
    package let heldByteCount: Int

    private init(
        document: DocumentJobReader? = nil, chunk: JobChunk? = nil, lines: LinesFile? = nil, heldByteCount: Int
    ) {
        (self.document, self.chunk, self.lines) = (document, chunk, lines)
        self.heldByteCount = heldByteCount
    }

    /// Why a file of lines is not read at all.
    package static let tooLong = "the file is too long for any journal; split it into several jobs"

    /// Why reading cannot continue.
    package enum Fault: Error, CustomStringConvertible {
        /// The file cannot be read.
        case unreadable(SystemError)
        /// The bytes are not those that were checked.
        case changed

        /// The error in words.
        package var description: String {
            switch self {
            case .unreadable(let error): error.description
            case .changed: "the file has changed since it was checked"
            }
        }
    }

    /// The buffers for reading documents. Keep them for the next file: to make them takes as long as to parse a short one.
    package final class Buffers {
        fileprivate lazy var parser = JSON.Parser()

        /// Creates buffers that take memory only once a JSON document has been read.
        package init() {}
    }

    /// The result of one pass over the whole file, possibly on another thread.
    ///
    /// A class because of its size: as a value it would be copied at each step on its way to the claim.
    package final class Reading: Sendable {
        fileprivate let (job, context): (OpenJob, JobContext)
        /// What is left to hand out of a document.
        fileprivate enum Content {
            /// All of it. Indirect, because its size makes each copy dear.
            indirect case document(DocumentJobReader)
            /// The only chunk, as nearly all documents have.
            case chunk(JobChunk)
        }

        /// A document that was parsed, and how many bytes it keeps in memory.
        fileprivate let document: (content: Content, byteCount: Int)?
        /// The summary of the file.
        package let summary: JobSummary
        /// The content as the journal stores it, to recognize the file again.
        package let content: JournalHeader.Content

        fileprivate init(
            _ file: (OpenJob, JobContext), _ document: (Content, Int)?, _ summary: JobSummary,
            _ content: JournalHeader.Content
        ) {
            ((job, context), self.document) = (file, document)
            (self.summary, self.content) = (summary, content)
        }

        /// Makes the bytes of a long job durable, because the journal has only their checksums. Blocks, for seconds
        /// after a large write.
        ///
        /// - Throws: `SystemError`: the sync failed. Nothing depends on these bytes yet, so only this file is affected.
        package func secure() throws(SystemError) {
            guard case .checks = content else { return }
            try job.file.syncDraft(.jobFile, as: "sync before a claim")
        }
    }

    /// Whether the job keeps its file open, to read it again.
    package var keepsFileOpen: Bool { lines != nil }

    /// Creates the reader that hands out the recipients of a file that was read completely.
    ///
    /// - Throws: `SystemError` if the digest of the file cannot be started.
    package convenience init(_ reading: Reading) throws(SystemError) {
        switch reading.document {
        case (.document(let reader), let byteCount)?: self.init(document: reader, heldByteCount: byteCount)
        case (.chunk(let chunk), let byteCount)?: self.init(chunk: chunk, heldByteCount: byteCount)
        case nil:
            let lines = try LinesFile(.checked(reading.content, reading.job), reading.context)
            self.init(lines: lines, heldByteCount: reading.content.heldByteCount)
        }
    }

    /// Reads the file once, completely, and summarizes it. Blocks.
    ///
    /// - Parameters:
    ///   - job: The file.
    ///   - context: The context for reading it.
    ///   - buffers: The buffers of the calling thread.
    ///   - budget: The limit of the reading. A job that exceeds it fails.
    /// - Returns: The result of the pass.
    /// - Throws: `SystemError` if reading fails: the file cannot be judged.
    package static func read(
        _ job: OpenJob, _ context: JobContext, with buffers: Buffers = Buffers(),
        within budget: ReadingBudget = .unlimited
    ) throws(SystemError) -> Reading {
        switch job.name.form {
        case .lines: return try readLines(job, context, budget)
        case .yaml:
            var parser = YAML.Parser(limits: context.limits, budget: budget)
            return try readDocument(job, context, &parser, budget)
        case .json, nil:
            var parser = buffers.parser.limited(to: context.limits, within: budget)
            return try readDocument(job, context, &parser, budget)
        }
    }

    /// Returns the next recipients; `nil` at the end. Blocks for the file.
    ///
    /// - Throws: `Fault`; the job cannot be finished.
    package func next() throws(Fault) -> JobChunk? {
        try lines?.next() ?? document?.next() ?? chunk.take()
    }

    private static func readDocument(
        _ job: OpenJob, _ context: JobContext, _ parser: inout some DocumentParser, _ budget: ReadingBudget
    ) throws(SystemError) -> Reading {
        let bytes = try job.file.contents(limit: context.limits.byteCount, expecting: job.status.byteCount)
        var document = DocumentJobReader(parsing: bytes ?? [], with: &parser, context: context)
        var summary = document.validate(within: budget)
        if context.isComparedByFile, let bytes {
            let digest = try FileDigest(of: job)
            digest.update(bytes)
            summary.file = digest.finish()
        }
        if bytes == nil {
            let fault = Diagnostic(
                "the file is longer than \(context.limits.byteCount) bytes",
                hint: "write it as .jsonl, which has no such limit, or raise limits.document")
            (summary.failure, summary.fault, summary.report) = (.invalid, fault, Report())
            summary.report.add(fault)
        }
        let content = document.onlyChunk.map(Reading.Content.chunk) ?? .document(document)
        return Reading((job, context), (content, bytes?.count ?? 0), summary, JournalHeader.Content(bytes ?? []))
    }

    private static func readLines(
        _ job: OpenJob, _ context: JobContext, _ budget: ReadingBudget
    ) throws(SystemError) -> Reading {
        var check = try LinesFile(.file(job), context)
        while try check.check() { check.spend(budget) }
        return Reading((job, context), nil, check.summary, check.content)
    }
}

extension JournalHeader.Content {
    /// Creates the content for a file that is entirely in memory.
    init(_ bytes: [UInt8]) {
        guard bytes.count > JournalHeader.byteLimit else {
            self = .bytes(bytes)
            return
        }
        let pieces = stride(from: 0, to: bytes.count, by: JournalHeader.checkedByteCount)
        self = .checks(
            pieces.map { start in
                let end = min(bytes.count, start + JournalHeader.checkedByteCount)
                return Self.checksum(bytes.span.extracting(start..<end))
            })
    }

    /// How many bytes a `.jsonl` file of this content keeps in memory while it is sent.
    fileprivate var heldByteCount: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .checks: JournalHeader.checkedByteCount
        }
    }
}

/// A `.jsonl` file and the position up to which it was read. It is read in pieces twice: first to check it, then to send
/// exactly the bytes that were checked.
private struct LinesFile {
    /// The source of the bytes.
    enum Origin {
        /// The file, in the first pass.
        case file(OpenJob)
        /// The bytes of a short file from the first pass, in the second pass. The file is no longer needed.
        case bytes([UInt8])
        /// A long file with the checksum of each piece, in the second pass.
        case checkedFile(OpenJob, [UInt32])

        /// Returns the source for the second pass over a file.
        static func checked(_ content: JournalHeader.Content, _ job: OpenJob) -> Self {
            switch content {
            case .bytes(let bytes): .bytes(bytes)
            case .checks(let checks): .checkedFile(job, checks)
            }
        }
    }

    private let origin: Origin
    private var reader: LinesJobReader<JSON.Parser>
    /// The bytes read so far, while the file may turn out to be short.
    private var bytes: [UInt8] = []
    private var checks: [UInt32] = []
    private let digest: FileDigest?
    private var offset: Int64 = 0
    private var pieceCount = 0
    private var hasEnded = false

    init(_ origin: Origin, _ context: JobContext) throws(SystemError) {
        self.origin = origin
        self.reader = LinesJobReader(parser: JSON.Parser(limits: context.limits.perLine), context: context)
        if context.isComparedByFile, case .file(let job) = origin {
            digest = try FileDigest(of: job)
        } else {
            digest = nil
        }
    }

    /// The summary of the file; valid after the first pass.
    var summary: JobSummary {
        var summary = reader.summary
        summary.file = digest?.finish()
        return summary
    }

    /// The content that the finished pass has read.
    var content: JournalHeader.Content { offset > JournalHeader.byteLimit ? .checks(checks) : .bytes(bytes) }

    /// Continues the first pass, and returns whether there is more.
    mutating func check() throws(SystemError) -> Bool {
        if reader.next() != nil { return true }
        guard !hasEnded, case .file(let job) = origin else { return false }
        let piece = try read(job)
        if offset <= JournalHeader.byteLimit { bytes += piece }
        checks.append(JournalHeader.Content.checksum(piece.span))
        digest?.update(piece)
        feed(piece)
        return true
    }

    /// Returns the next recipients in the second pass.
    mutating func next() throws(JobSource.Fault) -> JobChunk? {
        while true {
            if let chunk = reader.next() { return chunk }
            guard !hasEnded else { return nil }
            switch origin {
            case .bytes(let bytes):
                hasEnded = true
                feed(bytes)
            case .checkedFile(let job, let checks): feed(try read(job, checks))
            case .file: preconditionFailure("nothing is sent in the first pass")
            }
        }
    }

    /// Checks whether the first pass may continue. If not, it ends with the next step.
    mutating func spend(_ budget: ReadingBudget) {
        do throws(Diagnostic) {
            try budget.spend()
        } catch {
            reader.giveUp(error)
            hasEnded = true
        }
    }

    private mutating func read(_ job: OpenJob, _ checks: [UInt32]) throws(JobSource.Fault) -> [UInt8] {
        let index = pieceCount
        let piece: [UInt8]
        do {
            piece = try read(job)
        } catch {
            throw .unreadable(error)
        }
        let isWhole = hasEnded == (index >= checks.count - 1)
        guard isWhole, index < checks.count, checks[index] == JournalHeader.Content.checksum(piece.span) else {
            throw .changed
        }
        return piece
    }

    private mutating func read(_ job: OpenJob) throws(SystemError) -> [UInt8] {
        var piece: [UInt8] = []
        // Reading slightly more than the expected rest detects the end at once.
        let rest = min(max(0, job.status.byteCount - offset), Int64(JournalHeader.checkedByteCount))
        let wanted = min(Int(rest) + 512, JournalHeader.checkedByteCount)
        let count = try job.file.read(wanted, at: offset, appendingTo: &piece)
        offset += Int64(count)
        pieceCount += 1
        hasEnded = count < wanted
        return piece
    }

    private mutating func feed(_ piece: [UInt8]) {
        reader.append(piece)
        if hasEnded { reader.finish() }
    }
}

extension JobContext {
    /// Creates a context in which payloads may be written as text.
    package init(job: JobID, droppedAt: WallTime, carrier: Carrier, topic: String? = nil) {
        self.init(job: job, droppedAt: droppedAt, carrier: carrier) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
        self.topic = topic
    }
}

extension ReadingBudget {
    /// Creates the budget for a file that the calling thread reads from now on.
    package static func ofThisThread(for job: OpenJob) -> ReadingBudget {
        let start = ThreadClock.nanoseconds()
        return ReadingBudget(byteCount: Int(clamping: job.status.byteCount)) {
            .nanoseconds(ThreadClock.nanoseconds() - start)
        }
    }
}
