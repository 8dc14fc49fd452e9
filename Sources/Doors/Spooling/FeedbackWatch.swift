import DoorModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolInspection

/// Reads the feedback of all apps as it is published, and what daemons tell before. Doors never delete it.
///
/// It has a thread of its own, because files block.
actor FeedbackWatch {
    private let worker: WorkerThread
    private var log: FeedbackLog
    private let spool: String
    private let horizon: Duration
    /// The files that are published from the start on.
    private var news: Backlog
    /// The files that there were at the start; `nil` before it, and once they have been read.
    private var history: Backlog?
    private var isBegun = false
    /// What daemons tell early, once a task hears it, and when to look for further apps.
    private var early: EarlyFeedback?
    private var nextFollow = Moment.zero

    /// How often to look for further apps.
    private static let followPause = Duration.seconds(1)

    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Opens the spool. Blocks.
    ///
    /// - Parameters:
    ///   - spool: The spool's path.
    ///   - horizon: How old feedback may be to be read at the start.
    ///   - logger: The logger.
    /// - Throws: `SystemError`: the spool cannot be used, or there is no thread left.
    init(spool: String, horizon: Duration, logger: Logger) throws(SystemError) {
        worker = try WorkerThread(name: "feedback")
        _ = try Directory.open(path: spool)
        self.spool = spool
        news = Backlog(feedback: FeedbackFiles(spool: spool, apps: []))
        (self.horizon, log) = (horizon, FeedbackLog(logger))
    }

    /// Returns what some files tell, with the apps, and whether there are more files. New files come before those that
    /// there were at the start, since answers wait for them.
    func read() -> (lines: [(app: String, outcome: HeardOutcome)], hasMore: Bool) {
        follow()
        var heard: [(app: String, outcome: HeardOutcome)] = []
        defer { log.note(news.feedback.takeSkipped() + (history?.feedback.takeSkipped() ?? [])) }
        do {
            if !isBegun {
                try news.feedback.passAll()
                (isBegun, history) = (true, Backlog(feedback: FeedbackFiles(spool: spool, apps: [])))
            }
            let horizon = WallTime.now + (.zero - horizon)
            if try !news.read(since: horizon, &heard), try history?.read(since: horizon, &heard) == false {
                history = nil
            }
        } catch {
            log.note(error)
            return (heard, false)
        }
        return (heard, !news.files.isEmpty || history != nil)
    }

    // MARK: Before the publication

    /// Waits until daemons tell how notifications have ended, and returns that with the apps.
    ///
    /// - Returns: `nil` if the kernel cannot report it, or the task is cancelled: it comes with the files.
    func hearEarly() async -> [(app: String, outcome: HeardOutcome)]? {
        do {
            if early == nil {
                early = try EarlyFeedback(spool: spool)
                follow()
            }
            while let early, let notices = await early.next() {
                let heard = try early.lines(of: notices)
                if !heard.isEmpty { return heard }
            }
        } catch {
            log.note(error)
        }
        early = nil
        return nil
    }

    /// Follows the apps that have appeared, now and then.
    private func follow() {
        guard let early, Moment.now >= nextFollow else { return }
        nextFollow = .now + Self.followPause
        do {
            try early.follow()
        } catch {
            log.note(error)
        }
    }
}

/// The files of feedback, which are listed again only when all that were found have been read.
private struct Backlog {
    let feedback: FeedbackFiles
    private(set) var files: ArraySlice<FeedbackFiles.File> = []

    /// How many files are read at a time.
    private static let fileLimit = 64

    init(feedback: FeedbackFiles) { self.feedback = feedback }

    /// Reads the next files, and passes those that are older than `horizon`.
    ///
    /// - Returns: `false` if there are none for now.
    /// - Throws: `SystemError`: the file or folder cannot be read for now.
    mutating func read(
        since horizon: WallTime, _ heard: inout [(app: String, outcome: HeardOutcome)]
    ) throws -> Bool {
        if files.isEmpty { files = try feedback.nextFiles()[...] }
        guard !files.isEmpty else { return false }
        var count = 0
        while count < Self.fileLimit, let file = files.first {
            if let time = file.publishedAt, time < horizon {
                feedback.pass(file)
            } else {
                count += 1
                try feedback.read(file) { _, line in
                    guard case .good(let node, _) = line, let outcome = HeardOutcome(node) else { return }
                    heard.append((file.app, outcome))
                }
            }
            files.removeFirst()
        }
        return true
    }
}
