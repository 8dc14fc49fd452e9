package import PushModel

/// A job that was sent, and that another job duplicates.
package struct SentTwin: Hashable, Sendable {
    /// The daemon's id of the job.
    package let id: JobID
    /// When it ended.
    package let endedAt: WallTime
    /// Whether the jobs have the same file, not the same `id:`.
    package let isOfSameFile: Bool

    /// Creates a description of the earlier job.
    package init(id: JobID, endedAt: WallTime, isOfSameFile: Bool = false) {
        (self.id, self.endedAt, self.isOfSameFile) = (id, endedAt, isOfSameFile)
    }

    /// Why the duplicate fails, in words.
    package var explanation: String {
        let (what, remedy) =
            isOfSameFile
            ? ("a file with the same name, time and bytes", "touch or rename it")
            : ("a job with the same id", "give it another id")
        return "\(what) was already sent: \(id), which ended at \(endedAt.rfc3339); \(remedy) to send it again"
    }
}
