import DoorModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolInspection
import SpoolModel

/// What a door keeps in the state folder: marks of what clients were told of feedback, so that each token is told once, and
/// files of its own.
///
/// It has a thread of its own, because files block.
actor DoorRecords {
    /// What a client is to be told.
    struct Report: Sendable {
        /// The tokens, in the order of publication.
        let tokens: [LostToken]
        /// The app.
        let app: String
        /// When it was made.
        let madeAt = Moment.now
        fileprivate let cursor: FeedbackCursor
    }

    private let worker: WorkerThread
    private let spool: String
    private let statePath: String
    /// The folder that has the path now.
    private var state: Directory { get throws(SystemError) { try Directory.open(path: statePath) } }
    private let door: String
    private var log: FeedbackLog

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// About how many tokens one report has at most. The rest follows in the next.
    private static let tokenLimit = 10_000
    private static let markByteLimit = 1 << 20

    /// Opens the spool, and checks that the state folder can be opened. Blocks.
    ///
    /// - Throws: `SystemError`: one of them cannot be used, or there is no thread left.
    init(door: String, spool: String, state: String, _ logger: Logger) throws(SystemError) {
        worker = try WorkerThread(name: "feedback")
        log = FeedbackLog(logger)
        _ = try Directory.open(path: spool)
        self.spool = spool
        _ = try Directory.open(path: state)
        (self.door, statePath) = (door, state)
    }

    /// Returns the tokens that were lost since the last report that was confirmed.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - includesInvalid: Whether tokens that the gateway called invalid belong to it.
    /// - Returns: The report. Confirm it once the client has it.
    /// - Throws: `SystemError`, `DoorTrouble`: the feedback or the mark cannot be read.
    func report(of app: String, includesInvalid: Bool) throws -> Report {
        let feedback = FeedbackFiles(spool: spool, app: app, after: try mark(of: app))
        var tokens: [LostToken] = []
        defer { log.note(feedback.takeSkipped()) }
        while tokens.count < Self.tokenLimit {
            let files = try feedback.nextFiles()
            if files.isEmpty { break }
            for file in files where tokens.count < Self.tokenLimit {
                try feedback.read(file) { _, line in
                    guard case .good(let node, _) = line, let token = LostToken(node), includesInvalid || token.isGone
                    else { return }
                    tokens.append(token)
                }
            }
        }
        return Report(tokens: tokens, app: app, cursor: feedback.cursor(of: app))
    }

    /// Records that a client was told a report. Reports must be confirmed in their order.
    ///
    /// - Throws: `SystemError`: the next report repeats it.
    func confirm(_ report: Report) throws {
        try state.replace(markName(of: report.app), with: Array((report.cursor.text + "\n").utf8))
    }

    // MARK: Files

    /// Returns the content of a file in the state folder; `nil` if there is none.
    ///
    /// - Throws: `SystemError`, `DoorTrouble`: it cannot be read.
    func content(of name: String) throws -> [UInt8]? {
        guard try state.status(of: Array(name.utf8)) != nil else { return nil }
        guard let bytes = try state.openRegular(Array(name.utf8)).contents(limit: Self.markByteLimit) else {
            throw DoorTrouble("\(statePath)/\(name) is too long")
        }
        return bytes
    }

    /// Replaces the content of a file in the state folder; it survives a power loss.
    ///
    /// - Throws: `SystemError`: the old content may still be there.
    func replace(_ name: String, with bytes: [UInt8]) throws { try state.replace(Array(name.utf8), with: bytes) }

    // MARK: Marks

    private func mark(of app: String) throws -> FeedbackCursor {
        let name = markName(of: app)
        guard try state.status(of: name) != nil else { return FeedbackCursor() }
        let file = try state.openRegular(name)
        let text = try file.contents(limit: Self.markByteLimit).map { String(decoding: $0, as: UTF8.self) }
        guard let text, text.hasSuffix("\n"), let cursor = FeedbackCursor(text.dropLast()) else {
            throw DoorTrouble("\(file.path) is damaged; remove it, and all feedback is told again")
        }
        return cursor
    }

    private func markName(of app: String) -> [UInt8] { Array("\(door)-feedback.\(app)".utf8) }
}
