import SpoolModel
import SpoolStore

/// A job in `work/` that an earlier daemon had claimed, and what the journal knows of it.
struct LeftJob {
    let claimed: ClaimedJob
    let record: RecoveryRecord

    /// Whether lines of it may not be out.
    var hasUntold: Bool {
        switch record {
        case .job(let job, _): !job.untold.isEmpty
        case .none, .orphan: false
        }
    }

    /// How it ended, if it has.
    var final: JournalFinal? {
        switch record {
        case .job(let job, _): job.final
        case .none, .orphan: nil
        }
    }
}
