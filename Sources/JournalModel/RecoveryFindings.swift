/// Where the daemon found a job's file when it started.
package struct RecoveryFindings: Hashable, Sendable {
    /// The result of comparing a file with the bytes that were checked.
    package enum Copy: CaseIterable, Hashable, Sendable {
        /// The file does not exist.
        case absent
        /// The bytes are the same.
        case same
        /// A prefix of the bytes, possibly empty, followed by nothing or zeros: the effect of a power cut.
        case torn
        /// The bytes differ.
        case other

        /// Compares the bytes of a small job's file with those in the journal.
        package init(_ found: [UInt8], expected: [UInt8]) {
            if found == expected {
                self = .same
                return
            }
            let end = (found.lastIndex { $0 != 0 } ?? -1) + 1
            let isTorn = found.count <= expected.count && expected.starts(with: found.prefix(end))
            self = isTorn ? .torn : .other
        }
    }

    /// The file in `work/`.
    package var work: Copy = .absent
    /// Whether `new/` contains the same bytes under the job's own name.
    package var isInNew = false
    /// Whether the file of that name is identical (device and inode) to the one in the archive or in `hold/`, after a
    /// power cut.
    package var isLinkedInNew = false
    /// Whether the file of that name is the one that was read, torn by a power cut.
    package var isTornInNew = false
    /// Whether the file is in its place in the archive.
    package var isArchived = false
    /// Whether the file is in `hold/`.
    package var isHeld = false
    /// Whether another node may have the file, which it got by way of `new/` or `hold/`. In a cluster claims are synced:
    /// a file that is absent was moved.
    package var mayBeElsewhere = false

    /// Creates the findings of a job whose file was not found; the caller sets the other members.
    package init() {}

    /// Whether to remove the link in `new/`, since the file is also in a later folder. Its bytes do not matter.
    package var dropsLinkInNew: Bool {
        isLinkedInNew && (work != .absent || isArchived || isHeld)
    }
}

/// The journal's knowledge of a job.
package enum RecoveryRecord: Sendable {
    /// The journal has no record of the job.
    case none
    /// The records were lost: the job has no header, or the journal was damaged.
    case orphan
    /// A live job, and the suspicion against its file.
    case job(JournalJob, suspicion: JournalSuspicion?)
}
