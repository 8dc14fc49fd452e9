import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// Reads on in the jobs under way, and hands their recipients to the gateway: a chunk of each job in turn, by lane.
final class Sender {
    /// How much a turn brings: the next chunk of one job, and of others until it is so many jobs or recipients. What is handed
    /// over between threads at a time is worth it then, however small the jobs are.
    private static let turnLimits = (jobs: 64, recipients: 512)
    /// How many bytes a turn takes in the journal, as a rule: those of its recipients that are refused at once.
    private static let turnByteCount = 16 << 10

    let parts: AppParts
    private let context: AppContext
    private let gateway: any PushGateway
    let outcomes: OutcomeRecorder
    private let publisher: Publisher

    init(_ parts: AppParts, _ outcomes: OutcomeRecorder, _ publisher: Publisher) {
        (self.parts, self.outcomes, self.publisher) = (parts, outcomes, publisher)
        (context, gateway) = (parts.context, parts.gateway)
    }

    private var jobs: JobTable { parts.jobs }

    // MARK: Jobs that begin

    /// Begins to send a claimed job, or concludes it if nothing of it can be sent.
    ///
    /// - Parameters:
    ///   - claimed: The job.
    ///   - read: What was read of it.
    ///   - claimedAt: When it was claimed, as the journal has it: a result file that is written again is the same.
    func start(_ claimed: ClaimedJob, _ read: ReadJob, claimedAt: WallTime) {
        let job = ActiveJob(claimed, read, claimedAt: claimedAt, isSealed: read.isSealed)
        if let sent = read.rest?.sent { return goOn(job, read, sent) }
        begin(job, read)
        if job.machine.isOver { publisher.conclude(job) } else { jobs.makeReadable(job) }
    }

    /// Goes on with a job that was parked, or is tried again, where it was.
    private func goOn(_ job: ActiveJob, _ read: ReadJob, _ sent: Rest.Sent) {
        job.runs = sent.progress.runs
        job.resumption = Resumption(doubtful: IndexRuns(), untold: [], final: nil)
        job.machine = JobMachine(remaining: sent.progress.remaining, tally: sent.progress.tally)
        begin(job, read)
        // What can be sent may have changed with the app since.
        if let failure = read.summary.failure, !sent.progress.remaining.isEmpty {
            outcomes.handle(.stopped(failure), job.claimed.id)
        } else {
            jobs.makeReadable(job)
        }
    }

    /// Goes on with a job as an earlier run has left it.
    func resume(_ job: ActiveJob, _ read: ReadJob) {
        begin(job, read)
        jobs.makeReadable(job)
    }

    private func begin(_ job: ActiveJob, _ read: ReadJob) {
        parts.state.noteTaken()
        jobs.begin(job, heldByteCount: read.source.heldByteCount)
    }

    // MARK: The pump

    /// Hands recipients of a lane's jobs to the gateway, until the task is cancelled.
    ///
    /// Waits for room in the gateway without a turn, and asks for one only then: other lanes and other apps go on.
    func run(_ lane: Lane) async {
        while !Task.isCancelled {
            let again = jobs.takeFreed(lane, until: Self.turnLimits.recipients)
            if !again.isEmpty {
                await send(again)
            } else if !jobs.isResting(lane) {
                guard await waitForRoom(lane) else { continue }
                await context.files.turns.enter(lane)
                let portions = readTurn(lane)
                await context.files.turns.leave()
                await handOut(portions)
            } else {
                await jobs.bell(lane).wait()
            }
        }
    }

    /// Waits before more of a lane's jobs is read: for room in the journal, but not for long, since what is under way needs little
    /// and makes room when it ends; and until there are not too many lines in memory, which nothing but their publication makes
    /// fewer.
    ///
    /// - Returns: `false` when there is something else to do first: to hand out what was taken back, or to end.
    private func waitForRoom(_ lane: Lane) async -> Bool {
        let bell = jobs.bell(lane)
        while parts.lines.isOverfull
            || !parts.room.has(Self.turnByteCount, for: .sending, number: lane.rank, orRing: bell)
                && !publisher.isRetelling
        {
            await bell.wait(until: .now + .seconds(1))
            if Task.isCancelled || jobs.hasFreed(lane) { return false }
            if !publisher.isAtWork { break }
        }
        parts.room.endWait(for: .sending)
        return true
    }

    /// What a turn brought of a job.
    private struct Portion {
        let job: ActiveJob
        /// How many recipients were read; long ones count more than once.
        var readCount = 0
        /// Those of them that are to be sent.
        var batches: [Batch] = []
        /// Whether that was the end of the job, or why it cannot be read on.
        var end: Result<Void, JobSource.Fault>?
    }

    /// Reads as much as a turn brings.
    private func readTurn(_ lane: Lane) -> [Portion] {
        var portions: [Portion] = []
        var count = 0
        while portions.count < Self.turnLimits.jobs, count < Self.turnLimits.recipients,
            let job = jobs.next(of: lane)
        {
            let portion = readPortion(of: job)
            portions.append(portion)
            count += portion.readCount
        }
        return portions
    }

    /// Reads the next chunk of a job. Blocks for the file.
    private func readPortion(of job: ActiveJob) -> Portion {
        var portion = Portion(job: job)
        do throws(JobSource.Fault) {
            if let chunk = try job.source?.next() {
                portion.readCount = chunk.weight
                job.handedOutCount += chunk.indices.count
                outcomes.resume(chunk, of: job)
                outcomes.reject(chunk.rejected, of: job)
                let (due, suppressed) = parts.suppression.divide(
                    chunk.batches.flatMap { awaited($0, of: job) }, chunk.registrations)
                portion.batches = due
                for settlement in suppressed { outcomes.settle(settlement) }
                guard job.source != nil else { return portion }
                guard job.handedOutCount >= job.summary.recipientCount else {
                    jobs.askAgain(job)
                    return portion
                }
                // That should be all, and it is known without another turn.
                guard try job.source?.next() == nil else { throw .changed }
            }
            jobs.closeSource(of: job.claimed.id)
            portion.end = .success(())
        } catch {
            portion.end = .failure(error)
        }
        return portion
    }

    /// The parts of a batch that have no outcome yet.
    private func awaited(_ batch: Batch, of job: ActiveJob) -> [Batch] {
        guard job.resumption != nil else { return [batch] }
        return job.machine.remaining.intersection(batch.indices).map { batch[$0] }
    }

    /// Sends what a turn has brought, and does what else came of it: what has nothing to send does not wait for room.
    private func handOut(_ portions: [Portion]) async {
        for portion in portions where portion.batches.isEmpty { await end(portion) }
        await send(portions.flatMap(\.batches))
        for portion in portions where !portion.batches.isEmpty { await end(portion) }
        parts.journal.write()
        if parts.lines.isUrgent { await publisher.publish() }
        await context.files.worker.yield()
    }

    private func send(_ batches: [Batch]) async {
        let due = await takeDue(batches)
        guard !due.isEmpty else { return }
        do {
            try await gateway.submit(due)
            await takeBackWhatIsOver(due)
        } catch {
            // Cancelled: the job stays in work/, where the next start finds it. What was announced of it is taken back.
            jobs.keep(due)
        }
    }

    /// The batches that are to be sent. Those whose time is up get their outcome, as the journal has room.
    private func takeDue(_ batches: [Batch]) async -> [Batch] {
        var (due, late) = ([Batch](), [JobID: (expired: [Batch], ended: [Batch])]())
        for batch in batches {
            guard let job = jobs[batch.job], !job.machine.isOver else { continue }
            if job.flying != nil {
                outcomes.noteReturned([batch], of: job)
            } else if batch.attributes.expiration.hasPassed(at: .now) {
                late[batch.job, default: ([], [])].expired.append(batch)
            } else if job.ending != nil {
                late[batch.job, default: ([], [])].ended.append(batch)
            } else {
                due.append(batch)
            }
        }
        for (id, batches) in late {
            await outcomes.settle(takenBack: batches.expired, of: id, .expired)
            if let ending = jobs[id]?.ending?.outcome {
                await outcomes.settle(takenBack: batches.ended, of: id, ending)
            }
        }
        return due
    }

    // MARK: The end of a file

    /// Ends the reading of a job, if that is what a turn has brought.
    private func end(_ portion: Portion) async {
        let job = portion.job
        // It may have been parked while this waited.
        guard jobs[job.claimed.id] === job else { return }
        switch portion.end {
        case nil: break
        case .success: await endOfJob(job)
        case .failure(let fault) where job.isWithdrawn || job.flying != nil: endTelling(job, fault)
        case .failure(.changed): await endChanged(job)
        case .failure(.unreadable(let error)): await endUnreadable(job, error)
        }
    }

    /// A job has handed out all its recipients; as many as when it was validated, or its file was changed since.
    private func endOfJob(_ job: ActiveJob) async {
        guard job.handedOutCount != job.summary.recipientCount else { return endRetelling(job) }
        if job.isWithdrawn || job.flying != nil { endTelling(job, .changed) } else { await endChanged(job) }
    }

    private func endUnreadable(_ job: ActiveJob, _ error: SystemError) async {
        let id = job.claimed.id
        context.logger.error("job cannot be read on", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
        if !job.machine.isOver { job.fault = "the file could not be read to its end: \(error)" }
        outcomes.handle(.stopped(.unreadable), id)
        endRetelling(job)
        // What is on a connection still gets its outcome, and the last of them ends the job.
        await outcomes.settle(takenBack: await gateway.remove(id), of: id, .unsent(.unreadable))
    }

    /// A job that an operator has ended, or wants to be held, can be read no further: what an earlier run, or he, has made of it
    /// is not told notification by notification.
    private func endTelling(_ job: ActiveJob, _ fault: JobSource.Fault) {
        context.logger.error(
            "outcomes cannot be told", metadata: [LogKey.id: "\(job.claimed.id)", LogKey.error: "\(fault)"])
        jobs.closeSource(of: job.claimed.id)
        let doubtful = job.resumption?.doubtful.runs ?? []
        outcomes.noteUnknown(doubtful.flatMap { job.machine.remaining.intersection($0) }, of: job)
        if case .settled = job.machine.state { publisher.conclude(job) }
    }

    /// Parks a job whose file is not what was checked; but one that had ended, and was read to be told, has ended.
    private func endChanged(_ job: ActiveJob) async {
        _ = await gateway.remove(job.claimed.id)
        if job.resumption != nil, case .settled = job.machine.state {
            context.logger.error(
                "outcomes cannot be told: the job's file was changed", metadata: [LogKey.id: "\(job.claimed.id)"])
            endRetelling(job)
        } else {
            outcomes.handle(.hold(.changed), job.claimed.id)
        }
    }

    /// Parks those of the jobs that are this app's: the journal cannot tell any more what they were.
    func holdUnreadable(_ ids: [JobID]) async {
        for id in ids where jobs[id] != nil {
            _ = await gateway.remove(id)
            outcomes.handle(.hold(.changed), id)
        }
    }

    /// Ends a job that had ended before, when what an earlier run had not told of it is told.
    private func endRetelling(_ job: ActiveJob) {
        guard job.resumption != nil, case .settled = job.machine.state else { return }
        jobs.closeSource(of: job.claimed.id)
        publisher.conclude(job)
    }

    // MARK: Taking back

    /// Takes back what waited for room until its job was given up, ended, or was to be held.
    private func takeBackWhatIsOver(_ batches: [Batch]) async {
        for id in Set(batches.map(\.job)) where mustTakeBack(id) {
            let back = await gateway.remove(id)
            guard let job = jobs[id] else { continue }
            if job.flying == nil {
                await outcomes.settle(takenBack: back, of: id, job.ending?.outcome ?? .unsent(.givenUp))
            } else {
                await outcomes.noteAllReturned(back, of: job)
            }
        }
    }

    private func mustTakeBack(_ id: JobID) -> Bool {
        guard let job = jobs[id] else { return true }
        return job.ending != nil || job.machine.isOver || job.flying != nil
    }

    /// Takes back all of a job that is not on a connection, so that it has no outcome and is on its way to nowhere.
    ///
    /// Among it may be what is under way again, and what the gateway tells of that may not have been heard yet.
    func takeBack(_ job: ActiveJob) async -> [Batch] {
        let id = job.claimed.id
        guard jobs[id] === job, !job.machine.isOver else { return jobs.removeFreed(id) }
        let batches = await gateway.remove(id)
        guard !batches.isEmpty else { return jobs.removeFreed(id) }
        switch job.machine.state {
        case .held: return jobs.removeFreed(id)
        case .settled, .published, .archived:
            // It came to its end meanwhile; what is sent again of it all the same is the gateway's.
            do {
                try await gateway.submit(batches)
            } catch {
                // Cancelled: it was told to have been accepted, and the process ends.
                context.logger.debug("not sent again", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            }
            return jobs.removeFreed(id)
        case .sending, .draining, .stopping: break
        }
        for range in batches.flatMap({ job.noteTakenBack($0.indices) }) { outcomes.reopen(range, of: id) }
        return batches + jobs.removeFreed(id)
    }

    /// Takes back all that was handed out of a job, if nothing of it has ever been on a connection: it would come from there under
    /// its old id, and from `new/` under another one.
    ///
    /// - Returns: `nil` if something has, or is on its way there.
    func takeUnwritten(_ job: ActiveJob) async -> [Batch]? {
        let id = job.claimed.id
        guard jobs.freedBatches(of: id).isEmpty else { return nil }
        guard let batches = await gateway.removeUnwritten(id, count: job.handedOutCount) else {
            job.machine.wasWritten = true
            return nil
        }
        // More of it may have been read meanwhile.
        guard jobs[id] === job, job.isUnsent, batches.notificationCount == job.handedOutCount else {
            jobs.handOutAgain(batches)
            return nil
        }
        return batches
    }

    /// Takes back, at the end, what was announced of jobs that must not be sent twice and never written: the next start may.
    func withdrawIntents() async {
        for job in jobs.all where job.summary.header.onDoubt == .report && !job.machine.isOver {
            let id = job.claimed.id
            outcomes.withdrawIntents(await gateway.remove(id) + jobs.freedBatches(of: id), of: id)
        }
    }

    // MARK: Jobs whose time is up, or that are to be held

    /// Ends what jobs have not sent when their time is up.
    func giveUpLateJobs() async {
        for job in jobs.late(at: .now) {
            if job.ending == nil {
                context.logger.warning(
                    "job given up", metadata: [LogKey.job: "\(job.claimed.name)", LogKey.id: "\(job.claimed.id)"])
            }
            let ending = job.ending ?? ActiveJob.Ending(outcome: .unsent(.givenUp))
            job.ending = ending
            await outcomes.settle(takenBack: await takeBack(job), of: job.claimed.id, ending.outcome)
        }
    }

    /// Brings jobs that are to be held closer to it: takes back what is not on a connection, and parks those of which nothing
    /// else is left.
    func proceedWithHolds() async {
        for id in outcomes.holding.sorted(by: { $0.bits < $1.bits }) {
            guard let held = jobs[id] else {
                outcomes.forgetHold(id)
                continue
            }
            await outcomes.noteAllReturned(await takeBack(held), of: held)
            guard let job = jobs[id], case .draining = job.machine.state, let flying = job.flying else {
                outcomes.forgetHold(id)
                continue
            }
            let isFlying = flying.runs.contains { !job.machine.remaining.intersection($0).isEmpty }
            if !isFlying, !job.hasToTell { outcomes.handle(.drained, id) }
        }
        parts.journal.write()
    }

    /// Ends what has come back from connections of jobs that are ended: it would pause, or be sent again.
    func proceedWithEndings() async {
        for id in outcomes.ending.sorted(by: { $0.bits < $1.bits }) {
            if let job = jobs[id], let ending = job.ending?.outcome {
                await outcomes.settle(takenBack: await takeBack(job), of: id, ending)
            }
            if jobs[id]?.machine.isOver ?? true { outcomes.forgetEnding(id) }
        }
        parts.journal.write()
    }

    // MARK: A stopped app that asks

    /// Sees to it that a stopped app that asks again has something to ask with.
    ///
    /// What waits in the gateway comes first. If all of it pauses, a pause is broken off, once, since it may last longer
    /// than the time until the next stop; if that comes to nothing either, a job of `new/` may be taken.
    func prepareToAsk(isClaiming: Bool) async {
        let state = parts.state
        guard let hasFreed = state.beginAsking(), !isClaiming, jobs.hasNothingToHandOut, await !gateway.isAtWork,
            state.standing.phase == .asking(hasFreed: hasFreed)
        else { return }
        if !hasFreed {
            state.noteFreed()
            if await freePaused() { return }
        }
        state.allowOne()
    }

    /// Takes back what pauses of one job, so that it is handed out again.
    ///
    /// - Returns: Whether there was any.
    private func freePaused() async -> Bool {
        for id in jobs.all.map(\.claimed.id) {
            let batches = await gateway.remove(id)
            guard !batches.isEmpty else { continue }
            jobs.handOutAgain(batches)
            return true
        }
        return false
    }
}

extension APNSModel.Refusal {
    /// What was not sent until the job's time was up.
    static let givenUp = APNSModel.Refusal(status: nil, reason: "GivenUp", verdict: .later)
    /// What was not sent because the rest of the job's file could not be read.
    static let unreadable = APNSModel.Refusal(status: nil, reason: "JobUnreadable", verdict: .later)
}
