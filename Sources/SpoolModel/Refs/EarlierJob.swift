package import APNSModel

/// A job that was sent, of which another one is a duplicate.
package struct EarlierJob: Hashable, Sendable {
    /// Our id of it.
    package let id: JobID
    /// When it ended.
    package let endedAt: WallTime
    /// Whether it was known by its file, and not by its `id:`.
    package let isOfSameFile: Bool

    /// Creates the answer to which job it was.
    package init(id: JobID, endedAt: WallTime, isOfSameFile: Bool = false) {
        (self.id, self.endedAt, self.isOfSameFile) = (id, endedAt, isOfSameFile)
    }

    /// Why the other one fails, in words.
    package var explanation: String {
        let (what, remedy) =
            isOfSameFile
            ? ("a file of the same name, time and bytes", "touch it, or rename it,")
            : ("a job with the same id", "give it another id")
        return "\(what) was sent before: \(id), which ended at \(endedAt.rfc3339); \(remedy) to send it again"
    }
}
