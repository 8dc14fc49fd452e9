package import APNSModel

/// A job that was sent, of which another one is a duplicate.
package struct EarlierJob: Hashable, Sendable {
    /// Our id of it.
    package let id: JobID
    /// When it ended.
    package let endedAt: WallTime

    /// Creates the answer to which job it was.
    package init(id: JobID, endedAt: WallTime) {
        (self.id, self.endedAt) = (id, endedAt)
    }

    /// Why the other one fails, in words.
    package var explanation: String {
        "a job with the same id was sent before: \(id), which ended at \(endedAt.rfc3339); give it another id to send it again"
    }
}
