/// The place in the program that a sync belongs to, so that tests can leave out one at a time and see what it was for.
package enum SyncSite: String, Hashable, Sendable, CaseIterable {
    /// The bytes of a job that is too long for the journal, before its claim.
    case jobFile
    /// The journal's records.
    case journal
    /// The journal's records that announce what is about to be sent and must not be sent twice: the wait for them.
    case intent
    /// The journal's space and first page, once.
    case journalFile
    /// The folder that the journal was made in, once.
    case journalFolder
    /// The file with a job's whole name.
    case fullName
    /// A feedback file, before it gets its name.
    case feedbackFile
    /// `feedback/`, before anything relies on what was published there.
    case feedbackFolder
    /// A result file, before it gets its name.
    case resultFile
    /// A day's folder in an archive, after moves to it.
    case archives
    /// What the moves to the archives came from.
    case archiveSource
    /// `hold/` after a job was parked there.
    case holdFolder
    /// Where a parked job came from, and `new/`, where it was before its claim.
    case holdSource
    /// The parent of a new folder: a day's, an app's.
    case newFolder
    /// The space that is kept for a full volume.
    case ballast
    /// What is kept between runs beside the journal.
    case state
    /// A signed token that is kept between runs.
    case tokenFile
    /// A job that a client submits, before it is published.
    case submission
    /// The folder that a client published a job in.
    case submissionFolder
    /// None of these.
    case other
}
