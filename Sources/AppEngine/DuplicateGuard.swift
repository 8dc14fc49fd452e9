import Configuration
import JobFormat
import JobOperations
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Ensures that a job is sent only once: compares its signs (the producer's id, the file) with those of jobs that were
/// sent or are under way.
final class DuplicateGuard {
    private let context: AppContext
    private let space: SpaceMonitor
    /// The jobs that were sent or are under way, and the number of this guard there.
    private let sent: SentJobs
    private let number: Int
    /// Whether duplicates are detected.
    private let isInUse: Bool
    /// The turns in the whole cluster, and the signs for which this node has them; `nil` for a daemon that works alone.
    private let shared: SharedTurns?
    private var held: Set<JobSign> = []
    private var failures: FailureLog

    /// Opens the stored refs without reading them.
    ///
    /// - Throws: `SystemError`: they cannot be opened.
    init(_ context: AppContext, _ space: SpaceMonitor, orSignal intakeWakeup: Wakeup) throws(SystemError) {
        (self.context, self.space, sent) = (context, space, context.daemon.sent)
        failures = FailureLog(context.logger)
        let window = context.daemon.configuration.intake.dedupe
        let spool = context.daemon.spool
        isInUse = window > .zero
        if isInUse { try sent.open(context.name, in: context.daemon.state, keeping: window, of: spool) }
        shared = isInUse ? try SharedTurns(of: context.name, in: spool) : nil
        number = sent.addGuard(context.daemon.isStandIn ? nil : intakeWakeup)
    }

    deinit {
        sent.removeGuard(number)
    }

    /// Reads the next part of the refs of sent jobs.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: the refs cannot be read, so the sent jobs are unknown. The app cannot run.
    func readOn() throws(SystemError) -> Bool {
        try sent.withRefs { (refs) throws(SystemError) in try refs.readOn() } ?? false
    }

    // MARK: Jobs about to be claimed

    /// Decides whether a job may be claimed, considering other jobs with the same sign.
    ///
    /// While one of those is under way, the job waits in `new/`, because the other may end without sending anything. If
    /// one was sent, the job is claimed and then fails.
    ///
    /// - Parameters:
    ///   - read: The job. Its failure is set if it is a duplicate.
    ///   - name: The job's file.
    ///   - isUnknown: Whether an unexamined job of an earlier run may be the same.
    /// - Returns: The answer for the intake if the job may not be claimed; `nil` if it may.
    /// - Throws: `SystemError`: the refs cannot be read.
    func admit(_ read: ReadJob, _ name: FileName, isUnknown: Bool) throws(SystemError) -> IntakeAnswer? {
        let signs = signs(of: read.summary)
        guard !signs.isEmpty, !read.isSentAnyway else { return nil }
        let isUnknown = isUnknown || sent.hasUnexamined
        let taken = signs.first(where: sent.isTaken)
        guard isUnknown || taken != nil else {
            guard try takeShared(signs) else { return .busy }
            try judge(read, at: .now)
            // Nothing of a duplicate is sent.
            if read.summary.failure != nil { giveBackShared(signs) }
            return nil
        }
        context.logger.debug("job waits for a possible duplicate", metadata: [LogKey.job: "\(name)"])
        return sent.wait(name, for: isUnknown ? nil : taken) ? .deferred : .busy
    }

    /// Takes the turns of signs in the whole cluster, and reads what other nodes have sent: from then on, no other node
    /// sends a job with one of them.
    ///
    /// - Returns: `false` if another node has such a job under way, and the job has to wait.
    private func takeShared(_ signs: [JobSign]) throws(SystemError) -> Bool {
        guard let shared else { return true }
        for sign in signs where !held.contains(sign) {
            guard try shared.acquire(sign) else {
                giveBackShared(signs)
                return false
            }
            held.insert(sign)
        }
        try sent.withRefs { (refs) throws(SystemError) in try refs.readNews() }
        return true
    }

    /// Gives turns in the cluster back, unless another job of this node is under way with the sign.
    private func giveBackShared(_ signs: [JobSign]) {
        guard let shared else { return }
        for sign in signs where held.contains(sign) && !sent.isTaken(sign) {
            held.remove(sign)
            do throws(SystemError) {
                try shared.giveBack(sign)
            } catch {
                report(error)
            }
        }
    }

    private func report(_ error: SystemError) {
        let hint: Logger.MetadataValue = "jobs with the same id wait until this node starts again"
        context.logger.warning(
            "turn of a job cannot be given back", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }

    /// Records that an admitted job is not claimed after all.
    func abandon(_ summary: JobSummary) { giveBackShared(signs(of: summary)) }

    /// Returns the signs of a job that can be sent; none if duplicates are not detected.
    private func signs(of summary: JobSummary) -> [JobSign] {
        !isInUse || summary.failure != nil ? [] : summary.signs
    }

    /// Makes a job fail if, as known at this time of day, the same job was sent before.
    ///
    /// - Throws: `SystemError`: the refs cannot be read.
    func judge(_ read: ReadJob, at time: WallTime) throws(SystemError) {
        let (id, summary) = (read.context.job, read.summary)
        guard isInUse, summary.failure == nil else { return }
        let (ref, file) = (summary.header.ref, summary.file)
        let earlier = try sent.withRefs { (refs) throws(SystemError) -> SentTwin? in
            if let ref, let job = try refs.job(sentWith: .ref(ref), before: id, at: time) { return job }
            guard let file else { return nil }
            return try refs.job(like: file, before: id, at: time)
        }
        if case let earlier?? = earlier { (read.summary.failure, read.earlier) = (.duplicate, earlier) }
    }

    /// Judges a job of an earlier run again as of its claim, unless any of its notifications may have been accepted or
    /// it is sent regardless of duplicates.
    ///
    /// - Throws: `SystemError`: the refs cannot be read.
    func judge(
        _ read: ReadJob, _ left: JobToRecover, _ progress: RecoveryPlan.Progress
    ) throws(SystemError) {
        guard case .job(let known, _) = left.record, !read.isSentAnyway, !progress.tally.isAnyoneReached,
            progress.doubtful.isEmpty
        else { return }
        try judge(read, at: known.facts.claimedAt)
    }

    // MARK: Jobs under way

    /// Records that a job is announced or under way. Other jobs with its signs have to wait.
    func beginTurn(_ summary: JobSummary) {
        for sign in signs(of: summary) {
            sent.begin(sign, number)
            // A job of an earlier run usually has its turn still.
            guard let shared, !held.contains(sign) else { continue }
            do throws(SystemError) {
                if try shared.acquire(sign) { held.insert(sign) }
            } catch {
                report(error)
            }
        }
    }

    /// Reverses one call of `beginTurn(_:)`.
    func endTurn(_ summary: JobSummary) {
        let signs = signs(of: summary)
        for sign in signs { sent.end(sign, number) }
        giveBackShared(signs)
    }

    /// Records that all jobs of an earlier run were examined. Turns that it left without a job are given back.
    func noteAllKnown() {
        sent.noteExamined(context.daemon.node)
        guard let shared else { return }
        do throws(SystemError) {
            try shared.giveBack(allBut: sent.signs(of: number))
        } catch {
            report(error)
        }
    }

    /// Removes and returns the files that waited for other jobs and should be looked at again.
    func takeFreed() -> Set<FileName> { context.daemon.isStandIn ? [] : sent.takeFreed() }

    // MARK: Jobs that have ended

    /// Stores the refs of ended jobs that were sent at least in part, before their conclusions are published and before
    /// they are archived. From then on, another job with the same ref is detected as a duplicate.
    ///
    /// - Returns: `false` if they cannot be stored. Nothing may be published then.
    func keep(_ settled: [ActiveJob]) -> Bool {
        guard isInUse else { return true }
        return keep(
            settled.flatMap { job -> [RefRecord] in
                guard case .told(let final) = job.machine.phase else { return [] }
                return job.refRecords(final.conclusion.tally, endedAt: final.finishedAt)
            })
    }

    /// Stores the ref of a job about to be held, if any of it may have been accepted: it can stay in `hold/` for long.
    ///
    /// - Returns: `false` if it cannot be stored. The job must not be held then.
    func keep(parked job: ActiveJob) -> Bool {
        !isInUse || keep(job.refRecords(job.machine.tally, endedAt: .now))
    }

    private func keep(_ records: [RefRecord]) -> Bool {
        guard isInUse, !records.isEmpty else { return true }
        do throws(SystemError) {
            try sent.withRefs { (refs) throws(SystemError) in try refs.keep(records, at: .now) }
            failures.endRound()
            return true
        } catch {
            space.note(failure: error)
            failures.note(error, in: .keepRefs)
            return false
        }
    }
}

extension ActiveJob {
    /// Returns the records of the job's signs if any of its notifications may have been accepted.
    fileprivate func refRecords(_ tally: Tally, endedAt time: WallTime) -> [RefRecord] {
        tally.isAnyoneReached ? summary.records(of: claimed.id, endedAt: time) : []
    }
}
