import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Reads on which refs were sent before, a part of it at a time; to be called before `run`, until there is no more.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: that cannot be read. The app cannot run: it does not know what was sent.
    func readRefs() throws(SystemError) -> Bool { try refs?.readOn() ?? false }

    /// Whether a job may be claimed, as far as its ref goes; if not, the intake has its answer.
    ///
    /// While another job of the ref is under way it waits in `new/`, since that one may come to nothing. If one was sent it
    /// is claimed to fail.
    func admitRef(of read: inout ReadJob, _ name: FileName) throws(SystemError) -> Bool {
        // What was sent in part goes on, whatever was sent of its ref meanwhile; so does what an operator wants to be sent.
        guard refs != nil, read.rest?.isSentAnyway != true, read.summary.failure == nil,
            let ref = read.summary.header.ref
        else { return true }
        // What an earlier run has left, and nobody has looked into, may have the same.
        let isUnknown = !leftJobs.isEmpty || !takingUp.isEmpty
        guard isUnknown || refTurns.isTaken(ref) else {
            try judgeRef(of: &read, at: .now)
            return true
        }
        let isRemembered = refTurns.wait(name, for: isUnknown ? RefTurns.unknown : ref)
        intake.answer(name, isRemembered ? .deferred : .busy, at: .now)
        logger.debug("job waits for another of its id", metadata: [LogKey.job: "\(name)"])
        return false
    }

    /// Has a job fail if another of its ref was sent, as is known at a time of day.
    func judgeRef(of read: inout ReadJob, at time: WallTime) throws(SystemError) {
        guard let refs, read.summary.failure == nil, let ref = read.summary.header.ref,
            let earlier = try refs.job(sentWith: ref, before: read.context.job, at: time)
        else { return }
        (read.summary.failure, read.earlier) = (.duplicate, earlier)
    }

    /// Judges a job of an earlier run anew, as it was judged before its claim, unless somebody may have got it.
    func judgeRef(
        of read: inout ReadJob, _ left: LeftJob, _ progress: RecoveryPlan.Progress
    ) throws(SystemError) {
        guard case .job(let known, _) = left.record, !progress.tally.isAnyoneReached, progress.doubtful.isEmpty
        else { return }
        try judgeRef(of: &read, at: known.facts.claimedAt)
    }

    /// Notes that a job is announced, or under way: another of its ref has to wait.
    func beginRefTurn(_ summary: JobSummary) {
        guard refs != nil, summary.failure == nil, let ref = summary.header.ref else { return }
        refTurns.begin(ref)
    }

    /// Notes that it is so no more.
    func endRefTurn(_ summary: JobSummary) {
        guard refs != nil, summary.failure == nil, let ref = summary.header.ref else { return }
        reconsider(refTurns.end(ref))
    }

    /// Looks again at files that waited for other jobs.
    func reconsider(_ names: Set<FileName>) {
        guard !names.isEmpty else { return }
        for name in names { intake.resume(name, at: .now) }
        intakeBell.ring()
    }

    /// Keeps the refs of jobs that are over and were sent, at least in part, before anybody is told so and before they are
    /// archived: whatever happens then, another of the ref is known to be a duplicate.
    ///
    /// - Returns: `false` if they cannot be kept; nothing is told then.
    func keepRefs(of ids: [JobID]) -> Bool {
        guard refs != nil else { return true }
        return keep(
            ids.compactMap { id -> RefRecord? in
                guard let job = jobs[id], case .settled(let conclusion) = job.machine.state else { return nil }
                return job.refRecord(conclusion.tally)
            })
    }

    /// Keeps the ref of a job that is about to be parked, if somebody got it: it may stay in `hold/` for long.
    ///
    /// - Returns: `false` if it cannot be kept; the job is not parked then.
    func keepRef(ofParked job: ActiveJob) -> Bool {
        guard refs != nil, let record = job.refRecord(job.machine.tally) else { return true }
        return keep([record])
    }

    private func keep(_ records: [RefRecord]) -> Bool {
        guard let refs, !records.isEmpty else { return true }
        do throws(SystemError) {
            try refs.keep(records, at: .now)
            return true
        } catch {
            note(failure: error)
            let hint: Logger.MetadataValue = "no job ends before they can; see to state; intake.dedupe: 0 does without"
            logger.error("ids of jobs cannot be kept", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
            return false
        }
    }
}

extension ActiveJob {
    /// That the job was sent, if it has a ref and somebody got it.
    fileprivate func refRecord(_ tally: Tally) -> RefRecord? {
        guard let ref = summary.header.ref, tally.isAnyoneReached else { return nil }
        return RefRecord(ref, id: claimed.id, endedAt: finishedAt ?? .now)
    }
}
