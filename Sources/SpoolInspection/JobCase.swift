import JournalModel
import PushModel
import SpoolModel

/// Everything known about one job.
package struct JobCase {
    /// A file of a job.
    struct File {
        /// The state according to its folder: `waiting`, `sending`, `held`, `done` or `failed`.
        let state: String
        /// The path relative to the spool; for a file in `work/` only the folder's path.
        let path: String
        /// The size of the file.
        let byteCount: Int64
        /// Since when it has been there.
        let since: WallTime
        /// The node that has claimed it; `nil` if none has.
        var node: String?
    }

    /// The records of a job in one journal.
    struct Journal {
        /// The node that owns the journal.
        let node: String
        /// The records as text.
        let lines: [String]
    }

    /// The app.
    package let app: String
    /// The name with which the job was dropped, or its present name; escaped.
    var name: String
    /// The job's id, if it was claimed and the id is known.
    var id: JobID?
    /// The records in the journals, one entry for each node that has any.
    var journals: [Journal] = []
    /// The journal's state of a job that has not ended.
    var live: JournalJob?
    /// The progress according to the daemon's status, for users who may not read the journal.
    var progress: SpoolStatus.Job?
    /// The `job` line of feedback.
    var line: JobAccount?
    /// Why it waits, according to the daemon's status.
    var waitReason: String?
    /// The number of `notification` lines with each text.
    var refusals: [String: Int] = [:]
    /// What feedback says about single notifications: the gateway's own ids of the first ones.
    var outcomes = ReportedOutcomes()
    /// The job's file.
    var file: File?
    /// What becomes of the job if its node does not run.
    var nodeWords: String?
    /// The earliest time to send, if the job is waiting and specifies one.
    var notBefore: WallTime?
    /// The producer's id from the job's own file, if the job has not ended.
    var ownRef: String?
    /// The remainder file of a held job.
    var remainder: Remainder?
    /// The result file.
    var result: JobAccount?
    /// The indices in the result file.
    var indexes: [IndexList] = []
    /// The first faults in the result file, as lines of text.
    var faults: [String] = []
    /// All faults in the result file, as JSON.
    var diagnostics: [UInt8]?

    /// Creates a job of which only the name, and perhaps the id, is known.
    init(app: String, name: String, id: JobID?) {
        (self.app, self.name, self.id) = (app, name, id)
    }

    /// The end of the job, if it has ended. The result file is more detailed than the line. A held job of which a part
    /// was sent has not ended.
    var account: JobAccount? { remainder?.sent == nil ? result ?? line : nil }

    /// Whether the job is known to have started, but neither its file nor its end is known.
    var isOpen: Bool { file == nil && account == nil }

    /// The state in one word: the state of its file, or `removed` if there is none and the job is not being sent.
    var state: String { file?.state ?? (live == nil && progress == nil ? "removed" : "sending") }

    /// The producer's id.
    var ref: String? { remainder?.sent?.ref ?? result?.ref ?? line?.ref ?? ownRef }

    /// The outcomes of its notifications, as far as they are known.
    var counts: (notifications: Int, tally: Tally)? {
        if let sent = remainder?.sent { return (sent.count, sent.progress.tally) }
        if let account { return (account.notificationCount, account.tally) }
        if let live { return (live.facts.recipientCount, live.tally) }
        return progress.map { ($0.count, Tally()) }
    }

    /// The indices of notifications by outcome, and of those without one, except accepted ones.
    var lists: [IndexList] {
        if let progress = remainder?.sent?.progress { return Self.lists(of: progress) }
        guard indexes.isEmpty, let live, account == nil else { return indexes }
        return Self.lists(of: live.progress)
    }

    private static func lists(of progress: JournalProgress) -> [IndexList] {
        let settled = progress.runs.map { IndexList($0.key.rawValue, $0.value) }.sorted { $0.word < $1.word }
        return settled + (progress.remaining.isEmpty ? [] : [IndexList("left", progress.remaining)])
    }
}
