import JournalModel
import SpoolStore

/// A job in `work/` that an earlier daemon claimed, with the journal's record of it.
struct JobToRecover {
    let claimed: ClaimedJob
    let record: RecoveryRecord

    /// Whether any of its lines may be unpublished.
    var hasUntold: Bool {
        switch record {
        case .job(let job, _): !job.untold.isEmpty
        case .none, .orphan: false
        }
    }

    /// How the job ended; `nil` if it has not.
    var final: JournalFinal? {
        switch record {
        case .job(let job, _): job.final
        case .none, .orphan: nil
        }
    }
}
