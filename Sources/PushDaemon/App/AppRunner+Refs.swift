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

    /// Whether a job may be claimed, as far as others go that are the same; if not, the intake has its answer.
    ///
    /// While such a one is under way it waits in `new/`, since that one may come to nothing. If one was sent it is claimed to
    /// fail.
    func admitRef(of read: inout ReadJob, _ name: FileName) throws(SystemError) -> Bool {
        let signs = signs(of: read.summary)
        guard !signs.isEmpty, !read.isSentAnyway else { return true }
        let isUnknown = isAnyLeft(whichMayBe: name, read.summary)
        let taken = signs.first(where: refTurns.isTaken)
        guard isUnknown || taken != nil else {
            try judgeRef(of: &read, at: .now)
            return true
        }
        let isRemembered = refTurns.wait(name, for: isUnknown ? nil : taken)
        intake.answer(name, isRemembered ? .deferred : .busy, at: .now)
        logger.debug("job waits for another that may be the same", metadata: [LogKey.job: "\(name)"])
        return false
    }

    /// Whether an earlier run has left jobs that nobody has looked into, and one may be the same: any, by its ref; and by its
    /// file one of its name.
    private func isAnyLeft(whichMayBe name: FileName, _ summary: JobSummary) -> Bool {
        let left = [leftJobs, takingUp].joined()
        return summary.header.ref == nil ? left.contains { $0.claimed.name == name } : !left.isEmpty
    }

    /// What a job that is to be sent may have in common with others; nothing if they are not compared.
    private func signs(of summary: JobSummary) -> [JobSign] {
        refs == nil || summary.failure != nil ? [] : summary.signs
    }

    /// Has a job fail if the same was sent before, as is known at a time of day.
    func judgeRef(of read: inout ReadJob, at time: WallTime) throws(SystemError) {
        guard let refs else { return }
        let (id, summary) = (read.context.job, read.summary)
        guard summary.failure == nil else { return }
        var earlier: EarlierJob?
        if let ref = summary.header.ref { earlier = try refs.job(sentWith: .ref(ref), before: id, at: time) }
        if earlier == nil, let file = summary.file { earlier = try refs.job(like: file, before: id, at: time) }
        if let earlier { (read.summary.failure, read.earlier) = (.duplicate, earlier) }
    }

    /// Judges a job of an earlier run anew, as it was judged before its claim, unless somebody may have got it or it is sent
    /// whatever was sent before.
    func judgeRef(
        of read: inout ReadJob, _ left: LeftJob, _ progress: RecoveryPlan.Progress
    ) throws(SystemError) {
        guard case .job(let known, _) = left.record, !read.isSentAnyway, !progress.tally.isAnyoneReached,
            progress.doubtful.isEmpty
        else { return }
        try judgeRef(of: &read, at: known.facts.claimedAt)
    }

    /// Notes that a job is announced, or under way: another that is the same has to wait.
    func beginRefTurn(_ summary: JobSummary) {
        for sign in signs(of: summary) { refTurns.begin(sign) }
    }

    /// Notes that it is so no more.
    func endRefTurn(_ summary: JobSummary) {
        for sign in signs(of: summary) { reconsider(refTurns.end(sign)) }
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
            ids.flatMap { id -> [RefRecord] in
                guard let job = jobs[id], case .settled(let conclusion) = job.machine.state else { return [] }
                return job.refRecords(conclusion.tally)
            })
    }

    /// Keeps the ref of a job that is about to be parked, if somebody got it: it may stay in `hold/` for long.
    ///
    /// - Returns: `false` if it cannot be kept; the job is not parked then.
    func keepRef(ofParked job: ActiveJob) -> Bool {
        refs == nil || keep(job.refRecords(job.machine.tally))
    }

    private func keep(_ records: [RefRecord]) -> Bool {
        guard let refs, !records.isEmpty else { return true }
        do throws(SystemError) {
            try refs.keep(records, at: .now)
            return true
        } catch {
            note(failure: error)
            let hint: Logger.MetadataValue =
                "no job ends before they can; see to state; intake.dedupe: 0 without dedupe_content does without"
            logger.error(
                "what jobs are known by cannot be kept", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
            return false
        }
    }
}

extension ActiveJob {
    /// That the job was sent, if somebody got it, by all that it is known by.
    fileprivate func refRecords(_ tally: Tally) -> [RefRecord] {
        tally.isAnyoneReached ? summary.records(of: claimed.id, endedAt: finishedAt ?? .now) : []
    }
}
