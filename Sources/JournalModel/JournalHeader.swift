package import JobFormat
package import PushModel

/// The record of a job's identity and its bytes or their checksums. It is synced before the job is claimed.
package struct JournalHeader: Hashable, Sendable {
    /// The part of a header that is kept in memory.
    package struct Facts: Hashable, Sendable {
        /// The daemon's id of the job.
        package var id: JobID
        /// The app.
        package var app: String
        /// The name of the dropped file.
        package var name: FileName
        /// The size of the file in bytes.
        package var byteCount: Int64 = 0
        /// How many recipients the job has, valid or not.
        package var recipientCount = 0
        /// The policy for notifications that were written but not answered.
        package var onDoubt = OnDoubt.resend
        /// Whether accepted notifications get a feedback line too (`record: all`).
        package var recordsAll = false
        /// Whether the file was known to be complete: it said so itself, or it was renamed into place.
        package var isKnownComplete = true
        /// Whether it was renamed into place.
        package var isPublishedByRename = true
        /// Whether the job is sent even if another job with its producer's id was sent: it had been started, or an
        /// operator decided so (`retry --whole`).
        package var isSentAnyway = false
        /// When it was dropped.
        package var droppedAt = WallTime(nanoseconds: 0)
        /// When it was claimed.
        package var claimedAt = WallTime(nanoseconds: 0)
        /// The device of the file that was read.
        package var device: UInt64 = 0
        /// Its inode.
        package var inode: UInt64 = 0

        /// Creates the facts of a job; the caller sets the other members.
        package init(id: JobID, app: String, name: FileName) {
            (self.id, self.app, self.name) = (id, app, name)
        }
    }

    /// The content of the file, as far as the journal stores it.
    package enum Content: Hashable, Sendable {
        /// All bytes: a small job.
        case bytes([UInt8])
        /// A CRC-32C for each MiB: a large job.
        case checks([UInt32])
    }

    /// The most bytes of a small job, whose bytes go into the journal. The file of a large job is synced before it is claimed.
    package static let byteLimit = 64 << 10
    /// The number of bytes that one checksum of a large job covers.
    package static let checkedByteCount = 1 << 20

    /// Returns the number of checksums for a large job of this size.
    package static func checkCount(of byteCount: Int64) -> Int {
        Int(byteCount / Int64(checkedByteCount)) + (byteCount % Int64(checkedByteCount) > 0 ? 1 : 0)
    }

    /// The part of the header that is kept in memory.
    package var facts: Facts
    /// The bytes or their checksums.
    package var content: Content

    /// Creates a header.
    package init(_ facts: Facts, content: Content) {
        (self.facts, self.content) = (facts, content)
    }

    /// Whether the job's file can be rebuilt from the journal alone.
    package var holdsBytes: Bool {
        switch content {
        case .bytes: true
        case .checks: false
        }
    }
}
