import Document
import JobFormat
import JobOperations
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore

/// A claimed job on its way to `done/` or `failed/`. Belongs to the app's runner.
///
/// A class because of its size: each change of a value in the table would move it out and back.
final class ActiveJob {
    /// The file in `work/`.
    let claimed: ClaimedJob
    /// When the job was dropped and claimed.
    let droppedAt: WallTime
    let claimedAt: WallTime
    /// The content of the file, without the recipients.
    let summary: JobSummary
    /// Whether the file was certain to be complete.
    let isKnownComplete: Bool
    /// Whether the job is sent even if the same job was sent before.
    let isSentAnyway: Bool
    /// The notifications that remain, and the job's phase.
    var machine: JobMachine
    /// The reader that hands out recipients; `nil` when it has handed out all.
    var source: JobSource?
    /// The number of recipients that the reader has handed out.
    var handedOutCount = 0
    /// What its report says about single notifications.
    var outcomes = ReportedOutcomes()
    /// Why the job could not continue, as text.
    var fault: String?
    /// The job of which this one is a duplicate, if any.
    var earlier: SentTwin?
    /// Records from before: of an earlier run, a hold or an operator's command; `nil` if there are none.
    var resumption: Resumption?
    /// Notifications taken back that had counted as accepted, until the gateway's event about them arrives.
    private var takenBack = IndexRuns()

    /// Creates a job that was read and claimed.
    init(_ claimed: ClaimedJob, _ read: ReadJob, claimedAt: WallTime, isKnownComplete: Bool) {
        self.claimed = claimed
        self.droppedAt = read.context.droppedAt
        self.claimedAt = claimedAt
        self.summary = read.summary
        self.isKnownComplete = isKnownComplete
        self.isSentAnyway = read.isSentAnyway
        self.source = read.source
        self.earlier = read.earlier
        self.machine = JobMachine(count: read.summary.recipientCount, fault: read.summary.failure)
    }

    /// Records that these notifications were taken back from the gateway.
    ///
    /// - Returns: Those that had counted as accepted.
    func noteTakenBack(_ range: Range<Int>) -> [Range<Int>] {
        guard !machine.isAwaiting(range) else { return [] }
        var revoked = IndexRuns(range)
        for awaited in machine.remaining.intersection(range) { revoked.subtract(awaited) }
        for part in revoked.runs { takenBack.insert(part) }
        return revoked.runs
    }

    /// Records the event that these notifications are under way again.
    ///
    /// - Returns: Those for which this was not known yet.
    func takeReopened(_ range: Range<Int>) -> [Range<Int>] {
        guard !takenBack.isEmpty else { return [range] }
        var news = IndexRuns(range)
        for known in takenBack.intersection(range) { news.subtract(known) }
        takenBack.subtract(range)
        return news.runs
    }

    /// The indices that have not been read yet.
    var unread: Range<Int> { min(handedOutCount, summary.recipientCount)..<summary.recipientCount }

    /// Whether the job is still as it was dropped: nothing has an outcome or is known to have been written to a
    /// connection, and no operator or earlier run has changed how it is sent. Its file alone describes it completely.
    var isUnsent: Bool {
        guard case .sending = machine.phase, resumption == nil, !isSentAnyway, !machine.wasWritten else { return false }
        return machine.tally.total == 0 && machine.remaining.count == summary.recipientCount
    }

    /// The job's progress, as the journal records it.
    var progress: JournalProgress {
        var progress = JournalProgress(remaining: machine.remaining)
        progress.tally = machine.tally
        progress.runs = outcomes.runs
        return progress
    }

    /// Whether more of the file must be read only to publish outcomes of an earlier run or of an operator's command.
    var hasToTell: Bool {
        guard source != nil, let resumption else { return false }
        return !resumption.untold.isEmpty || !resumption.doubtful.isEmpty
    }

    /// The job's lane.
    var lane: Lane { summary.header.lane }

    /// The names that identify the job in feedback.
    var identity: JobIdentity {
        var identity = JobIdentity(name: claimed.name, id: claimed.id, ref: summary.header.ref)
        identity.isAwaited = summary.header.record == .all && summary.recipientCount <= FeedbackLines.awaitedCount
        return identity
    }

    /// The content of its `job` line.
    func report(_ final: JournalFinal, app: String) -> JobReport {
        var report = JobReport(
            identity, final.conclusion, notificationCount: summary.recipientCount, at: final.finishedAt)
        report.path = ArchivePlace(final).path(of: app)
        report.droppedAt = droppedAt
        report.claimedAt = claimedAt
        report.isKnownComplete = isKnownComplete
        report.unreadByteCount = outcomes.unreadByteCount
        report.earlier = earlier
        report.uniqueIDs = outcomes.uniqueIDs
        return report
    }

    /// Notes and logs how many bytes a writer has added to the file since the claim.
    func noteGrowth(in context: AppContext) throws(SystemError) {
        let known = context.daemon.journal.job(claimed.id)?.facts.byteCount ?? claimed.status.byteCount
        outcomes.unreadByteCount = try (context.spool.work.status(of: claimed.entry.bytes)?.byteCount ?? 0) - known
        guard outcomes.unreadByteCount > 0 else { return }
        let hint: Logger.MetadataValue = "drop that part as a new job; rename complete files into new/"
        context.logger.warning(
            "job file grew after it was claimed: the added part was not sent",
            metadata: [LogKey.id: "\(claimed.id)", LogKey.bytes: "\(outcomes.unreadByteCount)", LogKey.hint: hint])
    }

    /// The job's name if it is done and has no place in an archive yet.
    var nameIfDone: FileName? {
        guard case .concluded(let conclusion, _) = machine.phase, conclusion.state == .done else { return nil }
        return claimed.name
    }

    /// The job and its place in an archive, if it is to be moved there without a result file.
    var moveWithoutResult: (ClaimedJob, ArchivePlace)? {
        guard case .published(let final) = machine.phase, !needsResult(final.conclusion) else { return nil }
        return (claimed, ArchivePlace(final))
    }

    /// Whether the job gets a result file.
    func needsResult(_ conclusion: Conclusion) -> Bool {
        outcomes.unreadByteCount > 0 || ResultFile.isNeeded(for: conclusion, notificationCount: summary.recipientCount)
    }

    /// The content of its result file.
    func result(_ report: JobReport) -> ResultFile {
        var result = ResultFile(report)
        result.why = fault ?? earlier?.explanation ?? summary.fault?.sentence
        result.findings = summary.report
        (result.runs, result.reasons) = (outcomes.runs, outcomes.reasons)
        result.isAbridged = resumption?.isAbridged == true
        return result
    }
}

extension JobMachine {
    /// Whether nothing of the job is under way any more, as far as is known.
    var isOver: Bool {
        switch phase {
        case .sending, .draining, .ending: false
        case .parking, .held, .settled, .concluded, .told, .published, .archived: true
        }
    }

    /// Whether the job has ended, and only its publication or archiving remains.
    var hasEnded: Bool {
        switch phase {
        case .sending, .draining, .ending, .parking, .held: false
        case .settled, .concluded, .told, .published, .archived: true
        }
    }

    /// How the rest of the job ends, while it does.
    var ending: Ending? {
        if case .ending(let ending) = phase { ending } else { nil }
    }

    /// Whether the job is to be held once nothing of it is on a connection.
    var isDraining: Bool {
        if case .draining = phase { true } else { false }
    }

    /// Whether none of these notifications has an outcome yet.
    func isAwaiting(_ range: Range<Int>) -> Bool {
        remaining.intersection(range).reduce(0) { $0 + $1.count } == range.count
    }
}
