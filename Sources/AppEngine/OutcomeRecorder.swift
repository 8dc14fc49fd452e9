import JobFormat
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Records the outcomes of notifications, writes their feedback lines, and applies them to their jobs.
final class OutcomeRecorder {
    /// The most bytes of an outcome in the journal, including its entry in the sets of its job.
    private static let outcomeByteCount = 256
    /// How many settlements are recorded at a time. They take fewer bytes than the smallest share of the journal.
    private static let settledAtOnce = 32
    /// The limits of one step and one record for notifications taken back; a step takes a millisecond or two. With at
    /// most `rangeByteCount` journal bytes per range, a step takes no more than a group of other outcomes.
    private static let backLimits = BatchGroups.Limits(batchCount: 256, count: 1_024)
    private static let rangeByteCount = 32

    private let parts: AppParts
    private let context: AppContext
    private let publisher: Publisher
    private let room: OutcomeRoom

    init(_ parts: AppParts, _ publisher: Publisher, _ room: OutcomeRoom) {
        (self.parts, self.publisher, self.room, context) = (parts, publisher, room, parts.context)
    }

    private var jobs: JobTable { parts.jobs }
    private var journal: JournalWriter { parts.journal }

    // MARK: Jobs

    /// Begins to hold a job for an operator.
    func hold(_ job: ActiveJob) {
        guard job.machine.hold(handedOutCount: job.handedOutCount) else { return }
        jobs.halt(job)
        if !job.hasToTell { jobs.rest(job.claimed.id) }
    }

    /// Parks a job that an operator holds, if nothing of it is on a connection and nothing of an earlier run is left to tell.
    func parkIfDrained(_ job: ActiveJob) {
        guard !job.hasToTell, job.machine.drain() else { return }
        publisher.enqueueForHold(job)
    }

    /// Ends a job that cannot continue, and gives up the notifications that have not been handed out. Only their number is
    /// known.
    func stop(_ job: ActiveJob, _ code: ResultCode) {
        let rest = Outcome.unsent(Refusal(.jobUnreadable, .later))
        guard job.machine.end(rest: rest, code) else { return }
        jobs.halt(job)
        jobs.closeSource(of: job)
        let unread = job.machine.remaining.intersection(job.unread)
        guard !unread.isEmpty else { return }
        note(unread, rest, of: job)
        settle(unread, rest, of: job)
    }

    /// Moves a job whose file or records are not what they were to `hold/`, without waiting for notifications under way.
    func holdChanged(_ job: ActiveJob) {
        let id = job.claimed.id
        guard job.machine.holdChanged() else { return }
        jobs.rest(id)
        jobs.end(job)
        do {
            let name = try context.spool.hold.park(job.claimed)
            parts.space.lookAtHold()
            context.daemon.meter.count { $0.noteHold(.changed) }
            journal.record(.cleaned(id))
            journal.write()
            context.logger.error(
                "job held: its file changed during sending", metadata: [LogKey.job: "\(name)", LogKey.id: "\(id)"])
        } catch {
            context.logger.error("job cannot be held", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            parts.space.note(failure: error)
        }
        publisher.progress.broadcast()
    }

    /// Records that these notifications of a job to be held are no longer on their way to a connection. They are not in
    /// doubt, even if they were announced.
    func noteReturned(_ batches: [Batch], of job: ActiveJob) {
        job.machine.noteReturned(batches.map(\.indices))
        guard !batches.isEmpty else { return }
        // The job may have nothing left under way.
        parts.intakeWakeup.signal()
        if job.summary.header.onDoubt == .report { withdrawIntents(batches, of: job.claimed.id) }
    }

    /// Does the same for many notifications of a job, one group at a time.
    func noteAllReturned(_ batches: [Batch], of job: ActiveJob) async {
        for group in BatchGroups(batches, limits: Self.backLimits) {
            noteReturned(group, of: job)
            await context.files.worker.yield()
        }
    }

    /// Ends a job that is being sent. Unread notifications get this outcome, and are read only to publish it.
    ///
    /// - Returns: Whether the job ends so.
    @discardableResult
    func withdraw(_ job: ActiveJob, _ code: ResultCode, _ outcome: Outcome) -> Bool {
        guard job.machine.end(rest: outcome, code, isOrdered: true) else { return false }
        jobs.halt(job)
        endUnread(job, outcome)
        return true
    }

    /// Gives the unread notifications their outcome. Reading on publishes it.
    private func endUnread(_ job: ActiveJob, _ outcome: Outcome) {
        let id = job.claimed.id
        var unread = IndexRuns(job.machine.remaining.intersection(job.unread))
        // Notifications in doubt from an earlier run are settled as such when they are read.
        for run in job.resumption?.doubtful.runs ?? [] { unread.subtract(run) }
        guard !unread.isEmpty else { return }
        let result = JournalResult(outcome, unread.runs, at: .now)
        let before = job.resumption
        job.resumption = Resumption(
            doubtful: before?.doubtful ?? IndexRuns(), untold: (before?.untold ?? []) + [result], final: nil,
            isAbridged: before?.isAbridged == true)
        journal.record(.result(id, result))
        // Until all of it is published, a PUBLISHED record must not cover this result.
        parts.toRecover.firstTold = context.daemon.journal.position
        context.daemon.meter.count { $0.note(outcome, count: unread.count, at: .now) }
        for run in unread.runs { job.outcomes.note(run, outcome) }
        settle(unread.runs, outcome, of: job)
    }

    // MARK: Single outcomes

    /// Settles notifications: counts the outcome, writes its lines, and applies it to the job.
    func settle(_ settlement: Settlement) {
        let id = settlement.batch.job
        parts.suppression.remember(settlement)
        guard let job = jobs[id] else { return settleLate(settlement) }
        let isCorrection = settlement.isCorrection || !job.machine.isAwaiting(settlement.batch.indices)
        if isCorrection, settlement.outcome == .accepted { return }
        if settlement.outcome != .accepted || job.summary.header.record == .all {
            parts.lines.append(settlement, of: job.identity)
        }
        // Of FCM's names nothing but the lines tells.
        if settlement.batch.attributes.addressKind.takesID { job.outcomes.note(uniqueIDs: settlement.uniqueIDs) }
        let range = settlement.batch.indices
        if isCorrection, !job.machine.isAwaiting(range) { context.daemon.meter.count { $0.noteRevoked(range.count) } }
        note([range], settlement.outcome, of: job, isCorrection: isCorrection)
        if isCorrection {
            job.machine.correct(range, settlement.outcome)
        } else {
            settle([range], settlement.outcome, of: job)
        }
    }

    /// Counts outcomes that are recorded; a job that they settle is concluded.
    private func settle(_ ranges: [Range<Int>], _ outcome: Outcome, of job: ActiveJob) {
        for range in ranges where job.machine.settle(range, outcome) { publisher.conclude(job) }
    }

    /// Records an outcome for the journal and the result file.
    private func note(
        _ ranges: [Range<Int>], _ outcome: Outcome, of job: ActiveJob, isCorrection: Bool = false
    ) {
        let result = JournalResult(outcome, ranges, at: .now, isCorrection: isCorrection)
        journal.record(.result(job.claimed.id, result))
        context.daemon.meter.count { $0.note(outcome, count: ranges.reduce(0) { $0 + $1.count }, at: .now) }
        for range in ranges { job.outcomes.note(range, outcome) }
    }

    /// Records that the outcome of these notifications is unknown.
    func noteUnknown(_ ranges: [Range<Int>], of job: ActiveJob) {
        guard !ranges.isEmpty else { return }
        note(ranges, .unknown, of: job)
        settle(ranges, .unknown, of: job)
    }

    /// Settles notifications of a job that has ended. Only an outcome that contradicts the published one is published.
    private func settleLate(_ settlement: Settlement) {
        guard settlement.outcome != .accepted, let identity = jobs.recentIdentity(of: settlement.batch.job) else {
            return
        }
        parts.lines.append(settlement, of: identity)
        context.daemon.meter.count {
            $0.noteRevoked(settlement.batch.count)
            $0.note(settlement.outcome, count: settlement.batch.count, at: .now)
        }
        context.logger.warning(
            "notifications of a finished job were not accepted after all",
            metadata: [LogKey.job: "\(identity.name)", LogKey.count: "\(settlement.batch.count)"])
    }

    /// Rejects recipients of a chunk that cannot be sent to. Those with the same reason share a record.
    func reject(_ recipients: [RejectedRecipient], of job: ActiveJob) {
        guard !recipients.isEmpty else { return }
        let awaited = recipients.filter { job.machine.isAwaiting($0.index..<$0.index + 1) }
        let now = WallTime.now
        for recipient in awaited { parts.lines.append(recipient, of: job.identity, at: now) }
        for (refusal, recipients) in Dictionary(grouping: awaited, by: \.refusal) {
            let ranges = IndexRuns(recipients.map { $0.index..<$0.index + 1 }).runs
            note(ranges, .rejected(refusal), of: job)
            settle(ranges, .rejected(refusal), of: job)
        }
    }

    /// Completes a chunk of an earlier run's job: publishes unpublished outcomes, and settles notifications in doubt.
    func resume(_ chunk: JobChunk, of job: ActiveJob) {
        guard let resumption = job.resumption else { return }
        for batch in chunk.batches {
            for (result, range) in resumption.untold(in: batch.indices) {
                let settlement = Settlement(batch[range], result.outcome, isCorrection: result.isCorrection)
                parts.suppression.remember(settlement)
                parts.lines.append(settlement, of: job.identity, at: result.at)
            }
            for range in resumption.doubtful.intersection(batch.indices) { settle(Settlement(batch[range], .unknown)) }
        }
        for recipient in chunk.rejected {
            for (result, _) in resumption.untold(in: recipient.index..<recipient.index + 1) {
                parts.lines.append(recipient, of: job.identity, at: result.at)
            }
        }
    }

    // MARK: Notifications that are under way again

    /// Records that notifications that had counted as accepted are under way again.
    func reopen(_ batches: [Batch]) {
        for batch in batches {
            let news = jobs[batch.job]?.takeReopened(batch.indices) ?? [batch.indices]
            for range in news { reopen(range, of: batch.job) }
        }
        journal.write()
    }

    /// Does the same for one range, which may have been taken back before the event arrived.
    func reopen(_ range: Range<Int>, of id: JobID) {
        journal.record(.reopened(id, [range]))
        // For a job that has ended, only a contradicting outcome is published.
        if let job = jobs[id] {
            context.daemon.meter.count { $0.noteRevoked(range.count) }
            job.machine.reopen(range)
        }
    }

    /// Cancels the announcement of these notifications: the gateway has not processed them, so they are not in doubt.
    func withdraw(_ batches: [Batch]) {
        for (job, batches) in Dictionary(grouping: batches, by: \.job) {
            var runs = IndexRuns()
            for batch in batches { runs.insert(batch.indices) }
            journal.record(.reopened(job, runs.runs))
        }
        journal.write()
    }

    /// Cancels the announcement of these notifications, which were never written. The next start may send them.
    func withdrawIntents(_ batches: [Batch], of id: JobID) {
        guard let intents = context.daemon.journal.job(id)?.intents else { return }
        let announced = batches.flatMap { intents.intersection($0.indices) }
        if !announced.isEmpty { journal.record(.reopened(id, announced)) }
    }

    // MARK: Many outcomes, as room permits

    /// Records outcomes and writes their lines, as the app's share of the journal and of the lines in memory permits.
    ///
    /// Meanwhile the gateway continues until its windows are full, because unrecorded outcomes count against them.
    ///
    /// - Returns: `false` if the app stops before the end.
    func settle(_ settlements: [Settlement]) async -> Bool {
        var rest = settlements[...]
        while !rest.isEmpty {
            let group = rest.prefix(Self.settledAtOnce)
            guard await room.wait(for: group.count * Self.outcomeByteCount, .reported) else {
                warnOfUnrecorded(rest.reduce(0) { $0 + $1.batch.count })
                return false
            }
            for settlement in group { settle(settlement) }
            rest = rest.dropFirst(group.count)
        }
        journal.write()
        return true
    }

    /// Gives an outcome to notifications that were taken back from the gateway, in file order. Works in groups, as the
    /// app's share of the journal and of the lines in memory permits, and lets other tasks run in between.
    ///
    /// - Returns: `false` if the app stops before the end.
    @discardableResult
    func settle(takenBack batches: [Batch], of id: JobID, _ outcome: Outcome) async -> Bool {
        var unsettledCount = batches.notificationCount
        for group in BatchGroups(batches, limits: Self.backLimits) {
            guard await room.wait(for: Self.backLimits.batchCount * Self.rangeByteCount, .takenBack) else {
                warnOfUnrecorded(unsettledCount)
                return false
            }
            // The job may have moved to `hold/` meanwhile because its file was changed.
            guard let job = jobs[id] else { return true }
            settle(group, of: job, outcome)
            unsettledCount -= group.notificationCount
            journal.write()
            await context.files.worker.yield()
        }
        return true
    }

    /// Settles a group of one job. Notifications without an outcome share one record; the others are corrected.
    private func settle(_ group: [Batch], of job: ActiveJob, _ outcome: Outcome) {
        var awaited: [Batch] = []
        for batch in group {
            var told = IndexRuns(batch.indices)
            for range in job.machine.remaining.intersection(batch.indices) {
                awaited.append(batch[range])
                told.subtract(range)
            }
            for range in told.runs { settle(Settlement(batch[range], outcome)) }
        }
        guard !awaited.isEmpty else { return }
        for batch in awaited { parts.lines.append(Settlement(batch, outcome), of: job.identity) }
        note(awaited.map(\.indices), outcome, of: job)
        settle(awaited.map(\.indices), outcome, of: job)
    }

    /// The app stops. As after a crash, the next start resends the notifications or reports them as unknown.
    private func warnOfUnrecorded(_ count: Int) {
        context.logger.warning(
            "outcomes could not be recorded before the app stopped", metadata: [LogKey.count: "\(count)"])
    }
}
