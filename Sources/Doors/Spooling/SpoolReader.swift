import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolClient
import SpoolInspection
import SpoolModel

/// Reads where jobs are and what feedback there is, for clients of a door, and removes jobs that wait.
///
/// It has a thread of its own, because files block.
actor SpoolReader {
    /// A part of a stream of feedback.
    struct Page: Sendable {
        /// The bytes; empty if there is nothing new.
        let bytes: [UInt8]
        /// Whether nothing more belongs to the stream.
        let isLast: Bool
        /// The files whose rest was left out, because a line of them is too long.
        var damaged: [String] = []

        /// Logs those files.
        func warn(_ logger: Logger) {
            for path in damaged {
                let hint: Logger.MetadataValue = "a line is too long, so no daemon wrote it; remove the file"
                logger.warning(
                    "rest of a feedback file is left out", metadata: [LogKey.path: "\(path)", LogKey.hint: hint])
            }
        }
    }

    /// What is known about a job.
    struct Finding: Sendable {
        let job: String
        /// Where it is; `nil` while it is being sent.
        let place: JobLocator.Place?
        /// How far it is, if it takes long enough to be reported.
        let progress: SpoolStatus.Job?
        /// Why its app waits, if it does.
        let reason: String?
    }

    private let worker: WorkerThread
    private let path: String
    private var log: FeedbackLog
    /// The folder that has the spool's path now.
    private var root: Directory { get throws(SystemError) { try Directory.open(path: path) } }
    private var runs: [Int: FeedbackRun] = [:]
    /// What was read of the files for producers, by app.
    private var searches: [String: JobLocator.Search] = [:]

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Checks that the spool can be opened. Blocks.
    ///
    /// - Throws: `SystemError`: it cannot be opened, or there is no thread left.
    init(spool: String, _ logger: Logger) throws(SystemError) {
        worker = try WorkerThread(name: "spool-reader")
        _ = try Directory.open(path: spool)
        (path, log) = (spool, FeedbackLog(logger))
    }

    // MARK: Jobs

    /// Returns where a job is; see `JobLocator.place`.
    ///
    /// - Throws: `SpoolClientError`.
    func place(of job: String, in app: String) throws(SpoolClientError) -> JobLocator.Place? {
        let locator = try JobLocator(app: app, spool: path)
        return try locator.place(of: job, &searches[app, default: JobLocator.Search()])
    }

    /// Returns what is known about a job; `nil` if that is nothing.
    ///
    /// - Throws: `SpoolClientError`.
    func find(_ job: String, in app: String) throws(SpoolClientError) -> Finding? {
        // The status first: it counts a job until its place shows how it has ended.
        let apps = StatusFile.all(of: path, app: app)
        let finding = Finding(
            job: job, place: try place(of: job, in: app),
            progress: apps.lazy.flatMap(\.progress).first { $0.name == job },
            reason: apps.lazy.compactMap(\.waitReason).first)
        return finding.place == nil && finding.progress == nil ? nil : finding
    }

    /// Whether a job is known to have failed. One that the door may not look for is not.
    func hasFailed(_ job: String, in app: String) -> Bool {
        guard case .failed = try? place(of: job, in: app) else { return false }
        return true
    }

    /// Removes a job that waits in `new/`.
    ///
    /// - Returns: Whether it did wait there.
    /// - Throws: `SystemError`.
    func cancel(_ job: String, in app: String) throws(SystemError) -> Bool {
        let new = try root.openChild(Array(app.utf8)).openChild(Array("new".utf8))
        guard try new.unlink(Array(job.utf8)) else { return false }
        try new.sync()
        return true
    }

    // MARK: Feedback

    /// Begins a stream of an app's feedback after a cursor.
    ///
    /// - Parameters:
    ///   - number: A number for it.
    ///   - app: The app.
    ///   - cursor: Where it begins.
    ///   - isOfEvents: Whether it goes on for ever, as server-sent events. If not, it has some files that there are now.
    /// - Returns: The cursor after the stream, if it does not go on.
    /// - Throws: `SystemError`: the feedback cannot be read.
    func begin(
        _ number: Int, of app: String, after cursor: FeedbackCursor, isOfEvents: Bool
    ) throws(SystemError) -> FeedbackCursor {
        let run = FeedbackRun(spool: path, app: app, after: cursor, isOfEvents: isOfEvents)
        defer { log.note(run.takeSkipped()) }
        if !isOfEvents { try run.look() }
        runs[number] = run
        return run.cursor
    }

    /// Returns the next part of a stream.
    ///
    /// - Throws: `SystemError`: the feedback cannot be read.
    func next(of number: Int) throws(SystemError) -> Page {
        guard let run = runs[number] else { return Page(bytes: [], isLast: true) }
        defer { log.note(run.takeSkipped()) }
        if run.isOfEvents, run.isAtEnd { try run.look() }
        let bytes = try run.read()
        return Page(bytes: bytes, isLast: !run.isOfEvents && run.isAtEnd, damaged: run.takeDamaged())
    }

    /// Forgets a stream.
    func end(_ number: Int) { runs[number] = nil }
}

/// A stream of feedback: files, read one after the other.
private final class FeedbackRun {
    let isOfEvents: Bool
    private let app: String
    private let feedback: FeedbackFiles
    private var files: [FeedbackFiles.File] = []
    private var current: (file: FeedbackFiles.File, offset: Int64)?
    private var handle: OpenFile?
    /// The line that has not arrived completely, and the one before it.
    private var line: [UInt8] = []
    private var waiting: [UInt8]?
    /// What a client that has read all files so far has read.
    private var passed: FeedbackCursor
    private var damaged: [String] = []

    /// How many files a stream without events has.
    private static let fileLimit = 256
    private static let pieceByteCount = 128 << 10
    /// The longest line of a stream of events, far longer than any that the daemon writes.
    private static let lineByteLimit = 1 << 20

    init(spool: String, app: String, after cursor: FeedbackCursor, isOfEvents: Bool) {
        feedback = FeedbackFiles(spool: spool, app: app, after: cursor)
        (self.app, self.isOfEvents, passed) = (app, isOfEvents, cursor)
    }

    /// The cursor after all files that were found.
    var cursor: FeedbackCursor { feedback.cursor(of: app) }

    var isAtEnd: Bool { files.isEmpty && current == nil }

    /// Looks for files.
    func look() throws(SystemError) {
        files = try feedback.nextFiles(limit: Self.fileLimit)
        for file in files { feedback.pass(file) }
    }

    /// Returns what was skipped since the last call.
    func takeSkipped() -> [FeedbackFiles.Skipped] { feedback.takeSkipped() }

    /// Reads the next piece.
    func read() throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < Self.pieceByteCount {
            guard try openNext(), let (file, offset) = current else { break }
            var piece: [UInt8] = []
            let count = try readPiece(at: offset, into: &piece)
            var isOver = count == 0
            if isOfEvents {
                if line.count + count > Self.lineByteLimit, !piece.contains(0x0A) {
                    damaged.append(file.path)
                    (piece, isOver) = ([], true)
                }
                appendEvents(piece, isLast: isOver, of: file, to: &bytes)
            } else {
                bytes += piece
            }
            current = isOver ? nil : (file, offset + Int64(count))
        }
        return bytes
    }

    /// Returns the files whose rest was left out since the last call.
    func takeDamaged() -> [String] {
        defer { damaged = [] }
        return damaged
    }

    private func readPiece(at offset: Int64, into piece: inout [UInt8]) throws(SystemError) -> Int {
        switch handle {
        case .some(let file): try file.read(Self.pieceByteCount, at: offset, appendingTo: &piece)
        case .none: 0
        }
    }

    /// Opens the next file if none is open. Returns whether one is.
    private func openNext() throws(SystemError) -> Bool {
        while current == nil, !files.isEmpty {
            let file = files.removeFirst()
            handle = try feedback.open(file)
            if handle != nil { current = (file, 0) }
        }
        return current != nil
    }

    /// Appends each line as an event. The last one of a file has a cursor as its id.
    private func appendEvents(_ piece: [UInt8], isLast: Bool, of file: FeedbackFiles.File, to bytes: inout [UInt8]) {
        for byte in piece {
            guard byte == 0x0A else {
                line.append(byte)
                continue
            }
            // The last line waits until it is known to be the last.
            flush(to: &bytes, id: nil)
            waiting = line
            line = []
        }
        guard isLast else { return }
        // Every line of a file ends with a line feed.
        line = []
        file.pass(&passed)
        flush(to: &bytes, id: passed.text)
    }

    private func flush(to bytes: inout [UInt8], id: String?) {
        guard let line = waiting else { return }
        waiting = nil
        if let id { bytes += Array("id: \(id)\n".utf8) }
        bytes += Array("data: ".utf8) + line + [0x0A, 0x0A]
    }
}
