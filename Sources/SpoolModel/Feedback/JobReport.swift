package import APNSModel
import Document

/// What names a job in feedback: its file, our id, and the producer's own name for it.
package struct JobIdentity: Hashable, Sendable {
    /// The name it was dropped under.
    package var name: FileName
    /// Our id.
    package var id: JobID
    /// The producer's `id:`.
    package var ref: String?

    /// Creates an identity.
    package init(name: FileName, id: JobID, ref: String? = nil) {
        self.name = name
        self.id = id
        self.ref = ref
    }

    /// Writes its members.
    func write(to writer: inout JSONWriter) {
        writer.member("job", name)
        writer.member("id", id)
        writer.member("ref", ref)
    }
}

/// How a job ended: what its `job` line and the head of its result file say.
package struct JobReport: Hashable, Sendable {
    /// The job.
    package var identity: JobIdentity
    /// How it ended.
    package var conclusion: Conclusion
    /// How many recipients it has, good or bad; 0 if it could not be read.
    package var notificationCount: Int
    /// Where it is now, relative to the spool.
    package var path: String
    /// When it was dropped.
    package var droppedAt: WallTime
    /// When it was claimed; `nil` if it never was.
    package var claimedAt: WallTime?
    /// When it ended.
    package var finishedAt: WallTime
    /// Whether the file said itself that it was whole, or was renamed into place.
    package var isSealed = true
    /// The job that it is a duplicate of, if it is one.
    package var earlier: EarlierJob?

    /// Creates the report of a job that ended just now; its other members are set by hand.
    package init(_ identity: JobIdentity, _ conclusion: Conclusion, notificationCount: Int, at time: WallTime) {
        self.identity = identity
        self.conclusion = conclusion
        self.notificationCount = notificationCount
        self.path = ""
        self.droppedAt = time
        self.finishedAt = time
    }

    /// Writes the counts.
    func write(to writer: inout JSONWriter) {
        let tally = conclusion.tally
        writer.member("notifications", notificationCount)
        writer.member("accepted", tally.accepted)
        writer.member("rejected", tally.rejected)
        writer.member("expired", tally.expired)
        writer.member("unsent", tally.unsent)
        writer.member("unknown", tally.unknown)
    }
}
