/// The action at start for a job that an earlier daemon had started.
package enum RecoveryPlan: Hashable, Sendable {
    /// Where a job resumes.
    package struct Progress: Hashable, Sendable {
        /// The notifications to send. If it is empty and `doubtful` too, only the conclusion is missing.
        package var remaining: IndexRuns
        /// The outcomes of the others, not counting those in doubt.
        package var tally: Tally
        /// The notifications that may have been sent and must not be sent again. They get the outcome unknown first.
        package var doubtful: IndexRuns
    }

    /// Why a job is held. The raw values are those of metrics.
    package enum HoldReason: String, CaseIterable, Hashable, Sendable {
        /// Its bytes are not those that were checked.
        case changed
        /// The daemon died repeatedly while reading it.
        case poison
        /// The journal is damaged, and may have lost records of the job.
        case damagedJournal = "damaged_journal"

        /// The reason as text.
        package var explanation: String {
            switch self {
            case .changed: "its content changed after it was checked"
            case .poison: "the daemon crashed on it repeatedly"
            case .damagedJournal: "its journal records may be damaged or lost"
            }
        }
    }

    /// Why the journal forgets a job.
    package enum ForgetReason: Hashable, Sendable {
        /// Nothing is known of the job.
        case unknown
        /// The job was never claimed.
        case neverOurs
        /// The job ended, its feedback is published, and its file was removed since.
        case told
        /// The file was removed, and the journal has no copy.
        case gone
    }

    /// Resume the job.
    case resume(Progress)
    /// Read the file as if it had just been dropped: nothing of it was ever sent.
    case startOver
    /// Rename the file from `new/` to `work/` under its old id, then decide again.
    case claimAgain
    /// Write the file's bytes from the journal to `work/`, then decide again.
    case restore
    /// Finish an ended job: publish the lines of it that may be unpublished, and its `job` line, and archive it; if it is
    /// archived already, only sync that. Then clean it.
    case finish
    /// Write CLEANED, if the journal has records of the job.
    case forget(ForgetReason)
    /// Leave the job in `hold/`.
    case leave
    /// Move the job to `hold/`.
    case hold(HoldReason)

    /// Decides what to do; all such decisions are made here. The caller has removed a superfluous link in `new/`.
    package init(_ record: RecoveryRecord, found: RecoveryFindings) {
        switch record {
        case .none: self = found.work == .absent ? .forget(.unknown) : .startOver
        case .orphan: self = found.work == .absent ? .forget(.gone) : .hold(.damagedJournal)
        case .job(let job, let suspicion):
            if found.isHeld {
                self = .leave
            } else if job.final != nil {
                self = Self.afterEnd(of: job, found)
            } else {
                self = Self.beforeEnd(of: job, suspicion, found)
            }
        }
    }

    /// Decides for a job that has ended. Nothing more is sent, so doubts about its file do not matter.
    private static func afterEnd(of job: JournalJob, _ found: RecoveryFindings) -> RecoveryPlan {
        if found.isArchived { return .finish }
        switch found.work {
        case .same, .other: return .finish
        case .torn: return job.holdsBytes ? .restore : .finish
        case .absent: break
        }
        if found.isInNew { return .claimAgain }
        if job.holdsBytes { return .restore }
        return .forget(job.isFinalTold && !job.hasUntold ? .told : .gone)
    }

    private static func beforeEnd(
        of job: JournalJob, _ suspicion: JournalSuspicion?, _ found: RecoveryFindings
    ) -> RecoveryPlan {
        switch found.work {
        case .same: return goOn(job, suspicion)
        case .torn: return job.holdsBytes ? .restore : .hold(.changed)
        case .other: return .hold(.changed)
        case .absent: break
        }
        if found.isInNew { return .claimAgain }
        // The job was ours if anything was recorded after its header, or if the file in `new/` is the one that was read
        // and was torn since.
        guard job.isTouched || found.isTornInNew else { return .forget(.neverOurs) }
        let isLost = !found.mayBeElsewhere || found.isTornInNew
        return job.holdsBytes && isLost ? .restore : .forget(.gone)
    }

    /// Decides for a job whose file is complete and in place.
    private static func goOn(_ job: JournalJob, _ suspicion: JournalSuspicion?) -> RecoveryPlan {
        if job.isDamaged { return .hold(.damagedJournal) }
        if suspicion?.judgement == .hold { return .hold(.poison) }
        var remaining = job.remaining
        for run in job.intents.runs { remaining.subtract(run) }
        return .resume(Progress(remaining: remaining, tally: job.tally, doubtful: job.intents))
    }
}
