import APNSBinary
import APNSModel
import Configuration
import Document
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

/// Publishes an app's feedback lines and archives its jobs, in the order of ``PublicationPlan``.
final class Publisher {
    /// How long moves to the archives may stay unsynced. Until the sync, the journal keeps the jobs.
    private static let cleaningPause = Duration.seconds(1)
    /// How long lines may stay unpublished while files wait because the journal is full.
    private static let shortPause = Duration.milliseconds(100)
    /// How many jobs are processed before other apps have their turn.
    private static let groupLimit = 64

    private let parts: AppParts
    private let context: AppContext
    private let retention: RetentionTask
    private let hook: HookRunner
    /// Broadcast when a round or a cleaning ends, when a job ends or is to be held, and when the journal has room again.
    let progress: Condition
    private var plan = PublicationPlan()
    /// The lines being published, and the records to which they belong.
    private var batch: (lines: [UInt8], since: JournalPosition?, through: JournalPosition?) = ([], nil, nil)
    /// Files that fail without a claim.
    let departures: Departures
    /// Whether a round is under way.
    private var isPublishing = false
    /// The number of rounds that have begun, and the last one that has published its lines.
    private var (roundCount, lastGoodRound) = (0, 0)
    private var (lastPublication, lastCleaning) = (Moment.zero, Moment.zero)
    /// Whether moves of an earlier run may wait for a sync, which is repeated until it succeeds.
    private var mustSettle: Bool
    /// Whether files wait because the journal is full, and from when a round or a sync may be hurried for them.
    private var (isJournalFull, hurriesFrom) = (false, Moment.zero)
    /// The failures of the steps of rounds, and of cleaning.
    private var failures, cleaningFailures: FailureLog

    init(_ parts: AppParts, _ retention: RetentionTask, _ hook: HookRunner) {
        (self.parts, self.retention, self.hook, context) = (parts, retention, hook, parts.context)
        departures = Departures(parts)
        progress = Condition(on: parts.context.daemon.reactor)
        (failures, cleaningFailures) = (FailureLog(context.logger), FailureLog(context.logger))
        mustSettle = !parts.context.spool.archives.isSettled
        if mustSettle { parts.publishWakeup.signal() }
    }

    private var jobs: JobTable { parts.jobs }
    private var journal: JournalWriter { parts.journal }

    // MARK: Input

    /// Concludes a job if it is settled: its lines must be published before it is moved. Unpublished outcomes of an earlier
    /// run come first.
    func conclude(_ job: ActiveJob) {
        if job.source != nil, job.resumption?.untold.isEmpty == false { return }
        // A job that had ended before a crash keeps the time of that end.
        guard job.machine.conclude(at: job.resumption?.final?.finishedAt ?? .now) else { return }
        jobs.closeSource(of: job)
        plan.conclude(job.claimed.id)
        parts.publishWakeup.signal()
        progress.broadcast()
    }

    /// Moves a job to `hold/` as soon as its lines are published.
    func enqueueForHold(_ job: ActiveJob) {
        jobs.closeSource(of: job)
        plan.park(job.claimed.id)
        parts.publishWakeup.signal()
        progress.broadcast()
    }

    /// Lets a file fail without a claim: its line is published first unless it was before, then it moves to `failed/`.
    func depart(_ departure: Departure, isTold: Bool = false) {
        if !isTold { parts.lines.append(departure.report, notice: departure.notice) }
        departures.add(departure)
        plan.depart(departure.id)
        parts.publishWakeup.signal()
    }

    /// Publishes as soon as possible, because a task waits for it.
    func hurry() {
        lastPublication = .zero
        parts.publishWakeup.signal()
    }

    /// Whether any lines are in memory or being published.
    var isAtWork: Bool { isPublishing || !parts.lines.isEmpty }

    /// Whether any lines of an earlier run are still unpublished.
    var isRetelling: Bool {
        parts.toRecover.haveUntold
            || jobs.all.contains { $0.source != nil && $0.resumption.map { !$0.untold.isEmpty } == true }
    }

    /// Makes the move of a job to an archive survive a power loss soon. Then the journal forgets the job, if it knows it.
    func syncMove(of id: JobID) {
        plan.noteMoved(id)
        parts.publishWakeup.signal()
    }

    // MARK: Publishing

    /// Publishes lines and archives jobs until the task is cancelled.
    @inline(never) func run() async {
        let wakeup = parts.publishWakeup
        while !Task.isCancelled {
            let pause = context.daemon.configuration.feedbackEvery
            let isHurried = isJournalFull && !plan.isIdle && Moment.now >= hurriesFrom
            let due = lastPublication + (isHurried ? min(Self.shortPause, pause) : pause)
            if isJournalFull, plan.mustClean, Moment.now >= hurriesFrom {
                await clean()
            } else if parts.lines.isEmpty, plan.isIdle {
                if mustClean { await waitToClean() } else { await wakeup.wait() }
            } else if Moment.now < due {
                if await !tellEarly() { await wakeup.wait(until: due.instant) }
            } else {
                await tellEarly()
                await publish()
                await parts.space.makeRoom()
            }
        }
    }

    /// Tells the lines that readers wait for, as soon as their records are durable. A round publishes them later.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    private func tellEarly() async -> Bool {
        let lines = parts.lines.takeAwaited()
        guard !lines.isEmpty, await journal.sync(), context.daemon.spool.mayAct else { return false }
        do {
            try context.folder.tellEarly(lines)
        } catch {
            note(error, in: .publish)
        }
        return true
    }

    /// Publishes the current lines in one file, then archives the jobs whose lines are published. A round that is under
    /// way may have missed some of them, so the next one counts, whoever begins it.
    ///
    /// - Returns: Whether all lines that existed at the call are published; `false` if the task is cancelled while
    ///   another publishes.
    @discardableResult
    func publish() async -> Bool {
        let due = roundCount + 1
        while roundCount < due {
            guard isPublishing else {
                await publishRound()
                return lastGoodRound >= due
            }
            guard await progress.wait(for: { !isPublishing || roundCount >= due }) else { return false }
        }
        return await progress.wait { !isPublishing || roundCount > due } && lastGoodRound >= due
    }

    private func publishRound() async {
        isPublishing = true
        roundCount += 1
        defer {
            isPublishing = false
            parts.lines.noteEndOfPublication()
            jobs.signalAll()
            progress.broadcast()
        }
        (lastPublication, isJournalFull) = (.now, false)
        plan.begin()
        var isOut = true
        while let step = plan.next(hasLines: !parts.lines.isEmpty) {
            let result = await carryOut(step)
            if !result.isComplete { hurriesFrom = .now + Self.pause }
            if !plan.note(result) { isOut = false }
        }
        failures.endRound(isComplete: isOut && context.daemon.spool.mayAct)
        guard isOut else { return }
        lastGoodRound = roundCount
        journal.write()
        parts.intakeWakeup.signal()
    }

    /// The pause after lines could not be published, or jobs not be moved.
    private static let pause = Duration.seconds(1)

    /// Publishes tokens that the feedback service has reported, at most one full `GoneTokenGroup`. Waits for success.
    ///
    /// - Returns: Whether they are published; `false` if the task was cancelled before.
    func publish(_ entries: [FeedbackTuple]) async -> Bool {
        for entry in entries {
            let time = WallTime(epochSeconds: Int64(entry.epochSeconds))
            parts.lines.append(entry.token, goneSince: time)
            parts.suppression.remember(Address(entry.token), since: time)
        }
        while !Task.isCancelled {
            if await publish() { return true }
            try? await context.daemon.reactor.sleep(for: Self.pause)
        }
        return false
    }

    private func carryOut(_ step: PublicationPlan.Step) async -> PublicationPlan.Result {
        guard context.daemon.spool.mayAct else { return lines(areOut: false) }
        switch step {
        case .tell(let ids):
            return await inGroups(ids) { group in context.spool.archives.keepingDaysOpen { tell(group) } }
        case .sync:
            // Until all lines of an earlier run are published, a publication covers only records from `firstTold` on.
            batch = (parts.lines.take(), isRetelling ? parts.toRecover.firstTold : nil, journal.lastRecord)
            return lines(areOut: await journal.sync())
        case .keepRefs(let ids): return lines(areOut: parts.duplicates.keep(ids.lazy.compactMap { self.jobs[$0] }))
        case .publish(let ids):
            guard lines(areOut: writeFeedback()) == .done else { return .failed }
            context.spool.notices.write()
            batch.lines = []
            parts.room.note(tooManyLines: false)
            for id in ids { jobs[id]?.machine.notePublished() }
            return .done
        case .archive(let ids): return await inGroups(ids) { await archive($0) }
        case .park(let ids): return park(ids)
        case .depart(let ids):
            return await inGroups(ids) { group in
                guard await stage(departures.drafts(of: group)) else { return .failed }
                return context.spool.archives.keepingDaysOpen { departures.move(group) { note($0, in: $1, $2) } }
            }
        }
    }

    /// Puts back the lines being published if a step has failed.
    private func lines(areOut isDone: Bool) -> PublicationPlan.Result {
        guard !isDone else { return .done }
        parts.lines.putBack(batch.lines)
        batch.lines = []
        return .failed
    }

    /// Processes many jobs in groups, and lets other apps run in between.
    private func inGroups(
        _ ids: [JobID], _ body: (ArraySlice<JobID>) async -> PublicationPlan.Result
    ) async -> PublicationPlan.Result {
        var (failed, gone): ([JobID], [JobID]) = ([], [])
        for start in stride(from: 0, to: ids.count, by: Self.groupLimit) {
            if start > 0 { await context.files.worker.yield() }
            let group = ids[start..<min(start + Self.groupLimit, ids.count)]
            switch await body(group) {
            case .done: break
            case .failed: failed += group
            case .doneBut(let groupFailed, let groupGone):
                failed += groupFailed
                gone += groupGone
            }
        }
        return .doneBut(failed: failed, gone: gone)
    }

    // MARK: Steps

    /// Records that a step failed; the next round tries it again.
    private func note(_ error: any Error, in step: FailureLog.Step, _ job: Logger.Metadata = [:]) {
        failures.note(error, in: step, job)
        parts.space.note(failure: error)
    }

    /// Chooses the jobs' places, records their conclusions, and writes their lines.
    private func tell(_ group: ArraySlice<JobID>) -> PublicationPlan.Result {
        var (failed, gone): ([JobID], [JobID]) = ([], [])
        context.spool.archives.lookAhead(for: group.compactMap { jobs[$0]?.nameIfDone }, at: .now)
        for id in group {
            guard let job = jobs[id], case .concluded(let conclusion, let time) = job.machine.phase else {
                gone.append(id)
                continue
            }
            do {
                try job.noteGrowth(in: context)
                let final = try job.resumption?.final ?? recordEnd(of: job, conclusion, at: time)
                job.machine.noteTold(final)
                let report = job.report(final, app: context.name)
                let notice = EndedJob.line(report, job.result(report), inode: job.claimed.status.inode)
                parts.lines.append(report, notice: notice)
            } catch {
                failed.append(id)
                note(error, in: .place(conclusion.folder), [LogKey.id: "\(id)"])
            }
        }
        return .doneBut(failed: failed, gone: gone)
    }

    /// Chooses a job's place in the archive, and records how it ended and where it goes.
    private func recordEnd(
        of job: ActiveJob, _ conclusion: Conclusion, at time: WallTime
    ) throws -> JournalFinal {
        let place = try context.spool.archives.place(
            for: job.claimed.name, in: conclusion.folder, at: .now, withResult: job.needsResult(conclusion))
        var final = JournalFinal(conclusion, day: place.day, name: place.name, finishedAt: time)
        (final.why, final.earlier) = (job.fault, job.earlier)
        journal.record(.final(job.claimed.id, final))
        return final
    }

    private func writeFeedback() -> Bool {
        do {
            let file = try context.folder.publish(batch.lines, at: .now)
            hook.note(file)
            if let through = batch.through {
                let publication = JournalPublication(
                    app: context.name, feedback: file, through: through, since: batch.since)
                journal.record(.published(publication))
            }
            journal.write()
            return true
        } catch {
            note(error, in: .publish)
            return false
        }
    }

    private func archive(_ group: ArraySlice<JobID>) async -> PublicationPlan.Result {
        let drafts = group.compactMap(resultDraft)
        guard await stage(drafts) else { return .failed }
        let results = Dictionary(uniqueKeysWithValues: drafts.map { ($0.id, $0.bytes) })
        return context.spool.archives.keepingDaysOpen { move(group, results) }
    }

    /// Writes results on the archives' thread. Returns whether all are there.
    private func stage(_ drafts: [ResultDraft]) async -> Bool {
        do {
            for draft in drafts { try await context.files.archives.stage(draft, in: context.spool.work) }
            return true
        } catch {
            note(error, in: .writeResults)
            return false
        }
    }

    private func resultDraft(of id: JobID) -> ResultDraft? {
        guard let job = jobs[id], case .published(let final) = job.machine.phase, job.needsResult(final.conclusion)
        else { return nil }
        return ResultDraft(of: id, job.result(job.report(final, app: context.name)).bytes)
    }

    private func move(_ group: ArraySlice<JobID>, _ results: [JobID: [UInt8]]) -> PublicationPlan.Result {
        var (failed, gone): ([JobID], [JobID]) = ([], [])
        let moved = context.spool.archives.moveAhead(group.compactMap { jobs[$0]?.moveWithoutResult })
        for id in group {
            guard let job = jobs[id], case .published(var final) = job.machine.phase else {
                gone.append(id)
                continue
            }
            let due = ArchivePlace(final)
            do {
                let place =
                    try moved.contains(id)
                    ? due : context.spool.archives.archive(job.claimed, at: due, result: results[id], isStaged: true)
                if place != due {
                    (final.day, final.name) = (place.day, place.name)
                    journal.record(.final(id, final))
                }
                job.machine.noteArchived()
                jobs.end(job)
                report(job, final)
            } catch  where error.isNotFound && hasVanished(job.claimed) {
                gone.append(id)
                noteVanished(job)
            } catch {
                failed.append(id)
                note(error, in: .archive(final.conclusion.folder), [LogKey.id: "\(id)"])
            }
        }
        return .doneBut(failed: failed, gone: gone)
    }

    /// Whether the job's file was removed from `work/`; `false` if that is unknown.
    private func hasVanished(_ job: ClaimedJob) -> Bool {
        let found = Result { () throws(SystemError) in try context.spool.work.status(of: job.entry.bytes) }
        if case .success(nil) = found { return true }
        return false
    }

    private func noteVanished(_ job: ActiveJob) {
        journal.record(.cleaned(job.claimed.id))
        jobs.end(job)
        context.logger.error("job file is missing from work/", metadata: [LogKey.job: "\(job.claimed.name)"])
    }

    /// Moves jobs with published lines to `hold/`. If partly sent, a held job still makes others with its ref duplicates.
    private func park(_ ids: [JobID]) -> PublicationPlan.Result {
        var failed: [JobID] = []
        for id in ids {
            guard let job = jobs[id], case .parking = job.machine.phase else { continue }
            guard parts.duplicates.keep(parked: job) else {
                failed.append(id)
                continue
            }
            do throws(SystemError) {
                var sent = Remainder.Sent(
                    id: id, ref: job.summary.header.ref, count: job.summary.recipientCount, progress: job.progress)
                sent.isWanted = job.isSentAnyway
                let name = try parts.held.park(job.claimed, droppedAt: job.droppedAt, sent)
                job.machine.notePlaced(as: name)
                journal.record(.cleaned(id))
                jobs.end(job)
                context.logger.notice(
                    "job held",
                    metadata: [
                        LogKey.job: "\(name)", LogKey.id: "\(id)", LogKey.count: "\(job.machine.remaining.count)",
                    ])
            } catch  where error.isNotFound && hasVanished(job.claimed) {
                noteVanished(job)
            } catch {
                failed.append(id)
                note(error, in: .hold, [LogKey.job: "\(job.claimed.name)"])
            }
        }
        parts.space.lookAtHold()
        return .doneBut(failed: failed, gone: [])
    }

    // MARK: Cleaning the journal

    /// Whether moves to the archives wait for a sync, or those of an earlier run may.
    private var mustClean: Bool { plan.mustClean || mustSettle }

    private func waitToClean() async {
        let due = lastCleaning + Self.cleaningPause
        if Moment.now < due { await parts.publishWakeup.wait(until: due.instant) }
        if Moment.now >= due { await clean() }
    }

    /// Makes archived jobs leave the journal soon, and then those that have ended, because files wait for its room.
    func makeRoomInJournal() {
        guard plan.mustClean || !plan.isIdle else { return }
        isJournalFull = true
        parts.publishWakeup.signal()
    }

    /// Makes the moves to the archives so far survive a power loss, and lets the journal forget their jobs.
    func clean() async {
        lastCleaning = .now
        if context.daemon.spool.mayAct { context.spool.notices.write() }
        guard mustClean else { return }
        defer { progress.broadcast() }
        let moved = plan.takeArchived()
        mustSettle = false
        await parts.suppression.sync()
        do {
            try await context.files.archives.sync(context.spool)
            context.spool.archives.noteSettled()
            cleaningFailures.endRound()
            departures.noteSynced(moved)
            for id in moved { journal.record(.cleaned(id)) }
            journal.write()
            retention.noteArchived()
            // The journal may have room for other jobs now.
            parts.intakeWakeup.signal()
        } catch {
            // The journal keeps the jobs until a sync succeeds, here or at the next start.
            (mustSettle, hurriesFrom) = (true, .now + Self.pause)
            for id in moved { plan.noteMoved(id) }
            cleaningFailures.note(error, in: .syncArchives)
            parts.space.note(failure: error)
        }
    }

    private func report(_ job: ActiveJob, _ final: JournalFinal) {
        let (conclusion, tally) = (final.conclusion, final.conclusion.tally)
        let length = final.finishedAt - job.claimedAt
        context.daemon.meter.count { $0.noteEnd(conclusion, after: length) }
        // An operator knows already that the job was cancelled.
        let isExpected = conclusion.state == .done || conclusion.code == .cancelled
        let level = isExpected ? Logger.Level.notice : .warning
        guard context.logger.logLevel <= level else { return }
        // Without interpolation, which costs more than the text.
        var metadata: Logger.Metadata = [
            LogKey.job: .string(job.claimed.name.escaped), LogKey.id: .string(job.claimed.id.description),
            LogKey.path: .string(ArchivePlace(final).path(of: context.name)),
            LogKey.count: .string(String(job.summary.recipientCount)),
            LogKey.accepted: .string(String(tally.accepted)),
        ]
        if tally.rejected > 0 { metadata[LogKey.rejected] = "\(tally.rejected)" }
        let other = tally.expired + tally.unsent + tally.unknown
        if other > 0 { metadata[LogKey.other] = "\(other)" }
        if let code = conclusion.code { metadata[LogKey.code] = "\(code.rawValue)" }
        if let fault = job.summary.fault { metadata[LogKey.error] = "\(fault.sentenceForLog)" }
        if let earlier = job.earlier { metadata[LogKey.error] = "\(earlier.explanation)" }
        context.logger.log(level: level, conclusion.state == .done ? "job done" : "job failed", metadata: metadata)
    }
}

extension Conclusion {
    /// The archive for the job.
    fileprivate var folder: ArchiveFolder { state == .done ? .done : .failed }
}
