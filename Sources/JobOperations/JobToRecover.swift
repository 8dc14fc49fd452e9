package import JournalModel
package import SpoolStore

/// A job in `work/` that an earlier daemon claimed, with the journal's record of it.
package struct JobToRecover {
    /// The job's file.
    package let claimed: ClaimedJob
    /// What the journal knows of it.
    package let record: RecoveryRecord

    /// Creates a job from its file and the journal's record.
    package init(claimed: ClaimedJob, record: RecoveryRecord) {
        (self.claimed, self.record) = (claimed, record)
    }

    /// Whether any of its lines may be unpublished.
    package var hasUntold: Bool {
        switch record {
        case .job(let job, _): !job.untold.isEmpty
        case .none, .orphan: false
        }
    }

    /// How the job ended; `nil` if it has not.
    package var final: JournalFinal? {
        switch record {
        case .job(let job, _): job.final
        case .none, .orphan: nil
        }
    }
}
