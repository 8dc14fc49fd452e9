/// The purpose of a sync. Tests can skip the syncs of one site to see what depends on them.
package enum SyncSite: String, Hashable, Sendable, CaseIterable {
    /// The bytes of a job that the journal does not have, before its claim, or that it is about to forget.
    case jobFile
    /// The journal's records.
    case journal
    /// The wait for the journal records that announce notifications about to be sent that must not be sent twice.
    case intent
    /// The journal's space and first page, once.
    case journalFile
    /// The folder that contains the journal, once.
    case journalFolder
    /// The file that stores a job's full name.
    case fullName
    /// `work/<node>/` and `new/` after claims, in a cluster.
    case claims
    /// A feedback file, before it is renamed to its final name.
    case feedbackFile
    /// `feedback/`, before other code relies on a file published there.
    case feedbackFolder
    /// A result file, before it is renamed to its final name.
    case resultFile
    /// A day's folder in an archive, or the whole filesystem, after moves into archives.
    case archives
    /// `hold/`, after a job was moved there.
    case holdFolder
    /// The folder that a held job came from, and `new/`, where it was before its claim.
    case holdSource
    /// Moves before a move to or from `hold/`, which syncs the folders that they left.
    case earlierMoves
    /// The parent of a new day or app folder.
    case newFolder
    /// The ballast file that reserves space for a full volume.
    case ballast
    /// State kept between runs, other than the journal.
    case state
    /// A signed token kept between runs.
    case tokenFile
    /// A job that a client submits, before it is published.
    case submission
    /// The folder in which a client published a job.
    case submissionFolder
    /// Any other sync.
    case other
}
