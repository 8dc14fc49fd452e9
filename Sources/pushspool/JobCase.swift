import APNSModel
import SpoolModel

/// Everything that is found of one job.
struct JobCase {
    /// A file of a job.
    struct File {
        /// Where it is: `waiting`, `sending`, `held`, `done` or `failed`.
        let state: String
        /// Its path, from the spool on; of one in `work/` only the folder's.
        let path: String
        /// Its length.
        let byteCount: Int64
        /// Since when it has been there.
        let since: WallTime
    }

    /// What a journal tells of it.
    struct Journal {
        /// Whose journal it is.
        let node: String
        /// Its records, in words.
        let lines: [String]
    }

    /// The app.
    let app: String
    /// The name it was dropped by, or has now; escaped.
    var name: String
    /// Our id, if it was claimed and that is known.
    var id: JobID?
    /// What a journal tells of it, one for each node that knows it.
    var journals: [Journal] = []
    /// What a journal knows of it while it is not over.
    var live: JournalJob?
    /// How far it is, where the journal may not be read.
    var progress: SpoolStatus.Job?
    /// Its `job` line.
    var line: JobAccount?
    /// How many `notification` lines tell what.
    var refusals: [String: Int] = [:]
    /// Its file.
    var file: File?
    /// Before when it is not sent, as far as it waits and says so.
    var notBefore: WallTime?
    /// The producer's name for it, as far as it is not over and its own file says so.
    var ownRef: String?
    /// What the file beside it says, if it is parked.
    var rest: Rest?
    /// Its result file.
    var result: JobAccount?
    /// The indices in its result file.
    var indexes: [IndexList] = []
    /// The first faults in its result file, in lines.
    var faults: [String] = []
    /// All faults in its result file, as JSON.
    var diagnostics: [UInt8]?

    /// Nothing is known yet but what it is called.
    init(app: String, name: String, id: JobID?) {
        (self.app, self.name, self.id) = (app, name, id)
    }

    /// How it ended, if it did: its result file says more than its line. What was sent in part and is parked has not.
    var account: JobAccount? { rest?.sent == nil ? result ?? line : nil }

    /// Whether it is known to have begun, and neither where it is nor how it ended.
    var isOpen: Bool { file == nil && account == nil }

    /// What it is in a word: where its file is, or `removed` when that is nowhere.
    var state: String { file?.state ?? (live == nil && progress == nil ? "removed" : "sending") }

    /// The producer's name for it.
    var ref: String? { rest?.sent?.ref ?? result?.ref ?? line?.ref ?? ownRef }

    /// What became of its notifications, as far as that is known.
    var counts: JobAccount.Counts? {
        if let sent = rest?.sent { return JobAccount.Counts(sent.count, sent.progress.tally) }
        if let account { return account.counts }
        if let live { return JobAccount.Counts(live.facts.recipientCount, live.tally) }
        guard let progress else { return nil }
        var counts = JobAccount.Counts()
        counts.notifications = progress.count
        return counts
    }

    /// Which notifications have which outcome, or none yet, but for those accepted.
    var lists: [IndexList] {
        if let progress = rest?.sent?.progress { return Self.lists(of: progress) }
        guard indexes.isEmpty, let live, account == nil else { return indexes }
        return Self.lists(of: live.progress)
    }

    private static func lists(of progress: JournalProgress) -> [IndexList] {
        let settled = progress.runs.sorted { $0.key < $1.key }.map { IndexList($0.key, $0.value) }
        return settled + (progress.remaining.isEmpty ? [] : [IndexList("left", progress.remaining)])
    }
}

extension JobAccount.Counts {
    /// What became of so many notifications so far.
    fileprivate init(_ count: Int, _ tally: Tally) {
        self.init()
        notifications = count
        (accepted, rejected) = (tally.accepted, tally.rejected)
        (expired, unsent, unknown) = (tally.expired, tally.unsent, tally.unknown)
    }
}
