package import PushModel

/// One record of the journal.
///
/// `JournalBook` itself writes `runs`, `untold`, `checkpoint`, `synced`, `distrusted`, `end` and `begun`; its callers do not.
package enum JournalRecord: Hashable, Sendable {
    /// The job is about to be claimed. Synced before the claim.
    indirect case header(JournalHeader)
    /// The job's file is in `work/`.
    case claimed(JobID)
    /// These notifications are about to be sent, and must not be sent twice (`on_doubt: report`). Synced before they are sent.
    case intent(JobID, [Range<Int>])
    /// These notifications got an outcome.
    case result(JobID, JournalResult)
    /// These notifications have no outcome after all, and are sent again; this cancels their intent.
    case reopened(JobID, [Range<Int>])
    /// The job ended. Synced before its `job` line is published.
    indirect case final(JobID, JournalFinal)
    /// Feedback lines are published.
    indirect case published(JournalPublication)
    /// Nothing remains to be done for the job: it is archived, was never claimed, or its file is gone.
    case cleaned(JobID)
    /// Part of a carried job.
    case runs(JobID, JournalRuns)
    /// An outcome of a carried job whose lines may be unpublished.
    indirect case untold(JobID, JournalUntold)
    /// The end of a carried job. The records since its carried header replace all earlier ones.
    indirect case checkpoint(JobID, JournalCheckpoint)
    /// A file is about to be read.
    indirect case start(JournalSubject)
    /// The daemon survived reading a file but did not claim it, or the file is gone. The header of a claim says the same.
    indirect case ended(JournalSubject)
    /// The suspicion against a file, carried forward.
    indirect case suspect(JournalSubject, JournalSuspicion)
    /// The daemon shut down cleanly.
    case stopped
    /// The region is full; the next records are in another region.
    case end
    /// The region is durable up to an offset.
    case synced(JournalSyncMark)
    /// Damage lost records, which may have concerned any job that is live here. A carried copy says so only about jobs
    /// without records; for live jobs their checkpoints say it.
    case distrusted
    /// A daemon began. From here on, checksums in this region also start from the salt.
    case begun(salt: UInt32)
}

/// Indices of a carried job.
package struct JournalRuns: Hashable, Sendable {
    /// The state of the indices. The raw values are those in the file.
    package enum Kind: UInt8, CaseIterable, Hashable, Sendable {
        /// They have no outcome.
        case remaining = 1
        /// They were rejected.
        case rejected = 2
        /// They expired.
        case expired = 3
        /// They were given up.
        case unsent = 4
        /// Their outcome is unknown.
        case unknown = 5
        /// They were about to be sent and have no outcome.
        case intended = 6
    }

    /// The state of the indices.
    package var kind: Kind
    /// The indices.
    package var ranges: [Range<Int>]
}

extension JournalRuns.Kind {
    /// The state of notifications with an outcome of this kind; `nil` for accepted ones, which are only counted.
    init?(_ outcome: Outcome.Kind) {
        switch outcome {
        case .accepted: return nil
        case .rejected: self = .rejected
        case .expired: self = .expired
        case .unsent: self = .unsent
        case .unknown: self = .unknown
        }
    }
}

extension JournalRecord {
    /// The number of notifications whose outcome the record contains; 1 for other records.
    package var notificationCount: Int {
        guard case .result(_, let result) = self else { return 1 }
        return max(1, result.ranges.reduce(0) { $0 + $1.count })
    }
}

/// An outcome of a carried job whose lines may be unpublished.
package struct JournalUntold: Hashable, Sendable {
    /// The position of its first record. A PUBLISHED record refers to that position.
    package var origin: JournalPosition
    /// The outcome.
    package var result: JournalResult
}

/// Proof that a part of a region was durable. Missing records in that part are damage, not the effect of a crash.
///
/// The checksum starts from the region's epoch alone, so that the mark can be read after a damaged record.
package struct JournalSyncMark: Hashable, Sendable {
    /// The salt of the daemon that wrote it; 0 if that daemon began the region.
    package var salt: UInt32
    /// The end of the durable part, in bytes from the start of the region.
    package var through: Int
}

/// The end of a carried job.
package struct JournalCheckpoint: Hashable, Sendable {
    /// How many records came between the carried header and this one. If any is missing, the carry is torn.
    package var recordCount: Int
    /// Whether its file was moved to `work/`.
    package var isClaimed: Bool
    /// Whether its `job` line is published.
    package var isFinalTold: Bool
    /// Whether records of it may be missing because the journal was damaged.
    package var isDamaged: Bool
    /// The outcomes of its notifications so far.
    package var tally: Tally
    /// The position of the first record of its conclusion, if it has ended.
    package var finalOrigin: JournalPosition?
    /// Whether its rejected and expired notifications were too scattered to list.
    package var isAbridged = false
}
