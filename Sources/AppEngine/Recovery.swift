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

/// Takes over the jobs that an earlier run of an app left in `work/` and in the journal.
final class Recovery {
    private let parts: AppParts
    private let context: AppContext
    private let reader: JobFileReader
    private let claimer: Claimer
    private let sender: Sender
    private let outcomes: OutcomeRecorder
    private let strays: StrayJobs

    init(_ reader: JobFileReader, _ claimer: Claimer, _ sender: Sender, _ outcomes: OutcomeRecorder) {
        (self.reader, self.claimer, self.sender, self.outcomes) = (reader, claimer, sender, outcomes)
        (parts, context, strays) = (claimer.parts, claimer.parts.context, StrayJobs(claimer.parts, claimer.publisher))
    }

    private var toRecover: JobsToRecover { parts.toRecover }

    /// Reconciles the journal and the folders at each start. Afterwards every job that resumes is in `work/`. Failed
    /// steps are retried by `findMissingJobs`.
    func findLeftJobs() {
        parts.held.load()
        findMissingJobs()
        guard toRecover.hasLookedIntoWork else { return }
        if toRecover.found.isEmpty, toRecover.missing.isEmpty { parts.duplicates.noteAllKnown() }
        parts.held.reconcile(toRecover.found.map(\.claimed))
        // Another node may be in the middle of a move, which is a link and an unlink where a rename cannot refuse a name.
        if !context.spool.isClustered { parts.held.finishMoves() }
        toRecover.found.reverse()
        toRecover.found = Lane.allCases.reversed().flatMap { lane in
            toRecover.found.filter { $0.claimed.name.lane == lane }
        }
    }

    /// Searches for the journal's jobs that were not found yet. Until they are found, their files in `new/` are not
    /// touched; until `work/` could be read, no file there is.
    func findMissingJobs() {
        toRecover.nextLook = .now + context.daemon.configuration.intake.rescan
        do {
            if !toRecover.hasLookedIntoWork { try takeFromWork() }
            if !toRecover.missing.isEmpty { try searchMissing() }
            context.spool.notices.writeAll()
        } catch {
            context.logger.error(
                "jobs of an earlier run cannot be looked up", metadata: [LogKey.error: "\(error)"])
            parts.space.note(failure: error)
        }
        parts.journal.write()
    }

    private func takeFromWork() throws(SystemError) {
        let found = try context.daemon.spool.claimed(in: context.spool)
        toRecover.hasLookedIntoWork = true
        for name in found.strangers {
            context.logger.warning("unknown file in work/", metadata: [LogKey.job: "\(name)"])
        }
        for claimed in found.jobs { _ = takeIn(claimed, toRecover.missing.removeValue(forKey: claimed.id)) }
    }

    /// Takes over the jobs in `work/` that nobody knows of, in a cluster.
    func findStrays() {
        for stray in toRecover.hasLookedIntoWork ? strays.find() : [] {
            guard takeIn(stray, context.daemon.journal.job(stray.id)) else { continue }
            strays.report(stray, "job is in work/ although its claim failed; taking it over")
        }
    }

    /// Takes over a job that is in `work/`. Returns `false` if it is elsewhere, too, or that is not known.
    private func takeIn(_ claimed: ClaimedJob, _ record: JournalJob?) -> Bool {
        let named = claimed.called(record?.facts.name ?? claimed.name)
        do throws(SystemError) {
            if try strays.dropIfElsewhere(named, record) { return false }
        } catch {
            reportUnrecovered(named.name, named.id, error)
            return false
        }
        if named.name != claimed.name { dropDouble(of: named) }
        takeIn(JobToRecover(claimed: named, record: recoveryRecord(record)))
        return true
    }

    /// Records a job to be taken over later. Its place in the archive is reserved.
    private func takeIn(_ job: JobToRecover) {
        if let final = job.final { context.spool.archives.reserve(ArchivePlace(final)) }
        toRecover.found.append(job)
    }

    private func searchMissing() throws(SystemError) {
        let inodes = Set(toRecover.missing.values.map(\.facts.inode))
        let files = LeftFiles(
            held: try context.spool.hold.names(of: inodes), new: try context.spool.namesInNew(of: inodes))
        for job in toRecover.missing.values.sorted(by: { $0.facts.droppedAt < $1.facts.droppedAt }) {
            do {
                try search(job, files)
                toRecover.missing[job.facts.id] = nil
            } catch {
                reportUnrecovered(job.facts.name, job.facts.id, error)
            }
        }
    }

    /// Removes the job's second name in `new/`. Only logs a failure, since the other jobs in `work/` must be taken over.
    private func dropDouble(of job: ClaimedJob) {
        do {
            try context.spool.dropDouble(of: job)
        } catch {
            context.logger.error(
                "job is also in new/ and cannot be removed there",
                metadata: [LogKey.job: "\(job.name)", LogKey.id: "\(job.id)", LogKey.error: "\(error)"])
        }
    }

    private func recoveryRecord(_ job: JournalJob?) -> RecoveryRecord {
        if let job { return .job(job, suspicion: nil) }
        return context.daemon.spool.replay.hasLost ? .orphan : .none
    }

    /// Searches for a job of the journal that is not in `work/`.
    private func search(_ job: JournalJob, _ files: LeftFiles) throws {
        let header = try context.daemon.journal.content(of: job.facts.id)
        var name = job.facts.name
        let isParked = try parts.held.isParked(job.facts.id)
        func findings(named name: FileName) throws -> RecoveryFindings {
            var found = try files.findings(of: job, header?.content, named: name, in: context.spool)
            // A power loss amid a move leaves it in both folders. In a copied spool its inode is not the journal's.
            let isInHoldToo = try isInHold(name)
            found.isHeld = found.isHeld || isParked || isInHoldToo
            found.isLinkedInNew = found.isLinkedInNew || isInHoldToo
            return found
        }
        var found = try findings(named: name)
        if !found.isInNew, let other = files.new[job.facts.inode]?.first(where: { $0.isNumbered(from: name) }) {
            // The job was on its way back to `new/`, where its name was taken.
            let there = try findings(named: other)
            if there.isInNew || there.isTornInNew { (found, name) = (there, other) }
        }
        if found.dropsLinkInNew { try context.spool.new.unlink(name.bytes) }
        switch RecoveryPlan(.job(job, suspicion: nil), found: found) {
        case .claimAgain: try claimAgain(job, named: name)
        case .restore:
            guard case .bytes(let bytes)? = header?.content else { return forget(job, .gone) }
            let claimed = try context.spool.restore(job.facts.id, job.facts.name, bytes)
            if found.isTornInNew { try context.spool.new.unlink(name.bytes) }
            context.logger.warning("job restored from the journal", metadata: [LogKey.job: "\(job.facts.name)"])
            takeIn(JobToRecover(claimed: claimed, record: .job(job, suspicion: nil)))
        case .forget(let farewell): forget(job, farewell)
        case .finish, .leave:
            // A power loss may have taken the line for producers, and not the move.
            if let final = job.final {
                let result = ResultFile(of: job, final, path: ArchivePlace(final).path(of: context.name))
                context.spool.notices.add(EndedJob.line(result.report, result, inode: job.facts.inode))
            }
            claimer.publisher.syncMove(of: job.facts.id)
        case .startOver, .resume, .hold: parts.journal.record(.cleaned(job.facts.id))
        }
    }

    /// Whether a file in `new/` is in `hold/` too.
    private func isInHold(_ name: FileName) throws(SystemError) -> Bool {
        guard let status = try context.spool.look(name)?.status, status.linkCount > 1 else { return false }
        return try context.spool.hold.contains(status.inode)
    }

    private func claimAgain(_ job: JournalJob, named name: FileName) throws(SystemError) {
        guard let file = try context.spool.candidate(for: name) else { return forget(job, .neverOurs) }
        switch try context.daemon.spool.claim(file, as: job.facts.id, in: context.spool) {
        case .claimed(let claimed):
            parts.journal.record(.claimed(job.facts.id))
            let claimed = claimed.called(job.facts.name)
            takeIn(JobToRecover(claimed: claimed, record: .job(job, suspicion: nil)))
        case .gone, .changed: forget(job, .neverOurs)
        case .lapsed: throw SystemError.timedOut("lease", "\(name)")
        case .forbidden(let error): throw error
        }
    }

    private func forget(_ job: JournalJob, _ farewell: RecoveryPlan.ForgetReason) {
        if farewell == .gone {
            let hint: Logger.MetadataValue = "its file was removed from work/; the rest of it is not sent"
            context.logger.error("job file is missing", metadata: [LogKey.job: "\(job.facts.name)", LogKey.hint: hint])
        }
        if farewell == .neverOurs { context.daemon.sent.changeOwnClaims { $0.note(unfound: job) } }
        parts.journal.record(.cleaned(job.facts.id))
    }

    /// Takes over the found jobs while there is room. A job that cannot be read does not delay the others.
    func recoverJobs() async {
        while let next = toRecover.found.last, claimer.mayRecover(next.claimed.name.lane), !Task.isCancelled {
            await takeUp(toRecover.found.removeLast())
            await context.files.worker.yield()
        }
    }

    /// Takes over one job, which the caller has removed from `found`. After the last one, all refs under way are known.
    func takeUp(_ left: JobToRecover) async {
        toRecover.takingUp.append(left)
        await reader.counting {
            do {
                try await recover(left)
            } catch let error as SystemError where parts.space.pauseIfShort(error) {
                toRecover.found.append(left)
            } catch {
                reportUnrecovered(left.claimed.name, left.claimed.id, error)
            }
        }
        toRecover.takingUp.removeAll { $0.claimed.id == left.claimed.id }
        parts.journal.write()
        if toRecover.found.isEmpty, toRecover.takingUp.isEmpty { parts.duplicates.noteAllKnown() }
    }

    private func recover(_ left: JobToRecover) async throws {
        let job = try context.spool.open(left.claimed)
        var terms = reader.context(of: job, id: left.claimed.id, true)
        if case .job(let known, _) = left.record {
            terms.noteDrop(at: known.facts.droppedAt, now: known.facts.droppedAt, by: context.daemon.clock.look())
            terms.isPublishedByRename = known.facts.isPublishedByRename
        }
        let perusal = try await reader.readThrough(job, left.claimed.status, terms, isLimited: false)
        if case .poison = perusal { return try park(left, .poison) }
        // The app stops: the job stays in `work/` for the next run.
        guard case .read(let opened) = perusal else { return toRecover.found.append(left) }
        parts.journal.record(.ended(opened.subject))
        let header = try context.daemon.journal.content(of: left.claimed.id)
        var found = RecoveryFindings()
        found.work = opened.reading.content.isSame(as: header?.content)
        let read = ReadJob(context: terms, opened, isKnownComplete: true)
        if case .job(let known, _) = left.record { read.isSentAnyway = known.facts.isSentAnyway }
        switch RecoveryPlan(left.record, found: found) {
        case .startOver where context.daemon.spool.replay.isBlank && read.summary.header.onDoubt == .report:
            try park(left, .damagedJournal)
        case .startOver:
            reportStart(of: left.claimed)
            try parts.duplicates.judge(read, at: .now)
            await announceClaimed(left.claimed, job, read)
        case .resume(let progress):
            try parts.duplicates.judge(read, left, progress)
            resume(left, progress, read)
        case .finish: finish(left, read)
        case .restore:
            guard case .bytes(let bytes)? = header?.content else { return try park(left, .changed) }
            let claimed = try context.spool.restore(left.claimed.id, left.claimed.name, bytes)
            context.logger.warning("job restored from the journal", metadata: [LogKey.job: "\(left.claimed.name)"])
            toRecover.found.append(JobToRecover(claimed: claimed, record: left.record))
        case .hold(let reason): try park(left, reason)
        case .claimAgain, .forget, .leave: break
        }
    }

    /// Logs that a job in `work/` without records in the journal is sent. A new journal does not show whether it was before.
    private func reportStart(of job: ClaimedJob) {
        guard context.daemon.spool.replay.isBlank else {
            return strays.report(job, "job in work/ was never sent; sending it now")
        }
        context.logger.warning(
            "job in work/ is sent from its beginning: the journal that had its outcomes is gone",
            metadata: [LogKey.job: "\(job.name)"])
    }

    /// Announces a job in `work/` without records in the journal. Nothing of it was sent, unless the journal was lost.
    private func announceClaimed(_ claimed: ClaimedJob, _ job: OpenJob, _ read: ReadJob) async {
        let claimedAt = claimer.record(header: read, of: job)
        parts.journal.record(.claimed(claimed.id))
        guard await parts.journal.sync() else { return }
        sender.start(claimed, read, claimedAt: claimedAt)
    }

    private func resume(_ left: JobToRecover, _ progress: RecoveryPlan.Progress, _ read: ReadJob) {
        guard case .job(let known, _) = left.record else { return }
        let isUntouched = progress.tally.total == 0 && progress.doubtful.isEmpty && known.untold.isEmpty
        if read.summary.failure != nil, isUntouched {
            return sender.start(left.claimed, read, claimedAt: known.facts.claimedAt)
        }
        var remaining = progress.remaining
        for run in progress.doubtful.runs { remaining.insert(run) }
        context.logger.notice(
            "job resumed",
            metadata: [
                LogKey.job: "\(left.claimed.name)", LogKey.id: "\(left.claimed.id)",
                LogKey.count: "\(progress.remaining.count)",
            ])
        let resumption = Resumption(doubtful: progress.doubtful, untold: known.untold, final: nil)
        let job = ActiveJob(left, read, known, resumption)
        job.machine = JobMachine(remaining: remaining, tally: progress.tally)
        sender.resume(job, read)
        // Whether the job can be sent may have changed with the app's configuration.
        if let failure = read.summary.failure {
            outcomes.withdraw(job, failure, .unsent(Refusal(.jobUnreadable, .later)))
        }
    }

    private func finish(_ left: JobToRecover, _ read: ReadJob) {
        guard case .job(let known, _) = left.record, let final = known.final else { return }
        let resumption = Resumption(doubtful: IndexRuns(), untold: known.untold, final: final)
        let job = ActiveJob(left, read, known, resumption)
        job.machine = JobMachine(concluded: final.conclusion)
        sender.resume(job, read)
    }

    private func park(_ left: JobToRecover, _ reason: RecoveryPlan.HoldReason) throws(SystemError) {
        let name = try context.spool.hold.park(left.claimed)
        parts.journal.record(.cleaned(left.claimed.id))
        parts.space.lookAtHold()
        context.daemon.meter.count { $0.noteHold(reason) }
        let hint: Logger.MetadataValue = "inspect it; to send all of it, move it from hold/ to new/"
        context.logger.error(
            "job is held: \(reason.explanation)",
            metadata: [LogKey.job: "\(name)", LogKey.id: "\(left.claimed.id)", LogKey.hint: hint])
    }

    private func reportUnrecovered(_ name: FileName, _ id: JobID, _ error: any Error) {
        parts.space.note(failure: error)
        let hint: Logger.MetadataValue = "the job stays where it is: fix the cause, then restart"
        context.logger.error(
            "job of an earlier run cannot be resumed",
            metadata: [LogKey.job: "\(name)", LogKey.id: "\(id)", LogKey.error: "\(error)", LogKey.hint: hint])
    }
}

extension ActiveJob {
    /// Creates a job that resumes from the journal's records.
    fileprivate convenience init(
        _ left: JobToRecover, _ read: ReadJob, _ known: JournalJob, _ resumption: Resumption
    ) {
        self.init(left.claimed, read, claimedAt: known.facts.claimedAt, isKnownComplete: known.facts.isKnownComplete)
        (self.resumption, outcomes.runs) = (resumption, known.runs)
        self.resumption?.isAbridged = known.isAbridged
        (fault, earlier) = (resumption.final?.why, resumption.final?.earlier)
    }
}
