package import APNSModel

/// One record of the journal.
///
/// `runs`, `untold`, `checkpoint`, `synced`, `distrusted`, `end` and `begun` are written by a `JournalBook` on its own
/// account.
package enum JournalRecord: Hashable, Sendable {
    /// A job is about to be claimed. Synced before the claim.
    indirect case header(JournalHeader)
    /// The job's file is in `work/`.
    case claimed(JobID)
    /// These are about to be sent, and must not be sent twice (`on_doubt: report`). Synced before they are sent.
    case intent(JobID, [Range<Int>])
    /// These got an outcome.
    case result(JobID, JournalResult)
    /// These have no outcome after all and are to be sent again; an intent for them is taken back.
    case reopened(JobID, [Range<Int>])
    /// The job ended. Synced before its `job` line is published.
    indirect case final(JobID, JournalFinal)
    /// Feedback lines are out.
    indirect case published(JournalPublication)
    /// Nothing is left to do for the job: it is archived, or was never ours, or is gone.
    case cleaned(JobID)
    /// Part of a job that is carried forward.
    case runs(JobID, JournalRuns)
    /// An outcome of a job that is carried forward, whose lines are not known to be out.
    indirect case untold(JobID, JournalUntold)
    /// The end of a job that is carried forward: what came since its carried header replaces all before.
    indirect case checkpoint(JobID, JournalCheckpoint)
    /// A file is about to be read.
    indirect case start(JournalSubject)
    /// The daemon survived reading a file that was not claimed, or the file is gone. A claim's header says the same.
    indirect case ended(JournalSubject)
    /// What is known against a file, carried forward.
    indirect case suspect(JournalSubject, JournalSuspicion)
    /// The daemon ended as it should.
    case stopped
    /// The region is full; what follows is in the next one.
    case end
    /// All up to a place in this region is durable.
    case synced(JournalSyncMark)
    /// Records were lost by damage: every job that is live here may have been told of in them. Carried forward it says so only of
    /// jobs that have no records; what it says of those that are live is in their checkpoints.
    case distrusted
    /// A daemon began. The checksums of what it writes into this region start from the salt too.
    case begun(salt: UInt32)
}

/// Indices of a job that is carried forward.
package struct JournalRuns: Hashable, Sendable {
    /// What is told of the indices. The raw values are those in the file.
    package enum Kind: UInt8, CaseIterable, Hashable, Sendable {
        /// They have no outcome yet.
        case remaining = 1
        /// They were rejected.
        case rejected = 2
        /// They expired.
        case expired = 3
        /// They were given up.
        case unsent = 4
        /// They are in doubt.
        case unknown = 5
        /// They were about to be sent and have no outcome.
        case intended = 6
    }

    /// What is told of them.
    package var kind: Kind
    /// The indices.
    package var ranges: [Range<Int>]
}

extension JournalRecord {
    /// Of how many notifications it tells the outcome; 1 if it tells something else.
    package var notificationCount: Int {
        guard case .result(_, let result) = self else { return 1 }
        return max(1, result.ranges.reduce(0) { $0 + $1.count })
    }
}

/// An outcome of a job that is carried forward, whose lines are not known to be out.
package struct JournalUntold: Hashable, Sendable {
    /// Where it was recorded first: what a PUBLISHED record says of that place holds for it.
    package var origin: JournalPosition
    /// The outcome.
    package var result: JournalResult
}

/// Proof that a part of a region was durable: what is missing of it was not lost in a crash, but damaged since.
///
/// Its checksum starts from the region's epoch alone, so that it can be read behind a damaged record.
package struct JournalSyncMark: Hashable, Sendable {
    /// The salt of the daemon that wrote it; 0 if that began its first region with this one.
    package var salt: UInt32
    /// Where the durable part ends, in bytes from the beginning of the region.
    package var through: Int
}

/// The end of a job that is carried forward.
package struct JournalCheckpoint: Hashable, Sendable {
    /// How many records of the job came since its carried header, which counts; all of them, or the carry is torn.
    package var recordCount: Int
    /// Whether its file was in `work/`.
    package var isClaimed: Bool
    /// Whether its `job` line is out.
    package var isFinalTold: Bool
    /// Whether a damaged part of the journal may have told more of it.
    package var isDamaged: Bool
    /// What became of its notifications so far.
    package var tally: Tally
    /// Where its end was recorded first, if it has ended.
    package var finalOrigin: JournalPosition?
    /// Whether its rejected and expired notifications were too scattered to be listed.
    package var isAbridged = false
}
