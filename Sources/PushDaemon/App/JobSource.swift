import APNSModel
import Document
import JSON
import LinuxIO
import SpoolModel
import SpoolStore
import YAML

/// A job file being read: one document held as a tape, or lines read again from the file.
///
/// A class because there is much in it: an app's tasks would keep room for it as a value, whether it has jobs or not.
final class JobSource {
    private var document: DocumentJobReader?
    private var lines: LinesFile?
    /// How many bytes the job keeps in memory while it is read.
    let heldByteCount: Int

    private init(document: DocumentJobReader? = nil, lines: LinesFile? = nil, heldByteCount: Int) {
        self.document = document
        self.lines = lines
        self.heldByteCount = heldByteCount
    }

    /// Why a file of lines is not read at all.
    static let tooLong = "no journal holds the checksums of so long a file; split it"

    /// Why reading cannot go on.
    enum Fault: Error {
        /// The file cannot be read.
        case unreadable(SystemError)
        /// Its bytes are not those that were checked.
        case changed
    }

    /// What one pass over the whole file yields; another thread may have made it.
    struct Reading: Sendable {
        fileprivate let job: OpenJob
        fileprivate let context: JobContext
        fileprivate let document: DocumentJobReader?
        fileprivate let heldByteCount: Int
        /// What the file says and has.
        let summary: JobSummary
        /// What the journal keeps to know the bytes again.
        let content: JournalHeader.Content

        /// Makes the bytes of a long job durable: the journal has only their checksums. Blocks, for seconds after a large write.
        ///
        /// - Throws: `SystemError`: they cannot be. Nothing rests on them yet: it is this file's fault, and ends nothing for
        ///   others.
        func secure() throws(SystemError) {
            guard case .checks = content else { return }
            do throws(SystemError) {
                try job.file.sync(.jobFile)
            } catch {
                throw SystemError(code: error.code, operation: "sync before a claim", subject: error.subject)
            }
        }
    }

    /// Hands out the recipients of a file that was read to its end.
    ///
    /// - Throws: `SystemError` when its checksums cannot be begun.
    convenience init(_ reading: Reading) throws(SystemError) {
        if let document = reading.document {
            self.init(document: document, heldByteCount: reading.heldByteCount)
        } else {
            let lines = try LinesFile(.checked(reading.content, reading.job), reading.context)
            self.init(lines: lines, heldByteCount: reading.heldByteCount)
        }
    }

    /// Reads the file once, to its end, and says what is in it. Blocks.
    ///
    /// - Parameters:
    ///   - job: The file.
    ///   - context: What reading it needs to know.
    ///   - budget: What it may take; if it takes more, that is the job's failure.
    /// - Returns: What one pass over it yields.
    /// - Throws: `SystemError` when reading fails: the file cannot be judged.
    static func read(
        _ job: OpenJob, _ context: JobContext, within budget: ReadingBudget = .unlimited
    ) throws(SystemError) -> Reading {
        switch job.name.form {
        case .lines: return try readLines(job, context, budget)
        case .yaml:
            var parser = YAML.Parser(limits: context.limits, budget: budget)
            return try readDocument(job, context, &parser, budget)
        case .json, nil:
            var parser = JSON.Parser(limits: context.limits, budget: budget)
            return try readDocument(job, context, &parser, budget)
        }
    }

    /// Returns the next recipients, `nil` at the end. Blocks for the file.
    ///
    /// - Throws: `Fault`; the job cannot be finished.
    func next() throws(Fault) -> JobChunk? {
        try lines?.next() ?? document?.next()
    }

    private static func readDocument(
        _ job: OpenJob, _ context: JobContext, _ parser: inout some DocumentParser, _ budget: ReadingBudget
    ) throws(SystemError) -> Reading {
        let bytes = try job.file.contents(limit: context.limits.byteCount)
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
                hint: "write it as .jsonl, which may be of any length, or raise limits.document")
            (summary.failure, summary.fault, summary.report) = (.invalid, fault, Report())
            summary.report.add(fault)
        }
        return Reading(
            job: job, context: context, document: document, heldByteCount: bytes?.count ?? 0, summary: summary,
            content: JournalHeader.Content(bytes ?? []))
    }

    private static func readLines(
        _ job: OpenJob, _ context: JobContext, _ budget: ReadingBudget
    ) throws(SystemError) -> Reading {
        var check = try LinesFile(.file(job), context)
        while try check.check() { check.spend(budget) }
        let content = check.content
        return Reading(
            job: job, context: context, document: nil, heldByteCount: content.heldByteCount, summary: check.summary,
            content: content)
    }
}

extension JournalHeader.Content {
    /// What the journal keeps of a file that is in memory as a whole.
    init(_ bytes: [UInt8]) {
        guard bytes.count > JournalHeader.byteLimit else {
            self = .bytes(bytes)
            return
        }
        let pieces = stride(from: 0, to: bytes.count, by: JournalHeader.checkedByteCount)
        self = .checks(
            pieces.map { start in
                let end = min(bytes.count, start + JournalHeader.checkedByteCount)
                return CRC32C.checksum(bytes.span.extracting(start..<end))
            })
    }

    /// What a `.jsonl` file of this content keeps in memory while it is sent.
    fileprivate var heldByteCount: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .checks: JournalHeader.checkedByteCount
        }
    }
}

/// A `.jsonl` file and how far it has been read: a piece at a time, the first time to check it, then to send what was
/// checked and nothing else.
private struct LinesFile {
    /// Where its bytes come from.
    enum Origin {
        /// In the first pass: the file.
        case file(OpenJob)
        /// In the second pass: what the first one read of a short file, which is not needed any more.
        case bytes([UInt8])
        /// In the second pass: a long file, with the checksum of each piece.
        case checkedFile(OpenJob, [UInt32])

        /// The second pass over a file.
        static func checked(_ content: JournalHeader.Content, _ job: OpenJob) -> Self {
            switch content {
            case .bytes(let bytes): .bytes(bytes)
            case .checks(let checks): .checkedFile(job, checks)
            }
        }
    }

    private let origin: Origin
    private var reader: LinesJobReader<JSON.Parser>
    /// The file, while it may turn out to be a small one.
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

    /// What the file says and has, when the first pass is over.
    var summary: JobSummary {
        var summary = reader.summary
        summary.file = digest?.finish()
        return summary
    }

    /// What the pass that is over has read.
    var content: JournalHeader.Content { offset > JournalHeader.byteLimit ? .checks(checks) : .bytes(bytes) }

    /// Reads on in the first pass; whether there is more.
    mutating func check() throws(SystemError) -> Bool {
        if reader.next() != nil { return true }
        guard !hasEnded, case .file(let job) = origin else { return false }
        let piece = try read(job)
        if offset <= JournalHeader.byteLimit { bytes += piece }
        checks.append(CRC32C.checksum(piece.span))
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

    /// Asks whether the first pass may go on; if not, it ends with the next step.
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
        guard isWhole, index < checks.count, CRC32C.checksum(piece.span) == checks[index] else { throw .changed }
        return piece
    }

    private mutating func read(_ job: OpenJob) throws(SystemError) -> [UInt8] {
        var piece: [UInt8] = []
        // A little more than there should be shows the end at once.
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
    /// A context whose payloads may be written as text.
    init(job: JobID, droppedAt: WallTime, carrier: Carrier, topic: String? = nil) {
        self.init(job: job, droppedAt: droppedAt, carrier: carrier) { text throws(Diagnostic) in
            var parser = JSON.Parser()
            return try parser.parse(text)
        }
        self.topic = topic
    }
}
