import Gateways
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

/// Reads the jobs under way, and submits their recipients to the gateway: one chunk of each job in turn, by lane.
final class Sender {
    /// The size of a turn: the next chunk of one job after another, up to this number of jobs or recipients. This makes
    /// the handover between threads worthwhile even if the jobs are small.
    private static let turnLimits = (jobs: 64, recipients: 512)
    /// How many journal bytes a turn usually takes: the records of recipients that are rejected at once.
    private static let turnByteCount = 16 << 10

    private let parts: AppParts
    private let context: AppContext
    private let gateway: any PushGateway
    private let outcomes: OutcomeRecorder
    private let recall: BatchRecall
    private let publisher: Publisher

    init(_ parts: AppParts, _ outcomes: OutcomeRecorder, _ recall: BatchRecall, _ publisher: Publisher) {
        (self.parts, self.outcomes, self.recall, self.publisher) = (parts, outcomes, recall, publisher)
        (context, gateway) = (parts.context, parts.gateway)
    }

    private var jobs: JobTable { parts.jobs }

    // MARK: Starting jobs

    /// Starts to send a claimed job, or concludes it if nothing of it can be sent.
    ///
    /// - Parameters:
    ///   - claimed: The job.
    ///   - read: The result of reading it.
    ///   - claimedAt: The time of the claim in the journal. A result file that is written again is identical then.
    func start(_ claimed: ClaimedJob, _ read: ReadJob, claimedAt: WallTime) {
        let job = ActiveJob(claimed, read, claimedAt: claimedAt, isKnownComplete: read.isKnownComplete)
        if let sent = read.remainder?.sent { return goOn(job, read, sent) }
        begin(job, read)
        if job.machine.isOver { publisher.conclude(job) } else { jobs.makeReadable(job) }
    }

    /// Resumes a job that was held or is retried.
    private func goOn(_ job: ActiveJob, _ read: ReadJob, _ sent: Remainder.Sent) {
        job.outcomes.runs = sent.progress.runs
        job.resumption = Resumption(doubtful: IndexRuns(), untold: [], final: nil)
        job.machine = JobMachine(remaining: sent.progress.remaining, tally: sent.progress.tally)
        begin(job, read)
        // Whether the job can be sent may have changed with the app's configuration.
        if let failure = read.summary.failure, !sent.progress.remaining.isEmpty {
            outcomes.stop(job, failure)
        } else {
            jobs.makeReadable(job)
        }
    }

    /// Resumes a job of an earlier run.
    func resume(_ job: ActiveJob, _ read: ReadJob) {
        begin(job, read)
        jobs.makeReadable(job)
    }

    private func begin(_ job: ActiveJob, _ read: ReadJob) {
        parts.state.noteTaken()
        jobs.begin(job, heldByteCount: read.source.heldByteCount)
    }

    // MARK: The pump

    /// Submits recipients of a lane's jobs to the gateway until the task is cancelled.
    ///
    /// Waits for room without a turn, and asks for a turn only then, so that other lanes and other apps are not blocked.
    @inline(never) func run(_ lane: Lane) async {
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
                await jobs.wakeup(lane).wait()
            }
        }
    }

    /// Waits before more of a lane's jobs is read: for room in the journal, but only while lines are unpublished, since
    /// jobs under way need little room and make some when they end; and until fewer lines are in memory, which only
    /// their publication achieves.
    ///
    /// - Returns: `false` if there is other work first: batches to hand out again, or the end of the task.
    private func waitForRoom(_ lane: Lane) async -> Bool {
        let wakeup = jobs.wakeup(lane)
        while parts.lines.isOverfull
            || !parts.room.has(Self.turnByteCount, for: .sending, number: lane.rank, orWake: wakeup.signal)
                && !publisher.isRetelling
        {
            await wakeup.wait(until: .now + .seconds(1))
            if Task.isCancelled || jobs.hasFreed(lane) { return false }
            if !publisher.isAtWork { break }
        }
        parts.room.endWait(for: .sending)
        return true
    }

    /// The part of a job that a turn has read.
    private struct ReadPart {
        let job: ActiveJob
        /// The weight of the recipients that were read; long ones count more than once.
        var readCount = 0
        /// The batches of these recipients that are to be sent.
        var batches: [Batch] = []
        /// Success at the end of the job; or the reason why it cannot be read further.
        var end: Result<Void, JobSource.Fault>?
    }

    /// Reads the jobs of one turn.
    private func readTurn(_ lane: Lane) -> [ReadPart] {
        var portions: [ReadPart] = []
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
    private func readPortion(of job: ActiveJob) -> ReadPart {
        var portion = ReadPart(job: job)
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
                // The job should end here, and this shows it without another turn.
                guard try job.source?.next() == nil else { throw .changed }
            }
            jobs.closeSource(of: job)
            portion.end = .success(())
        } catch {
            portion.end = .failure(error)
        }
        return portion
    }

    /// Returns the parts of a batch that have no outcome yet.
    private func awaited(_ batch: Batch, of job: ActiveJob) -> [Batch] {
        guard job.resumption != nil else { return [batch] }
        return job.machine.remaining.intersection(batch.indices).map { batch[$0] }
    }

    /// Sends the batches of a turn, and handles the ends of jobs. Jobs without batches do not wait for room in the gateway.
    private func handOut(_ portions: [ReadPart]) async {
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
            await recall.takeBackWhatIsOver(due)
        } catch {
            // Cancelled: the job stays in `work/` for the next start. The announcement of its batches is withdrawn.
            jobs.keep(due)
        }
    }

    /// Returns the batches to send. The others are settled, as the journal has room.
    private func takeDue(_ batches: [Batch]) async -> [Batch] {
        var (due, late) = ([Batch](), [JobID: (expired: [Batch], ended: [Batch])]())
        for batch in batches {
            guard let job = jobs[batch.job], !job.machine.isOver else { continue }
            if job.machine.isDraining {
                outcomes.noteReturned([batch], of: job)
            } else if batch.attributes.expiration.hasPassed(at: .now) {
                late[batch.job, default: ([], [])].expired.append(batch)
            } else if job.machine.ending != nil {
                late[batch.job, default: ([], [])].ended.append(batch)
            } else {
                due.append(batch)
            }
        }
        for (id, batches) in late {
            await outcomes.settle(takenBack: batches.expired, of: id, .expired)
            if let ending = jobs[id]?.machine.ending {
                await outcomes.settle(takenBack: batches.ended, of: id, ending.rest)
            }
        }
        return due
    }

    // MARK: The end of a file

    /// Handles the end of a job's file, if the turn has reached it.
    private func end(_ portion: ReadPart) async {
        let job = portion.job
        // The job may have moved to `hold/` while this task waited, or be over otherwise.
        guard jobs[job.claimed.id] === job else { return }
        switch portion.end {
        case nil: break
        case .success: await endOfJob(job)
        case .failure where job.source == nil: break
        case .failure(let fault) where job.isReadToTell: endTelling(job, fault)
        case .failure(.changed): await holdChanged(job)
        case .failure(.unreadable(let error)): await endUnreadable(job, error)
        }
    }

    /// Handles the end of a job's file. If it had another number of recipients when it was checked, it has changed since.
    private func endOfJob(_ job: ActiveJob) async {
        guard job.handedOutCount != job.summary.recipientCount else { return publisher.conclude(job) }
        if job.isReadToTell { endTelling(job, .changed) } else { await holdChanged(job) }
    }

    private func endUnreadable(_ job: ActiveJob, _ error: SystemError) async {
        let id = job.claimed.id
        context.logger.error("rest of a job cannot be read", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
        job.fault = "the rest of the file could not be read: \(error)"
        outcomes.stop(job, .unreadable)
        // Notifications on a connection still get their outcome, and the last of them ends the job.
        await outcomes.settle(takenBack: await gateway.remove(id), of: id, .unsent(Refusal(.jobUnreadable, .later)))
    }

    /// Handles a job that cannot be read further after it ended, or an operator ended it or asked to hold it. The remaining
    /// outcomes of an earlier run or of the operator's command are not published one by one.
    private func endTelling(_ job: ActiveJob, _ fault: JobSource.Fault) {
        context.logger.error(
            "outcomes cannot be reported", metadata: [LogKey.id: "\(job.claimed.id)", LogKey.error: "\(fault)"])
        jobs.closeSource(of: job)
        let doubtful = job.resumption?.doubtful.runs ?? []
        outcomes.noteUnknown(doubtful.flatMap { job.machine.remaining.intersection($0) }, of: job)
        publisher.conclude(job)
    }

    /// Holds a job whose file has changed, or whose records cannot be read, unless it ends meanwhile.
    private func holdChanged(_ job: ActiveJob) async {
        _ = await gateway.remove(job.claimed.id)
        guard jobs[job.claimed.id] === job else { return }
        if job.machine.hasEnded, job.source != nil { return endTelling(job, .changed) }
        outcomes.holdChanged(job)
    }

    /// Moves those of the jobs that belong to this app to `hold/`: the journal can no longer read their records.
    func holdUnreadable(_ ids: [JobID]) async {
        for id in ids {
            if let job = jobs[id] { await holdChanged(job) }
        }
    }

    // MARK: Testing the gateway after a stop

    /// Makes sure that a stopped app that tries again has a notification to try with.
    ///
    /// Notifications that wait in the gateway come first. If all of them back off, those of one job are released, once,
    /// because they may back off beyond the next stop. If that has no effect either, a job from `new/` may be taken. If
    /// there is none, the gateway asks again with a job that it refused. With each stop, one job from `new/` may be taken
    /// whatever waits, so that many bad jobs under way do not hide a good one.
    func prepareToAsk(isClaiming: Bool) async {
        let state = parts.state
        let phase = state.acceptance.phase
        guard let hasFreed = state.beginAsking(), !isClaiming else { return }
        if state.isStopped, !state.hasTaken { return state.allowOne() }
        guard jobs.hasNothingToHandOut, await !gateway.isAtWork, state.acceptance.phase == phase else { return }
        if !hasFreed {
            state.noteFreed()
            if await gateway.releasePaused() { return }
        }
        state.allowOne()
    }
}

extension ActiveJob {
    /// Whether the job is read on only to publish outcomes of an earlier run or of an operator's command.
    fileprivate var isReadToTell: Bool { machine.isDraining || machine.isOver || machine.ending?.isOrdered == true }
}
