import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Begins to send a claimed job, or concludes it if nothing of it can be sent.
    ///
    /// - Parameters:
    ///   - claimed: The job.
    ///   - read: What was read of it.
    ///   - claimedAt: When it was claimed, as the journal has it: a result file that is written again is the same.
    func start(_ claimed: ClaimedJob, _ read: ReadJob, claimedAt: WallTime) {
        let job = ActiveJob(claimed, read, claimedAt: claimedAt, isSealed: read.isSealed)
        if let sent = read.rest?.sent { return goOn(job, read, sent) }
        take(job, read)
        if job.machine.isOver { conclude(claimed.id) } else { makeReadable(claimed.id) }
    }

    /// Goes on with a job that was parked, or is tried again, where it was.
    private func goOn(_ job: ActiveJob, _ read: ReadJob, _ sent: Rest.Sent) {
        job.runs = sent.progress.runs
        job.resumption = Resumption(doubtful: IndexRuns(), untold: [], final: nil)
        job.machine = JobMachine(remaining: sent.progress.remaining, tally: sent.progress.tally)
        take(job, read)
        // What can be sent may have changed with the app since.
        if let failure = read.summary.failure, !sent.progress.remaining.isEmpty {
            handle(.stopped(failure), job.claimed.id)
        } else {
            makeReadable(job.claimed.id)
        }
    }

    /// Adds a job to those under way.
    func take(_ job: ActiveJob, _ read: ReadJob) {
        mayAsk = false
        places.begin(job.lane, byteCount: read.source.heldByteCount)
        jobs[job.claimed.id] = job
        duplicates.beginTurn(job.summary)
        let giveUpAt = job.summary.header.giveUpAt
        nextGiveUp = nextGiveUp.map { min($0, giveUpAt) } ?? giveUpAt
    }

    /// Lets a job's recipients be handed out.
    func makeReadable(_ id: JobID) {
        guard let lane = jobs[id]?.lane else { return }
        readable.ask(id, in: lane)
        pumpBells[lane.rank].ring()
    }

    /// Hands recipients of a lane's jobs to the gateway, a chunk of each job in turn, until the task is cancelled.
    ///
    /// Waits for room in the gateway without a turn, and asks for one only then: other lanes and other apps go on.
    func runPump(_ lane: Lane) async {
        while !Task.isCancelled {
            let again = freed.take(lane, until: Self.turnLimits.recipients)
            if !again.isEmpty {
                await send(again)
            } else if !readable.isEmpty(lane) {
                guard await waitForRoomToSend(lane) else { continue }
                await files.turns.enter(lane)
                let portions = readTurn(lane)
                await files.turns.leave()
                await handOut(portions)
            } else {
                await pumpBells[lane.rank].wait()
            }
        }
    }

    /// What a turn brought of a job.
    private struct Portion {
        let id: JobID
        /// How many recipients were read; long ones count more than once.
        var readCount = 0
        /// Those of them that are to be sent.
        var batches: [Batch] = []
        /// Whether that was the end of the job, or why it cannot be read on.
        var end: Result<Void, JobSource.Fault>?
    }

    /// How much a turn brings: the next chunk of one job, and of others until it is so many jobs or recipients. What is handed
    /// over between threads at a time is worth it then, however small the jobs are.
    private static let turnLimits = (jobs: 64, recipients: 512)

    /// Reads as much as a turn brings.
    private func readTurn(_ lane: Lane) -> [Portion] {
        var portions: [Portion] = []
        var count = 0
        while portions.count < Self.turnLimits.jobs, count < Self.turnLimits.recipients,
            let portion = readPortion(lane)
        {
            portions.append(portion)
            count += portion.readCount
        }
        return portions
    }

    /// Reads the next chunk of the job whose turn it is. Blocks for the file.
    private func readPortion(_ lane: Lane) -> Portion? {
        guard let id = readable.next(of: lane) else { return nil }
        var portion = Portion(id: id)
        do throws(JobSource.Fault) {
            if let chunk = try jobs[id]?.source?.next() {
                portion.readCount = chunk.weight
                jobs[id]?.handedOutCount += chunk.indices.count
                if jobs[id]?.resumption != nil { resume(chunk, id) }
                reject(chunk.rejected, id)
                portion.batches = chunk.batches.flatMap { awaited($0) }
                let (due, suppressed) = suppression.divide(portion.batches, chunk.registrations)
                portion.batches = due
                for settlement in suppressed { settle(settlement) }
                guard let job = jobs[id], job.source != nil else { return portion }
                guard job.handedOutCount >= job.summary.recipientCount else {
                    readable.ask(id, in: lane)
                    return portion
                }
                // That should be all, and it is known without another turn.
                guard try jobs[id]?.source?.next() == nil else { throw .changed }
            }
            dropSource(of: id)
            portion.end = .success(())
        } catch {
            portion.end = .failure(error)
        }
        return portion
    }

    /// Sends what a turn has brought, and does what else came of it: what has nothing to send does not wait for room.
    private func handOut(_ portions: [Portion]) async {
        for portion in portions where portion.batches.isEmpty { await end(portion) }
        await send(portions.flatMap(\.batches))
        for portion in portions where !portion.batches.isEmpty { await end(portion) }
        journal.write()
        if lines.count >= Self.lineLimit { await publishLines() }
        await files.worker.yield()
    }

    /// Ends the reading of a job, if that is what a turn has brought.
    private func end(_ portion: Portion) async {
        switch portion.end {
        case nil: break
        case .success: await endOfJob(portion.id)
        case .failure(let fault) where jobs[portion.id]?.isWithdrawn == true || holdings[portion.id] != nil:
            endTelling(portion.id, fault)
        case .failure(.changed): await endChanged(portion.id)
        case .failure(.unreadable(let error)): await endUnreadable(portion.id, error)
        }
    }

    private func endUnreadable(_ id: JobID, _ error: SystemError) async {
        logger.error("job cannot be read on", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
        if let job = jobs[id], !job.machine.isOver {
            job.fault = "the file could not be read to its end: \(error)"
        }
        handle(.stopped(.unreadable), id)
        endRetelling(id)
        // What is on a connection still gets its outcome, and the last of them ends the job.
        await settle(takenBack: await gateway.remove(id), of: id, .unsent(.unreadable))
    }

    /// A job that an operator has ended, or wants to be held, can be read no further: what an earlier run, or he, has made of it
    /// is not told notification by notification.
    private func endTelling(_ id: JobID, _ fault: JobSource.Fault) {
        logger.error("outcomes cannot be told", metadata: [LogKey.id: "\(id)", LogKey.error: "\(fault)"])
        dropSource(of: id)
        let doubtful = jobs[id]?.resumption?.doubtful.runs ?? []
        let unread = doubtful.flatMap { jobs[id]?.machine.remaining.intersection($0) ?? [] }
        if !unread.isEmpty { note(unread, .unknown, id) }
        for range in unread { handle(.settled(range, .unknown), id) }
        if case .settled? = jobs[id]?.machine.state { conclude(id) }
    }

    /// The parts of a batch that have no outcome yet.
    private func awaited(_ batch: Batch) -> [Batch] {
        guard let job = jobs[batch.job], job.resumption != nil else { return [batch] }
        return job.machine.remaining.intersection(batch.indices).map { batch[$0] }
    }

    /// Does for a chunk of a job of an earlier run what its end prevented: tells outcomes, and what is in doubt.
    private func resume(_ chunk: JobChunk, _ id: JobID) {
        guard let job = jobs[id], let resumption = job.resumption else { return }
        for batch in chunk.batches {
            for (result, range) in resumption.untold(in: batch.indices) {
                let settlement = Settlement(batch[range], result.outcome, isCorrection: result.isCorrection)
                suppression.remember(settlement)
                writer.appendNotifications(settlement, of: job.identity, at: result.at, to: &lines)
            }
            for range in resumption.doubtful.intersection(batch.indices) { settle(Settlement(batch[range], .unknown)) }
        }
        for recipient in chunk.rejected {
            for (result, _) in resumption.untold(in: recipient.index..<recipient.index + 1) {
                writer.appendRejected(recipient, of: job.identity, at: result.at, to: &lines)
            }
        }
        if !lines.isEmpty { publishBell.ring() }
    }

    /// Gives up what has not been handed out; nothing is known of it but how much it is.
    private func giveUpUnread(_ id: JobID) {
        // What an operator has ended is settled where he is answered.
        guard let job = jobs[id], !job.isWithdrawn else { return }
        dropSource(of: id)
        let unread = job.machine.remaining.intersection(job.unread)
        guard !unread.isEmpty else { return }
        note(unread, .unsent(.unreadable), id)
        for range in unread { handle(.settled(range, .unsent(.unreadable)), id) }
    }

    private func send(_ batches: [Batch]) async {
        let due = await takeDue(batches)
        guard !due.isEmpty else { return }
        do {
            try await gateway.submit(due)
            await takeBackWhatIsOver(due)
        } catch {
            // Cancelled: the job stays in work/, where the next start finds it. What was announced of it is taken back.
            freed.prepend(due)
        }
    }

    /// Hands out once more what was taken back from the gateway.
    func sendAgain(_ batches: [Batch]) {
        guard !batches.isEmpty else { return }
        freed.prepend(batches)
        for bell in pumpBells { bell.ring() }
    }

    /// Takes back what waited for room until its job was given up, ended, or was to be held.
    private func takeBackWhatIsOver(_ batches: [Batch]) async {
        for id in Set(batches.map(\.job)) where mustTakeBack(id) {
            let back = await gateway.remove(id)
            guard let job = jobs[id] else { continue }
            if holdings[id] == nil {
                await settle(takenBack: back, of: id, job.ending ?? .unsent(.givenUp))
            } else {
                await noteAllReturned(back, of: id)
            }
        }
    }

    private func mustTakeBack(_ id: JobID) -> Bool {
        guard let job = jobs[id] else { return true }
        return job.ending != nil || job.machine.isOver || holdings[id] != nil
    }

    /// The batches that are to be sent. Those whose time is up get their outcome, as the journal has room.
    private func takeDue(_ batches: [Batch]) async -> [Batch] {
        var (due, late) = ([Batch](), [JobID: (expired: [Batch], ended: [Batch])]())
        for batch in batches {
            guard let job = jobs[batch.job], !job.machine.isOver else { continue }
            if holdings[batch.job] != nil {
                noteReturned([batch], of: batch.job)
            } else if batch.attributes.expiration.hasPassed(at: .now) {
                late[batch.job, default: ([], [])].expired.append(batch)
            } else if job.ending != nil {
                late[batch.job, default: ([], [])].ended.append(batch)
            } else {
                due.append(batch)
            }
        }
        for (id, batches) in late {
            await settle(takenBack: batches.expired, of: id, .expired)
            if let ending = jobs[id]?.ending { await settle(takenBack: batches.ended, of: id, ending) }
        }
        return due
    }

    /// A job has handed out all its recipients; as many as when it was validated, or its file was changed since.
    private func endOfJob(_ id: JobID) async {
        guard let job = jobs[id] else { return }
        guard job.handedOutCount != job.summary.recipientCount else { return endRetelling(id) }
        if job.isWithdrawn || holdings[id] != nil { endTelling(id, .changed) } else { await endChanged(id) }
    }

    /// Parks a job whose file is not what was checked; but one that had ended, and was read to be told, has ended.
    private func endChanged(_ id: JobID) async {
        _ = await gateway.remove(id)
        if let job = jobs[id], job.resumption != nil, case .settled = job.machine.state {
            logger.error("outcomes cannot be told: the job's file was changed", metadata: [LogKey.id: "\(id)"])
            endRetelling(id)
        } else {
            handle(.hold(.changed), id)
        }
    }

    /// Ends a job that had ended before, when what an earlier run had not told of it is told.
    private func endRetelling(_ id: JobID) {
        guard let job = jobs[id], job.resumption != nil, case .settled = job.machine.state else { return }
        dropSource(of: id)
        conclude(id)
    }

    /// Refuses recipients of a chunk that cannot be sent to; those for one reason in one record.
    private func reject(_ recipients: [RejectedRecipient], _ id: JobID) {
        guard !recipients.isEmpty, let job = jobs[id] else { return }
        let awaited = recipients.filter { job.machine.isAwaiting($0.index..<$0.index + 1) }
        let now = WallTime.now
        for recipient in awaited { writer.appendRejected(recipient, of: job.identity, at: now, to: &lines) }
        for (refusal, recipients) in Dictionary(grouping: awaited, by: \.refusal) {
            let ranges = IndexRuns(recipients.map { $0.index..<$0.index + 1 }).runs
            note(ranges, .rejected(refusal), id)
            for range in ranges { handle(.settled(range, .rejected(refusal)), id) }
        }
        publishBell.ring()
    }

    /// Takes an outcome: counts it, writes its lines, and goes on with the job.
    func settle(_ settlement: Settlement) {
        let id = settlement.batch.job
        suppression.remember(settlement)
        guard let job = jobs[id] else { return settleLate(settlement) }
        let isCorrection = settlement.isCorrection || !job.machine.isAwaiting(settlement.batch.indices)
        if isCorrection, settlement.outcome == .accepted { return }
        if settlement.outcome != .accepted || job.summary.header.record == .all {
            writer.appendNotifications(settlement, of: job.identity, at: .now, to: &lines)
            publishBell.ring()
        }
        let range = settlement.batch.indices
        if isCorrection, !job.machine.isAwaiting(range) { around.meter.count { $0.noteRevoked(range.count) } }
        note([range], settlement.outcome, id, isCorrection: isCorrection)
        handle(isCorrection ? .corrected(range, settlement.outcome) : .settled(range, settlement.outcome), id)
    }

    /// Records an outcome, for the journal and for the result file.
    func note(_ ranges: [Range<Int>], _ outcome: Outcome, _ id: JobID, isCorrection: Bool = false) {
        journal.record(.result(id, JournalResult(outcome, ranges, at: .now, isCorrection: isCorrection)))
        around.meter.count { $0.note(outcome, count: ranges.reduce(0) { $0 + $1.count }) }
        for range in ranges { jobs[id]?.note(range, outcome) }
    }

    /// An outcome of a job that is over: only one that contradicts what was told is told.
    private func settleLate(_ settlement: Settlement) {
        guard settlement.outcome != .accepted, let identity = recent[settlement.batch.job] else { return }
        writer.appendNotifications(settlement, of: identity, at: .now, to: &lines)
        publishBell.ring()
        around.meter.count {
            $0.noteRevoked(settlement.batch.count)
            $0.note(settlement.outcome, count: settlement.batch.count)
        }
        logger.warning(
            "notifications of a finished job were not accepted after all",
            metadata: [LogKey.job: "\(identity.name)", LogKey.count: "\(settlement.batch.count)"])
    }

    /// Notifications that had been taken for accepted are under way again.
    func reopen(_ batches: [Batch]) {
        for batch in batches {
            let news = jobs[batch.job]?.takeReopened(batch.indices) ?? [batch.indices]
            for range in news { reopen(range, of: batch.job) }
        }
    }

    private func reopen(_ range: Range<Int>, of id: JobID) {
        journal.record(.reopened(id, [range]))
        // Of a job that is over, only what contradicts what was told is.
        if jobs[id] != nil { around.meter.count { $0.noteRevoked(range.count) } }
        holdings[id]?.insert(range)
        handle(.reopened(range), id)
    }

    /// Takes back what waits of a job in the gateway, so that it has no outcome and is on its way to nowhere.
    ///
    /// Among it may be what is under way again, and what the gateway tells of that may not have been heard yet.
    func takeBack(_ id: JobID) async -> [Batch] {
        guard let job = jobs[id], !job.machine.isOver else { return [] }
        let batches = await gateway.remove(id)
        guard !batches.isEmpty else { return [] }
        switch job.machine.state {
        case .held: return []
        case .settled, .published, .archived:
            // It came to its end meanwhile; what is sent again of it all the same is the gateway's.
            do {
                try await gateway.submit(batches)
            } catch {
                // Cancelled: it was told to have been accepted, and the process ends.
                logger.debug("not sent again", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            }
            return []
        case .sending, .draining, .stopping: break
        }
        for range in batches.flatMap({ job.noteTakenBack($0.indices) }) { reopen(range, of: id) }
        return batches
    }

    /// Applies an event to a job, and does what follows from it.
    func handle(_ event: JobMachine.Event, _ id: JobID) {
        guard let action = jobs[id]?.machine.handle(event) else { return }
        perform(action, id)
    }

    private func perform(_ action: JobMachine.Action, _ id: JobID) {
        switch action {
        case .stopSending: stopSending(id)
        case .giveUp: giveUpUnread(id)
        case .park(.operatorRequest): awaitParking(id)
        case .park(.changed): park(id)
        case .publish: conclude(id)
        }
    }

    /// Hands out nothing more of a job that is to be held. One whose file was changed does not wait for what is under way.
    private func stopSending(_ id: JobID) {
        guard let job = jobs[id], case .draining(.operatorRequest) = job.machine.state else {
            readable.removeAll { $0 == id }
            return handle(.drained, id)
        }
        holdings[id] = IndexRuns(job.machine.remaining.intersection(0..<job.handedOutCount))
        if !job.hasToTell { readable.removeAll { $0 == id } }
    }

    /// Closes a job's file, which is not read on then; another may be opened instead.
    func dropSource(of id: JobID) {
        guard let job = jobs[id], let source = job.source else { return }
        jobs[id]?.source = nil
        if job.handedOutCount < job.summary.recipientCount { readable.removeAll { $0 == id } }
        places.close(job.lane, byteCount: source.heldByteCount)
        intakeBell.ring()
    }

    private func park(_ id: JobID) {
        dropSource(of: id)
        guard let job = jobs.removeValue(forKey: id) else { return }
        places.end(job.lane)
        duplicates.endTurn(job.summary)
        recent.add(job.identity)
        do {
            let name = try spool.hold(job.claimed)
            around.meter.count { $0.noteHold(.changed) }
            journal.record(.cleaned(id))
            journal.write()
            logger.error(
                "job changed while it was sent, and is held", metadata: [LogKey.job: "\(name)", LogKey.id: "\(id)"])
        } catch {
            logger.error("job cannot be held", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            space.note(failure: error)
        }
    }

    /// Ends what jobs have not sent when their time is up.
    func giveUpLateJobs() async {
        guard let nextGiveUp, nextGiveUp <= .now else { return }
        let active = jobs.filter { !$1.machine.isOver && holdings[$0] == nil }
        self.nextGiveUp = active.values.map(\.summary.header.giveUpAt).min()
        let late = active.filter { $1.summary.header.giveUpAt <= .now }
        for (id, job) in late {
            if job.ending == nil {
                logger.warning("job given up", metadata: [LogKey.job: "\(job.claimed.name)", LogKey.id: "\(id)"])
            }
            let ending = job.ending ?? .unsent(.givenUp)
            job.ending = ending
            await settle(takenBack: await takeBack(id) + freed.remove(id), of: id, ending)
        }
    }
}

extension APNSModel.Refusal {
    /// What was not sent until the job's time was up.
    static let givenUp = APNSModel.Refusal(status: nil, reason: "GivenUp", verdict: .later)
    /// What was not sent because the rest of the job's file could not be read.
    static let unreadable = APNSModel.Refusal(status: nil, reason: "JobUnreadable", verdict: .later)
}
