import APNSModel
import Document
import SpoolModel
import SpoolStore

/// A claimed job on its way to `done/` or `failed/`. Belongs to its runner.
///
/// A class because there is much in it: as a value it would be moved out of its place and back for every change.
final class ActiveJob {
    /// The file in `work/`.
    let claimed: ClaimedJob
    /// When it was dropped, claimed, and concluded.
    let droppedAt: WallTime
    let claimedAt: WallTime
    var finishedAt: WallTime?
    /// What the file says about itself.
    let summary: JobSummary
    /// Whether it was certain that the file was whole.
    let isSealed: Bool
    /// Whether it is sent whatever was sent before that is the same.
    let isSentAnyway: Bool
    /// What remains, and what is to be done next.
    var machine: JobMachine
    /// The reader that hands out recipients; `nil` when it has handed out all.
    var source: JobSource?
    /// How many recipients it has handed out.
    var handedOutCount = 0
    /// Which notifications have which outcome, but for those accepted.
    var runs: [String: IndexRuns] = [:]
    /// Where it is going to be archived.
    var place: ArchivePlace?
    /// Why it could not go on, in words.
    var fault: String?
    /// The job that it is a duplicate of, if it is one.
    var earlier: EarlierJob?
    /// Whether its end is being told.
    var isConcluded = false
    /// How what is not on a connection ends, once its time is up or an operator has ended it: it is not sent any more.
    var ending: Ending?
    /// What of it may be on a connection, once it is to be held: nothing else is under way.
    var flying: IndexRuns?
    /// The name that it has in `hold/`, once an operator has parked it.
    var heldAs: FileName?
    /// What an earlier daemon recorded of it; `nil` if it began with this one.
    var resumption: Resumption?
    /// What was taken back from the gateway after it had been taken for accepted, and before that was heard to be wrong.
    private var takenBack = IndexRuns()

    /// How what is left of a job ends.
    struct Ending {
        /// What it gets.
        let outcome: Outcome
        /// Whether an operator has ended it: what had not been read by then has its outcome, and is read to be told.
        var isOrdered = false
    }

    /// Whether an operator has ended it.
    var isWithdrawn: Bool { ending?.isOrdered == true }

    /// Begins with a job that was read and claimed.
    init(_ claimed: ClaimedJob, _ read: ReadJob, claimedAt: WallTime, isSealed: Bool) {
        self.claimed = claimed
        self.droppedAt = read.context.droppedAt
        self.claimedAt = claimedAt
        self.summary = read.summary
        self.isSealed = isSealed
        self.isSentAnyway = read.isSentAnyway
        self.source = read.source
        self.earlier = read.earlier
        self.machine = JobMachine(count: read.summary.recipientCount, fault: read.summary.failure)
    }

    /// Notes an outcome for the result file.
    func note(_ range: Range<Int>, _ outcome: Outcome) {
        guard outcome != .accepted else { return }
        _ = runs[outcome.word, default: IndexRuns()].insert(range)
    }

    /// Notes that these were taken back from the gateway.
    ///
    /// - Returns: Those of them that had been taken for accepted.
    func noteTakenBack(_ range: Range<Int>) -> [Range<Int>] {
        guard !machine.isAwaiting(range) else { return [] }
        var revoked = IndexRuns(range)
        for awaited in machine.remaining.intersection(range) { revoked.subtract(awaited) }
        for part in revoked.runs { takenBack.insert(part) }
        return revoked.runs
    }

    /// Hears that these are under way again.
    ///
    /// - Returns: Those of them of which that was not known.
    func takeReopened(_ range: Range<Int>) -> [Range<Int>] {
        guard !takenBack.isEmpty else { return [range] }
        var news = IndexRuns(range)
        for known in takenBack.intersection(range) { news.subtract(known) }
        takenBack.subtract(range)
        return news.runs
    }

    /// The indices of what was not read yet.
    var unread: Range<Int> { min(handedOutCount, summary.recipientCount)..<summary.recipientCount }

    /// Whether nothing of it has an outcome, as far as is known nothing was written, and nobody wants anything else of it than that
    /// it is sent as it was dropped: its file alone says all there is to know of it.
    var isUnsent: Bool {
        guard case .sending = machine.state, resumption == nil, ending == nil, !isSentAnyway, !machine.wasWritten else {
            return false
        }
        return machine.tally.total == 0 && machine.remaining.count == summary.recipientCount
    }

    /// How far it is.
    var progress: JournalProgress {
        var progress = JournalProgress(remaining: machine.remaining)
        progress.tally = machine.tally
        progress.runs = runs
        return progress
    }

    /// Whether more of it is to be read only to tell what an earlier run, or an operator, has made of it.
    var hasToTell: Bool {
        guard source != nil, let resumption else { return false }
        return !resumption.untold.isEmpty || !resumption.doubtful.isEmpty
    }

    /// Which lane it is in.
    var lane: Lane { summary.header.lane }

    /// What names it in feedback.
    var identity: JobIdentity {
        JobIdentity(name: claimed.name, id: claimed.id, ref: summary.header.ref)
    }

    /// What its `job` line says.
    func report(_ conclusion: Conclusion, app: String) -> JobReport {
        var report = JobReport(
            identity, conclusion, notificationCount: summary.recipientCount, at: finishedAt ?? claimedAt)
        report.path = place?.path(of: app) ?? ""
        report.droppedAt = droppedAt
        report.claimedAt = claimedAt
        report.isSealed = isSealed
        report.earlier = earlier
        return report
    }

    /// Whether it gets a result file.
    func needsResult(_ conclusion: Conclusion) -> Bool {
        ResultFile.isNeeded(for: conclusion, notificationCount: summary.recipientCount)
    }

    /// What its result file says.
    func result(_ conclusion: Conclusion, app: String) -> ResultFile {
        var result = ResultFile(report(conclusion, app: app))
        result.why = fault ?? earlier?.explanation ?? summary.fault?.sentence
        result.findings = summary.report
        result.rejected = runs["rejected"] ?? IndexRuns()
        result.isAbridged = resumption?.isAbridged == true
        result.expired = runs[Outcome.expired.word] ?? IndexRuns()
        result.unsent = runs["unsent"] ?? IndexRuns()
        result.unknown = runs[Outcome.unknown.word] ?? IndexRuns()
        return result
    }
}

extension JobMachine {
    /// Whether nothing of the job is to be sent any more.
    var isOver: Bool {
        switch state {
        case .sending, .draining, .stopping: false
        case .held, .settled, .published, .archived: true
        }
    }

    /// Whether none of these has an outcome yet.
    func isAwaiting(_ range: Range<Int>) -> Bool {
        remaining.intersection(range).reduce(0) { $0 + $1.count } == range.count
    }
}
