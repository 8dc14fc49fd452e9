import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// Sees to it that a job is sent once: by what jobs are known by (their producer's id, their file), what was sent and what is under
/// way.
final class DuplicateGuard {
    private let context: AppContext
    private let space: SpaceMonitor
    /// Rung when files that waited may be looked at again.
    private let intakeBell: Bell
    /// The refs of jobs that were sent; `nil` if nobody asks. And which jobs under way have which.
    private let refs: RefBook?
    private var turns = RefTurns()
    /// Files that waited for a job that is under way no more.
    private var freed: Set<FileName> = []

    /// Opens what was kept, and reads none of it yet.
    ///
    /// - Throws: `SystemError`: it cannot be opened.
    init(_ context: AppContext, _ space: SpaceMonitor, orRing intakeBell: Bell) throws(SystemError) {
        (self.context, self.space, self.intakeBell) = (context, space, intakeBell)
        let window = context.daemon.configuration.dedupe
        refs =
            window > .zero ? try RefBook(of: context.name, in: context.daemon.state, keeping: window, at: .now) : nil
    }

    /// Reads on which refs were sent before, a part of it at a time.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: that cannot be read. The app cannot run: it does not know what was sent.
    func readOn() throws(SystemError) -> Bool { try refs?.readOn() ?? false }

    // MARK: Jobs that are about to be claimed

    /// Judges whether a job may be claimed, as far as others go that are the same.
    ///
    /// While such a one is under way it waits in `new/`, since that one may come to nothing. If one was sent it is claimed to
    /// fail.
    ///
    /// - Parameters:
    ///   - read: The job; it has its fault afterwards.
    ///   - name: Its file.
    ///   - isUnknown: Whether an earlier run has left jobs that nobody has looked into, of which one may be the same.
    /// - Returns: What the intake is to be told if it may not; `nil` if it may.
    /// - Throws: `SystemError`: what was sent cannot be looked up.
    func admit(_ read: inout ReadJob, _ name: FileName, isUnknown: Bool) throws(SystemError) -> IntakeAnswer? {
        let signs = signs(of: read.summary)
        guard !signs.isEmpty, !read.isSentAnyway else { return nil }
        let taken = signs.first(where: turns.isTaken)
        guard isUnknown || taken != nil else {
            try judge(&read, at: .now)
            return nil
        }
        context.logger.debug("job waits for another that may be the same", metadata: [LogKey.job: "\(name)"])
        return turns.wait(name, for: isUnknown ? nil : taken) ? .deferred : .busy
    }

    /// What a job that is to be sent may have in common with others; nothing if they are not compared.
    private func signs(of summary: JobSummary) -> [JobSign] {
        refs == nil || summary.failure != nil ? [] : summary.signs
    }

    /// Has a job fail if the same was sent before, as is known at a time of day.
    ///
    /// - Throws: `SystemError`: what was sent cannot be looked up.
    func judge(_ read: inout ReadJob, at time: WallTime) throws(SystemError) {
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
    ///
    /// - Throws: `SystemError`: what was sent cannot be looked up.
    func judge(
        _ read: inout ReadJob, _ left: LeftJob, _ progress: RecoveryPlan.Progress
    ) throws(SystemError) {
        guard case .job(let known, _) = left.record, !read.isSentAnyway, !progress.tally.isAnyoneReached,
            progress.doubtful.isEmpty
        else { return }
        try judge(&read, at: known.facts.claimedAt)
    }

    // MARK: Jobs under way

    /// Notes that a job is announced, or under way: another that is the same has to wait.
    func beginTurn(_ summary: JobSummary) {
        for sign in signs(of: summary) { turns.begin(sign) }
    }

    /// Notes that it is so no more.
    func endTurn(_ summary: JobSummary) {
        for sign in signs(of: summary) { free(turns.end(sign)) }
    }

    /// Notes that all jobs of an earlier run were looked into.
    func noteAllKnown() { free(turns.release(nil)) }

    private func free(_ names: Set<FileName>) {
        guard !names.isEmpty else { return }
        freed.formUnion(names)
        intakeBell.ring()
    }

    /// The files that have waited for other jobs and are to be looked at again.
    func takeFreed() -> Set<FileName> {
        defer { freed = [] }
        return freed
    }

    // MARK: Jobs that are over

    /// Keeps the refs of jobs that are over and were sent, at least in part, before anybody is told so and before they are
    /// archived: whatever happens then, another of the ref is known to be a duplicate.
    ///
    /// - Returns: `false` if they cannot be kept; nothing may be told then.
    func keep(_ settled: [ActiveJob]) -> Bool {
        guard refs != nil else { return true }
        return keep(
            settled.flatMap { job -> [RefRecord] in
                guard case .settled(let conclusion) = job.machine.state else { return [] }
                return job.refRecords(conclusion.tally)
            })
    }

    /// Keeps the ref of a job that is about to be parked, if somebody got it: it may stay in `hold/` for long.
    ///
    /// - Returns: `false` if it cannot be kept; the job must not be parked then.
    func keep(parked job: ActiveJob) -> Bool {
        refs == nil || keep(job.refRecords(job.machine.tally))
    }

    private func keep(_ records: [RefRecord]) -> Bool {
        guard let refs, !records.isEmpty else { return true }
        do throws(SystemError) {
            try refs.keep(records, at: .now)
            return true
        } catch {
            space.note(failure: error)
            let hint: Logger.MetadataValue =
                "no job ends before they can; see to state; intake.dedupe: 0 without dedupe_content does without"
            context.logger.error(
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
