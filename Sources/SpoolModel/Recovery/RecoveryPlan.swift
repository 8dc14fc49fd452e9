/// What to do at start with a job that an earlier daemon had begun.
package enum RecoveryPlan: Hashable, Sendable {
    /// Where a job goes on.
    package struct Progress: Hashable, Sendable {
        /// What is to be sent. If it is empty, and nothing is doubtful, only the end is missing.
        package var remaining: IndexRuns
        /// What became of the rest, those in doubt not counted yet.
        package var tally: Tally
        /// What may have been sent and must not be sent again: it gets the outcome unknown before all else.
        package var doubtful: IndexRuns
    }

    /// Why a job goes to `hold/`.
    package enum HoldReason: Hashable, Sendable {
        /// Its bytes are not those that were checked.
        case changed
        /// The daemon died over it again and again.
        case poison
        /// The journal may have told more of it, and is damaged there.
        case damagedJournal
    }

    /// Why a job is forgotten.
    package enum Farewell: Hashable, Sendable {
        /// Nothing is known of it.
        case unknown
        /// It was never claimed.
        case neverOurs
        /// It ended and everybody knows; its file was taken away since.
        case told
        /// Somebody took its file away, and the journal has no copy.
        case gone
    }

    /// Go on.
    case resume(Progress)
    /// Read it as if it had just been dropped: nothing of it was ever sent.
    case startOver
    /// Rename it from `new/` to `work/` under its old id, then decide again.
    case claimAgain
    /// Write its bytes from the journal to `work/`, then decide again.
    case restore
    /// Do what is left after its end: publish lines and the `job` line if they may not be out, archive it, clean.
    case finish(publishAgain: Bool)
    /// Write CLEANED, if the journal knows it at all.
    case forget(Farewell)
    /// It is in `hold/`, and stays.
    case leave
    /// Move it to `hold/`.
    case hold(HoldReason)

    /// Decides; the one place where this is decided. A link in `new/` of a file that got further is dropped first.
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

    /// The job has ended: nothing is sent any more, and no doubt about its file matters.
    private static func afterEnd(of job: JournalJob, _ found: RecoveryFindings) -> RecoveryPlan {
        let publishAgain = !job.isFinalTold || job.hasUntold
        if found.isArchived { return .finish(publishAgain: publishAgain) }
        switch found.work {
        case .same, .other: return .finish(publishAgain: publishAgain)
        case .torn: return job.holdsBytes ? .restore : .finish(publishAgain: publishAgain)
        case .absent: break
        }
        if found.isInNew { return .claimAgain }
        if job.holdsBytes { return .restore }
        return publishAgain ? .finish(publishAgain: true) : .forget(.told)
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
        // The very file that was read, torn since: it was ours if anything of it was sent, and whole when it was dropped.
        guard job.isTouched || found.isTornInNew else { return .forget(.neverOurs) }
        return job.holdsBytes ? .restore : .forget(.gone)
    }

    /// The file is whole and in place.
    private static func goOn(_ job: JournalJob, _ suspicion: JournalSuspicion?) -> RecoveryPlan {
        if job.isDamaged { return .hold(.damagedJournal) }
        if suspicion?.judgement == .hold { return .hold(.poison) }
        var remaining = job.remaining
        for run in job.intents.runs { remaining.subtract(run) }
        return .resume(Progress(remaining: remaining, tally: job.tally, doubtful: job.intents))
    }
}
