/// Where the file of a job was found at start.
package struct RecoveryFindings: Hashable, Sendable {
    /// A file compared with the bytes that were checked.
    package enum Copy: CaseIterable, Hashable, Sendable {
        /// There is none.
        case absent
        /// The same bytes.
        case same
        /// A beginning of the bytes, maybe none of them, then nothing or zeros: as a power cut leaves it.
        case torn
        /// Other bytes.
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

    /// What stands in `work/`.
    package var work: Copy = .absent
    /// Whether the same bytes stand in `new/` under the job's own name.
    package var isInNew = false
    /// Whether the file of that name is the very one (device and inode) that is in the archive or in `hold/` too, as a
    /// power cut can leave it.
    package var isLinkedInNew = false
    /// Whether the file of that name is the one that was read, and a power cut has torn it.
    package var isTornInNew = false
    /// Whether it stands in its place in the archive.
    package var isArchived = false
    /// Whether it stands in `hold/`.
    package var isHeld = false

    /// Creates the findings of a job found nowhere; the members are set by hand.
    package init() {}

    /// Whether the link in `new/` must be removed, since the file has got further. Its bytes do not matter: it is that file.
    package var dropsLinkInNew: Bool {
        isLinkedInNew && (work != .absent || isArchived || isHeld)
    }
}

/// What the journal knows of a job whose file was found, or of a job at all.
package enum RecoveryRecord: Sendable {
    /// Nothing.
    case none
    /// Nothing, since its records were lost: it has no header, or the journal was damaged.
    case orphan
    /// A live job, and what is known against its file.
    case job(JournalJob, suspicion: JournalSuspicion?)
}
