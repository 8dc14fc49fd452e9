package import APNSModel

/// What is recorded of a job when it is claimed, and synced before the claim: who it is, and its bytes or their checksums.
package struct JournalHeader: Hashable, Sendable {
    /// What is kept in memory of it.
    package struct Facts: Hashable, Sendable {
        /// Our id of the job.
        package var id: JobID
        /// The app.
        package var app: String
        /// The name it was dropped under.
        package var name: FileName
        /// How long the file is.
        package var byteCount: Int64 = 0
        /// How many recipients it has, good or bad.
        package var recipientCount = 0
        /// What to do with what was written without an answer.
        package var onDoubt = OnDoubt.resend
        /// Whether accepted notifications get a feedback line too (`record: all`).
        package var recordsAll = false
        /// Whether the file said itself that it was whole, or was renamed into place.
        package var isSealed = true
        /// Whether it was renamed into place.
        package var isPublishedByRename = true
        /// Whether it is sent though another job with its producer's id was: what was begun goes on, and an operator has the
        /// last word (`retry --whole`).
        package var isSentAnyway = false
        /// When it was dropped.
        package var droppedAt = WallTime(nanoseconds: 0)
        /// When it was claimed.
        package var claimedAt = WallTime(nanoseconds: 0)
        /// The device of the file that was read.
        package var device: UInt64 = 0
        /// Its inode.
        package var inode: UInt64 = 0

        /// Creates the facts of a job; the other members are set by hand.
        package init(id: JobID, app: String, name: FileName) {
            (self.id, self.app, self.name) = (id, app, name)
        }
    }

    /// What the journal knows of the file's bytes.
    package enum Content: Hashable, Sendable {
        /// All of them: a small job.
        case bytes([UInt8])
        /// A CRC-32C of every MiB: a large job.
        case checks([UInt32])
    }

    /// How many bytes a job may have whose bytes go into the journal; a large job's file is synced before it is claimed.
    package static let byteLimit = 64 << 10
    /// How many bytes one checksum of a large job covers.
    package static let checkedByteCount = 1 << 20

    /// How many checksums a large job of that many bytes has.
    package static func checkCount(of byteCount: Int64) -> Int {
        Int(byteCount / Int64(checkedByteCount)) + (byteCount % Int64(checkedByteCount) > 0 ? 1 : 0)
    }

    /// What is kept in memory of it.
    package var facts: Facts
    /// The bytes or their checksums.
    package var content: Content

    /// Creates a header.
    package init(_ facts: Facts, content: Content) {
        (self.facts, self.content) = (facts, content)
    }

    /// Whether the job can be written again from the journal alone.
    package var holdsBytes: Bool {
        switch content {
        case .bytes: true
        case .checks: false
        }
    }
}
