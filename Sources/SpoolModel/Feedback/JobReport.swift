import Document
package import JobFormat
package import JournalModel
package import PushModel

/// The identity of a job in feedback: its file name, the daemon's id, and the producer's id.
package struct JobIdentity: Hashable, Sendable {
    /// The name of the dropped file.
    package var name: FileName
    /// The daemon's id.
    package var id: JobID
    /// The producer's `id:`.
    package var ref: String?
    /// Whether readers may wait for its lines, so that they are told before they are published.
    package var isAwaited = false

    /// Creates an identity.
    package init(name: FileName, id: JobID, ref: String? = nil) {
        self.name = name
        self.id = id
        self.ref = ref
    }

    /// Writes the members.
    func write(to writer: inout JSONWriter) {
        writer.member("job", name)
        writer.member("id", id)
        writer.member("ref", ref)
    }
}

/// How a job ended: the content of its `job` line and of the head of its result file.
package struct JobReport: Hashable, Sendable {
    /// The job.
    package var identity: JobIdentity
    /// How it ended.
    package var conclusion: Conclusion
    /// How many recipients the job has, valid or not; 0 if it could not be read.
    package var notificationCount: Int
    /// The path of its file now, relative to the spool.
    package var path: String
    /// When it was dropped.
    package var droppedAt: WallTime
    /// When it was claimed; `nil` if it was not.
    package var claimedAt: WallTime?
    /// When it ended.
    package var finishedAt: WallTime
    /// Whether the file was known to be complete: it said so itself, or it was renamed into place.
    package var isKnownComplete = true
    /// How many bytes were added to the file after it was claimed; nothing of them was sent.
    package var unreadByteCount: Int64 = 0
    /// The earlier job that this one duplicates, if any.
    package var earlier: SentTwin?
    /// The gateway's own ids of the job's first notifications, by index. Only Apple's sandbox sends them.
    package var uniqueIDs: [Int: String] = [:]

    /// Creates the report of a job that ended just now; the caller sets the other members.
    package init(_ identity: JobIdentity, _ conclusion: Conclusion, notificationCount: Int, at time: WallTime) {
        self.identity = identity
        self.conclusion = conclusion
        self.notificationCount = notificationCount
        self.path = ""
        self.droppedAt = time
        self.finishedAt = time
    }

    /// Whether the job gets a result file.
    package var needsResult: Bool {
        unreadByteCount > 0 || ResultFile.isNeeded(for: conclusion, notificationCount: notificationCount)
    }

    /// Writes the counts.
    func write(to writer: inout JSONWriter) {
        writer.member("notifications", notificationCount)
        conclusion.tally.write(to: &writer)
    }

    /// Writes the gateway's own ids as an object, by index.
    func writeUniqueIDs(to writer: inout JSONWriter) {
        writer.beginObject()
        for (index, id) in uniqueIDs.sorted(by: { $0.key < $1.key }) { writer.member(String(index), id) }
        writer.endObject()
    }
}
