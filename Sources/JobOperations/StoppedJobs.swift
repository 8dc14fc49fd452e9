import Configuration
import JobFormat
import JournalModel
import LinuxIO
package import Logging
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore

/// The jobs of an app whose daemon is not running, for operators' commands. Blocks.
///
/// Anything that only a daemon can do is recorded in the journal for the next one.
final class StoppedJobs: CommandedJobs {
    let held: HeldJobs
    let logger: Logger
    private let spool: Spool
    private let configuration: DaemonConfiguration
    private let feedback: FeedbackFolder
    /// The state left by the last daemon, updated by the commands executed since.
    private var left: LeftBehind

    /// What all apps of a stopped daemon have in common.
    struct Context {
        let spool: Spool
        let configuration: DaemonConfiguration
        let logger: Logger
    }

    /// Opens the app's folders.
    ///
    /// - Throws: `SpoolFault`, `SystemError`: they cannot be used; `JournalFault`: the journal cannot be written.
    init(_ app: String, in context: Context, left: LeftBehind) throws {
        (spool, configuration, logger, self.left) = (context.spool, context.configuration, context.logger, left)
        let folders = try spool.app(app)
        held = HeldJobs(folders, logger)
        held.load()
        feedback = try FeedbackFolder(folders, after: left.newestFeedback)
        feedback.reportIgnored(to: logger)
        try forgetHeldJobs()
        if !folders.isClustered { held.finishMoves() }
    }

    var app: String { held.spool.name }

    /// Removes held jobs from the journal, in case the last daemon died before it could.
    private func forgetHeldJobs() throws {
        let claimed = Set(try spool.claimed(in: held.spool).jobs.map(\.id))
        for id in left.jobs.keys where !claimed.contains(id) {
            if try held.isParked(id) { try forget(id) }
        }
    }

    /// Has the journal forget a job. The last daemon may have died before it synced the job's move.
    private func forget(_ id: JobID) throws {
        try held.spool.work.syncFilesystem(.archives)
        try spool.journal.append(.cleaned(id))
        try spool.journal.flush()
        left.jobs[id] = nil
    }

    // This process executes one command after another, and nothing else.
    func beginTurn() {}
    func endTurn() {}
    func yield() {}
    func note(failure: any Error) {}
    func requireNotOver(_: JobReference) {}
    func requireNotDeparting(_: FileName) {}

    /// The next daemon reads `new/` when it starts.
    func noteReleased(_: FileName) {}

    func claimed(_ reference: JobReference) throws(SystemError) -> [ClaimedJob] {
        try spool.claimed(in: held.spool).jobs
            .map { $0.called(left.jobs[$0.id]?.facts.name ?? $0.name) }
            .filter { reference.isMeant(name: $0.name, id: $0.id, ref: nil) }
    }

    private func record(of job: ClaimedJob) throws(ControlFault) -> JournalJob {
        guard let record = left.jobs[job.id] else {
            throw ControlFault("the journal has no record of it, or it has ended", hint: "start a daemon")
        }
        guard record.final == nil else {
            throw ControlFault("already ended", hint: "start a daemon to archive it", hasNothingToDo: true)
        }
        return record
    }

    // MARK: Holding

    /// Refuses a job with unpublished outcomes, which only a daemon can publish.
    func beginHold(_ job: ClaimedJob) throws(ControlFault) -> Bool {
        let record = try record(of: job)
        guard record.untold.isEmpty, record.intents.isEmpty else {
            throw ControlFault(
                "the last daemon crashed before it reported all outcomes of this job",
                hint: "cancel it and retry the rest later, or start a daemon and then hold it")
        }
        return true
    }

    func finishHold(_ job: ClaimedJob) throws -> ControlAnswer {
        let record = try record(of: job)
        let (facts, progress) = (record.facts, record.progress)
        var sent = Remainder.Sent(
            id: job.id, ref: try keptRef(of: job, record), count: facts.recipientCount, progress: progress)
        sent.isWanted = facts.isSentAnyway
        let name = try held.park(job, droppedAt: facts.droppedAt, sent)
        try forget(job.id)
        return ControlAnswer(
            .done, "held as hold/\(name), \(progress.remaining.count) of \(facts.recipientCount) left to send")
    }

    /// The producer's id of a job. If a recipient was reached, this first records the id, so that another job with it
    /// is a duplicate.
    private func keptRef(of claimed: ClaimedJob, _ job: JournalJob) throws -> String? {
        var context = JobContext(job: job.facts.id, droppedAt: job.facts.droppedAt, carrier: .http2)
        context.limits = configuration.limits
        context.isPublishedByRename = job.facts.isPublishedByRename
        context.isComparedByFile = configuration.intake.comparesFiles
        let summary = try JobSource.read(try held.spool.open(claimed), context).summary
        let records = summary.records(of: job.facts.id, endedAt: .now)
        guard !records.isEmpty, job.tally.isAnyoneReached, configuration.intake.dedupe > .zero else {
            return summary.header.ref
        }
        let state = try spool.openState() ?? Directory.open(path: configuration.state)
        let book = try RefBook(of: app, in: state, keeping: configuration.intake.dedupe, at: .now)
        try book.keep(records, at: .now)
        return summary.header.ref
    }

    // MARK: Ending

    /// Ends a job. The next daemon reports its outcomes and archives it.
    func end(_ claimed: ClaimedJob, _ code: ResultCode) throws -> ControlAnswer? {
        let job = try record(of: claimed)
        let (id, outcome) = (job.facts.id, Outcome.withdrawn(code))
        var rest = job.remaining
        for run in job.intents.runs { rest.subtract(run) }
        if !job.intents.isEmpty {
            try spool.journal.append(.result(id, JournalResult(.unknown, job.intents.runs, at: .now)))
        }
        if !rest.isEmpty { try spool.journal.append(.result(id, JournalResult(outcome, rest.runs, at: .now))) }
        let conclusion = Conclusion(tally: spool.journal.job(id)?.tally ?? job.tally, fault: code)
        let place = try held.spool.archives.place(for: claimed.name, in: .failed, at: .now, withResult: true)
        var final = JournalFinal(conclusion, day: place.day, name: place.name, finishedAt: .now)
        final.why = code.explanation
        try spool.journal.append(.final(id, final))
        try spool.journal.flush()
        left.jobs[id] = nil
        let text = "\(code.rawValue): \(conclusion.tally.accepted) of \(job.facts.recipientCount) accepted, "
        return ControlAnswer(.done, text + "\(rest.count) not sent; the next daemon reports and archives it")
    }

    func begin(_: Departure) {}

    func finish(_ departure: Departure) throws -> ControlAnswer {
        var lines: [UInt8] = []
        FeedbackLine(app: app, node: spool.node).appendJob(departure.report, to: &lines)
        try feedback.publish(lines, at: .now)
        try departure.draft.stage(in: held.spool.work)
        switch try held.spool.move(departure) {
        case .forbidden(let error): throw error
        case .moved:
            try held.spool.hold.syncDepartures()
            held.forget(departure.file.status, isMoved: true)
        // Somebody has taken the file, and its remainder belongs to it wherever it is.
        case .gone, .changed: break
        }
        return departure.answer
    }

    // MARK: Retrying

    func forgetEnd(of place: ArchivePlace, _ id: JobID?) throws {
        if let id, let job = spool.journal.job(id), job.final == nil {
            throw ControlFault("it is still being sent", hint: nil)
        }
        // A job may have reached its archive, and the last daemon died before it could record that.
        guard let over = left.jobs.values.first(where: { $0.final.map { ArchivePlace($0) } == place }) else { return }
        try held.spool.archives.syncJob(at: place)
        try forget(over.facts.id)
    }
}

extension FeedbackFolder {
    /// Logs a file name, in the folder or in the journal, that was too far in the future to be followed.
    package func reportIgnored(to logger: Logger) {
        guard let ignored else { return }
        let hint: Logger.MetadataValue =
            "check who can write to feedback/ and whether the clock was ahead; remove the file if it exists"
        logger.warning(
            "ignored a feedback file with a time in the future",
            metadata: [LogKey.path: "\(path)/\(ignored)", LogKey.hint: hint])
    }
}
