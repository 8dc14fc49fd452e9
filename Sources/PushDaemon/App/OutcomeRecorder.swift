import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// Records what becomes of notifications, writes their lines, and does what follows from it for their jobs.
final class OutcomeRecorder {
    /// How many bytes an outcome takes in the journal at most, its place in the sets of its job included.
    private static let outcomeByteCount = 256
    /// For how many settlements there is to be room at a time: fewer bytes than the least share has.
    private static let settledAtOnce = 32
    /// How much of what was taken back is settled in one step, which takes a millisecond or two, and in one record; and how many
    /// bytes a range of it takes in the journal at most: as many in all as a group of other outcomes.
    private static let backLimits = BatchGroups.Limits(batchCount: 256, count: 1_024)
    private static let rangeByteCount = 32

    private let parts: AppParts
    private let context: AppContext
    private let publisher: Publisher
    private let status: StatusReporter
    /// Jobs that are to be held, and those that an operator has ended and that are not over.
    private(set) var holding: Set<JobID> = []
    private(set) var ending: Set<JobID> = []

    init(_ parts: AppParts, _ publisher: Publisher, _ status: StatusReporter) {
        (self.parts, self.publisher, self.status, context) = (parts, publisher, status, parts.context)
    }

    private var jobs: JobTable { parts.jobs }
    private var journal: JournalWriter { parts.journal }

    // MARK: Jobs

    /// Applies an event to a job, and does what follows from it.
    func handle(_ event: JobMachine.Event, _ id: JobID) {
        guard let job = jobs[id], let action = job.machine.handle(event) else { return }
        switch action {
        case .stopSending: stopSending(job)
        case .giveUp: giveUpUnread(job)
        case .park(.operatorRequest):
            holding.remove(id)
            publisher.enqueueForHold(job)
        case .park(.changed): park(job)
        case .publish: publisher.conclude(job)
        }
    }

    /// Hands out nothing more of a job that is to be held. One whose file was changed does not wait for what is under way.
    private func stopSending(_ job: ActiveJob) {
        let id = job.claimed.id
        guard case .draining(.operatorRequest) = job.machine.state else {
            jobs.rest(id)
            return handle(.drained, id)
        }
        job.flying = IndexRuns(job.machine.remaining.intersection(0..<job.handedOutCount))
        holding.insert(id)
        if !job.hasToTell { jobs.rest(id) }
    }

    /// Gives up what has not been handed out; nothing is known of it but how much it is.
    private func giveUpUnread(_ job: ActiveJob) {
        // What an operator has ended is settled where he is answered.
        guard !job.isWithdrawn else { return }
        let id = job.claimed.id
        jobs.closeSource(of: id)
        let unread = job.machine.remaining.intersection(job.unread)
        guard !unread.isEmpty else { return }
        note(unread, .unsent(.unreadable), of: job)
        for range in unread { handle(.settled(range, .unsent(.unreadable)), id) }
    }

    private func park(_ job: ActiveJob) {
        let id = job.claimed.id
        holding.remove(id)
        jobs.end(job)
        do {
            let name = try context.spool.hold(job.claimed)
            context.daemon.meter.count { $0.noteHold(.changed) }
            journal.record(.cleaned(id))
            journal.write()
            context.logger.error(
                "job changed while it was sent, and is held", metadata: [LogKey.job: "\(name)", LogKey.id: "\(id)"])
        } catch {
            context.logger.error("job cannot be held", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            parts.space.note(failure: error)
        }
    }

    /// Notes that these of a job that is to be held are not on their way to a connection any more. Nobody is in doubt about
    /// them, whatever was announced.
    func noteReturned(_ batches: [Batch], of job: ActiveJob) {
        for batch in batches { job.flying?.subtract(batch.indices) }
        guard !batches.isEmpty, job.summary.header.onDoubt == .report else { return }
        withdrawIntents(batches, of: job.claimed.id)
    }

    /// The same of much of a job, a group at a time.
    func noteAllReturned(_ batches: [Batch], of job: ActiveJob) async {
        for group in BatchGroups(batches, limits: Self.backLimits) {
            noteReturned(group, of: job)
            await context.files.worker.yield()
        }
    }

    /// Forgets a job that is over, or was to be held and is not any more.
    func forgetHold(_ id: JobID) {
        holding.remove(id)
        jobs[id]?.flying = nil
    }

    /// Has a job end that is being sent: what was not read yet has this outcome, and is read to be told.
    func withdraw(_ job: ActiveJob, _ code: ResultCode, _ outcome: Outcome) {
        guard case .sending = job.machine.state else { return }
        let id = job.claimed.id
        job.ending = ActiveJob.Ending(outcome: outcome, isOrdered: true)
        ending.insert(id)
        handle(.stopped(code), id)
        endUnread(job, outcome)
    }

    /// Forgets a job that was ended, and is over.
    func forgetEnding(_ id: JobID) { ending.remove(id) }

    /// Gives what was not read yet its outcome; reading on tells it.
    private func endUnread(_ job: ActiveJob, _ outcome: Outcome) {
        let id = job.claimed.id
        var unread = IndexRuns(job.machine.remaining.intersection(job.unread))
        // What an earlier run has left in doubt is told to be so when it is read.
        for run in job.resumption?.doubtful.runs ?? [] { unread.subtract(run) }
        guard !unread.isEmpty else { return }
        let result = JournalResult(outcome, unread.runs, at: .now)
        let before = job.resumption
        job.resumption = Resumption(
            doubtful: before?.doubtful ?? IndexRuns(), untold: (before?.untold ?? []) + [result], final: nil,
            isAbridged: before?.isAbridged == true)
        journal.record(.result(id, result))
        // What is published before all of it is told must not say that it is.
        parts.earlier.firstTold = context.daemon.journal.position
        context.daemon.meter.count { $0.note(outcome, count: unread.count) }
        for run in unread.runs {
            job.note(run, outcome)
            handle(.settled(run, outcome), id)
        }
    }

    // MARK: Single outcomes

    /// Takes an outcome: counts it, writes its lines, and goes on with the job.
    func settle(_ settlement: Settlement) {
        let id = settlement.batch.job
        parts.suppression.remember(settlement)
        guard let job = jobs[id] else { return settleLate(settlement) }
        let isCorrection = settlement.isCorrection || !job.machine.isAwaiting(settlement.batch.indices)
        if isCorrection, settlement.outcome == .accepted { return }
        if settlement.outcome != .accepted || job.summary.header.record == .all {
            parts.lines.append(settlement, of: job.identity)
        }
        let range = settlement.batch.indices
        if isCorrection, !job.machine.isAwaiting(range) { context.daemon.meter.count { $0.noteRevoked(range.count) } }
        note([range], settlement.outcome, of: job, isCorrection: isCorrection)
        handle(isCorrection ? .corrected(range, settlement.outcome) : .settled(range, settlement.outcome), id)
    }

    /// Records an outcome, for the journal and for the result file.
    private func note(
        _ ranges: [Range<Int>], _ outcome: Outcome, of job: ActiveJob, isCorrection: Bool = false
    ) {
        let result = JournalResult(outcome, ranges, at: .now, isCorrection: isCorrection)
        journal.record(.result(job.claimed.id, result))
        context.daemon.meter.count { $0.note(outcome, count: ranges.reduce(0) { $0 + $1.count }) }
        for range in ranges { job.note(range, outcome) }
    }

    /// Records that nobody knows what became of these.
    func noteUnknown(_ ranges: [Range<Int>], of job: ActiveJob) {
        guard !ranges.isEmpty else { return }
        note(ranges, .unknown, of: job)
        for range in ranges { handle(.settled(range, .unknown), job.claimed.id) }
    }

    /// An outcome of a job that is over: only one that contradicts what was told is told.
    private func settleLate(_ settlement: Settlement) {
        guard settlement.outcome != .accepted, let identity = jobs.recentIdentity(of: settlement.batch.job) else {
            return
        }
        parts.lines.append(settlement, of: identity)
        context.daemon.meter.count {
            $0.noteRevoked(settlement.batch.count)
            $0.note(settlement.outcome, count: settlement.batch.count)
        }
        context.logger.warning(
            "notifications of a finished job were not accepted after all",
            metadata: [LogKey.job: "\(identity.name)", LogKey.count: "\(settlement.batch.count)"])
    }

    /// Refuses recipients of a chunk that cannot be sent to; those for one reason in one record.
    func reject(_ recipients: [RejectedRecipient], of job: ActiveJob) {
        guard !recipients.isEmpty else { return }
        let id = job.claimed.id
        let awaited = recipients.filter { job.machine.isAwaiting($0.index..<$0.index + 1) }
        let now = WallTime.now
        for recipient in awaited { parts.lines.append(recipient, of: job.identity, at: now) }
        for (refusal, recipients) in Dictionary(grouping: awaited, by: \.refusal) {
            let ranges = IndexRuns(recipients.map { $0.index..<$0.index + 1 }).runs
            note(ranges, .rejected(refusal), of: job)
            for range in ranges { handle(.settled(range, .rejected(refusal)), id) }
        }
    }

    /// Does for a chunk of a job of an earlier run what its end prevented: tells outcomes, and what is in doubt.
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

    // MARK: What is under way again

    /// Notifications that had been taken for accepted are under way again.
    func reopen(_ batches: [Batch]) {
        for batch in batches {
            let news = jobs[batch.job]?.takeReopened(batch.indices) ?? [batch.indices]
            for range in news { reopen(range, of: batch.job) }
        }
        journal.write()
    }

    /// The same of a range that was taken back before that was heard.
    func reopen(_ range: Range<Int>, of id: JobID) {
        journal.record(.reopened(id, [range]))
        // Of a job that is over, only what contradicts what was told is.
        if let job = jobs[id] {
            context.daemon.meter.count { $0.noteRevoked(range.count) }
            job.flying?.insert(range)
        }
        handle(.reopened(range), id)
    }

    /// Takes back that these are about to be written: the gateway has not processed them, and nobody is in doubt.
    func withdraw(_ batches: [Batch]) {
        for (job, batches) in Dictionary(grouping: batches, by: \.job) {
            var runs = IndexRuns()
            for batch in batches { runs.insert(batch.indices) }
            journal.record(.reopened(job, runs.runs))
        }
        journal.write()
    }

    /// Takes back what was announced of these and never written: the next start may send it.
    func withdrawIntents(_ batches: [Batch], of id: JobID) {
        guard let intents = context.daemon.journal.job(id)?.intents else { return }
        let announced = batches.flatMap { intents.intersection($0.indices) }
        if !announced.isEmpty { journal.record(.reopened(id, announced)) }
    }

    // MARK: Many outcomes, as there is room for them

    /// Records outcomes and writes their lines, as the app's share of the journal and of lines in memory allow.
    ///
    /// Meanwhile the gateway goes on until its windows are full: what it is not told to be recorded counts there.
    ///
    /// - Returns: `false` when the app ends before that.
    func settle(_ settlements: [Settlement]) async -> Bool {
        var rest = settlements[...]
        while !rest.isEmpty {
            let group = rest.prefix(Self.settledAtOnce)
            guard await mayRecord(outcomes: group.count) else {
                warnOfUnrecorded(rest.reduce(0) { $0 + $1.batch.count })
                return false
            }
            for settlement in group { settle(settlement) }
            rest = rest.dropFirst(group.count)
        }
        journal.write()
        return true
    }

    /// Gives what was taken back of a job an outcome, in the order of the file: a group at a time, as the app's share of the
    /// journal and of lines in memory allow. Others go on in between.
    ///
    /// - Returns: `false` when the app ends before that.
    @discardableResult
    func settle(takenBack batches: [Batch], of id: JobID, _ outcome: Outcome) async -> Bool {
        var unsettledCount = batches.notificationCount
        for group in BatchGroups(batches, limits: Self.backLimits) {
            guard await mayRecordTakenBack() else {
                warnOfUnrecorded(unsettledCount)
                return false
            }
            // It may have been parked meanwhile, because its file was changed.
            guard let job = jobs[id] else { return true }
            settle(group, of: job, outcome)
            unsettledCount -= group.notificationCount
            journal.write()
            await context.files.worker.yield()
        }
        return true
    }

    /// Settles a group of one job: what has no outcome yet in one record, and corrects what has one.
    private func settle(_ group: [Batch], of job: ActiveJob, _ outcome: Outcome) {
        let id = job.claimed.id
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
        for batch in awaited { handle(.settled(batch.indices, outcome), id) }
    }

    /// The app ends. They are in doubt, as if it had died: the next start sends them again or calls them unknown.
    private func warnOfUnrecorded(_ count: Int) {
        context.logger.warning(
            "outcomes could not be recorded before the app ended", metadata: [LogKey.count: "\(count)"])
    }

    /// Waits until a group of what was taken back may be recorded. Several may wait here, so nobody rings for them.
    ///
    /// - Returns: `false` when the app ends before.
    private func mayRecordTakenBack() async -> Bool {
        let byteCount = Self.backLimits.batchCount * Self.rangeByteCount
        while !journal.isBroken {
            if mayRecord(byteCount, number: 1, orRing: parts.publishBell) { break }
            if context.lifecycle.isEnding || Task.isCancelled { return false }
            status.update()
            try? await context.daemon.reactor.sleep(for: .milliseconds(20))
        }
        parts.room.endWait(for: .outcomes)
        return true
    }

    /// Waits until so many outcomes may be recorded: there is room, or nothing that would make some.
    ///
    /// - Returns: `false` when the app ends before.
    private func mayRecord(outcomes count: Int) async -> Bool {
        var hasHurried = false
        let bell = publisher.roomBell
        while !journal.isBroken {
            if mayRecord(count * Self.outcomeByteCount, number: 0, orRing: bell) {
                parts.room.endWait(for: .outcomes)
                return true
            }
            if context.lifecycle.isEnding { return false }
            if hasHurried { parts.publishBell.ring() } else { publisher.hurry() }
            hasHurried = true
            await bell.wait()
        }
        return true
    }

    /// Whether outcomes of so many bytes may be recorded: there is room, or nothing that would make some.
    private func mayRecord(_ byteCount: Int, number: Int, orRing bell: Bell) -> Bool {
        let hasRoom = parts.room.has(byteCount, for: .outcomes, number: number, orRing: bell)
        return hasRoom && !parts.lines.isOverfull || !publisher.isAtWork
    }
}
