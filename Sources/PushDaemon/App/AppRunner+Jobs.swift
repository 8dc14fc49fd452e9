import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Finds what an earlier daemon had claimed and not finished.
    func findLeftClaims() {
        do {
            let found = try spool.claimed()
            for name in found.strangers {
                logger.warning("file in work/ is none of ours", metadata: [LogKey.job: "\(name)"])
            }
            leftClaims = found.jobs.reversed()
        } catch {
            logger.error("work/ cannot be read", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Takes up what was found, as much as there is room for. One that cannot be read does not hold up the others.
    func recoverClaims() async {
        while mayTake, let claimed = leftClaims.popLast() {
            do {
                try await recover(claimed)
            } catch {
                let hint: Logger.MetadataValue = "it stays in work/; mend it, then restart"
                logger.error(
                    "job found in work/ cannot be read",
                    metadata: [
                        LogKey.job: "\(claimed.name)", LogKey.id: "\(claimed.id)", LogKey.error: "\(error)",
                        LogKey.hint: hint,
                    ])
            }
        }
    }

    private func recover(_ claimed: ClaimedJob) async throws(SystemError) {
        let job = try spool.open(claimed)
        let context = context(of: job, id: claimed.id, true)
        let (source, summary) = try await JobSource.open(job, context: context)
        switch Recovery.decide(summary.header) {
        case .sendWhole:
            logger.notice("job found in work/ is sent again", metadata: [LogKey.job: "\(claimed.name)"])
            start(claimed, ReadJob(context: context, source: source, summary: summary, isSealed: true))
        case .hold:
            let name = try spool.hold(claimed)
            logger.warning(
                "job found in work/ is held: what was sent of it is unknown, and it must not be sent twice",
                metadata: [LogKey.job: "\(name)", LogKey.hint: "move it from hold/ to new/ to send it whole"])
        }
    }

    /// Begins to send a claimed job, or concludes it if nothing of it can be sent.
    func start(_ claimed: ClaimedJob, _ read: ReadJob) {
        var job = ActiveJob(
            claimed: claimed, droppedAt: read.context.droppedAt, claimedAt: .now, summary: read.summary,
            isSealed: read.isSealed)
        mayAsk = false
        job.source = read.source
        readerCount += 1
        heldByteCount += read.source.heldByteCount
        _ = job.machine.handle(.opened)
        let action = job.machine.handle(.read(count: read.summary.recipientCount, fault: read.summary.failure))
        jobs[claimed.id] = job
        if action == .send {
            readable.append(claimed.id)
            pumpBell.ring()
        }
        perform(action, claimed.id)
    }

    /// Hands recipients to the gateway, a chunk of each job in turn, until the task is cancelled.
    func runPump() async {
        while !Task.isCancelled {
            if let batch = freed.popLast() {
                await send(batch)
            } else if let id = readable.first {
                readable.removeFirst()
                await handOut(id)
            } else {
                await pumpBell.wait()
            }
        }
    }

    private func handOut(_ id: JobID) async {
        do throws(SystemError) {
            guard let chunk = try jobs[id]?.source?.next() else { return await endOfJob(id) }
            jobs[id]?.handedOutCount += chunk.indices.count
            readable.append(id)
            for recipient in chunk.rejected { reject(recipient, id) }
            for batch in chunk.batches { await send(batch) }
            if lines.count >= Self.lineLimit { publishLines() }
            await Task.yield()
        } catch {
            logger.error("job cannot be read on", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            jobs[id]?.fault = "the file could not be read to its end: \(error)"
            handle(.stopped(.unreadable), id)
            // What is on a connection still gets its outcome, and the last of them ends the job.
            for batch in await gateway.remove(id) { settle(Settlement(batch, .unsent(.unreadable))) }
        }
    }

    /// Gives up what has not been handed out; nothing is known of it but how much it is.
    private func giveUpUnread(_ id: JobID) {
        dropSource(of: id)
        readable.removeAll { $0 == id }
        guard let job = jobs[id] else { return }
        let count = job.summary.recipientCount
        let rest = min(job.handedOutCount, count)..<count
        jobs[id]?.note(rest, .unsent(.unreadable))
        handle(.settled(rest, .unsent(.unreadable)), id)
    }

    private func send(_ batch: Batch) async {
        guard let job = jobs[batch.job], !job.machine.isOver else { return }
        if batch.attributes.expiration.hasPassed(at: .now) { return settle(Settlement(batch, .expired)) }
        if job.isGivenUp { return settle(Settlement(batch, .unsent(.givenUp))) }
        do {
            try await gateway.submit(batch)
        } catch {
            // Cancelled: the job stays in work/, where the next start finds it.
        }
    }

    /// A job has handed out all its recipients; as many as when it was validated, or its file was changed since.
    private func endOfJob(_ id: JobID) async {
        guard let job = jobs[id] else { return }
        dropSource(of: id)
        guard job.handedOutCount != job.summary.recipientCount else { return }
        _ = await gateway.remove(id)
        handle(.hold(.changed), id)
    }

    private func reject(_ recipient: RejectedRecipient, _ id: JobID) {
        guard let identity = jobs[id]?.identity else { return }
        writer.appendRejected(recipient, of: identity, at: .now, to: &lines)
        let range = recipient.index..<recipient.index + 1
        jobs[id]?.note(range, .rejected(recipient.refusal))
        handle(.settled(range, .rejected(recipient.refusal)), id)
        publishBell.ring()
    }

    /// Takes an outcome: counts it, writes its lines, and goes on with the job.
    func settle(_ settlement: Settlement) {
        let id = settlement.batch.job
        guard let job = jobs[id] else { return settleLate(settlement) }
        let isCorrection = settlement.isCorrection || !job.machine.isAwaiting(settlement.batch.indices)
        if isCorrection, settlement.outcome == .accepted { return }
        if settlement.outcome != .accepted || job.summary.header.record == .all {
            writer.appendNotifications(settlement, of: job.identity, at: .now, to: &lines)
            publishBell.ring()
        }
        jobs[id]?.note(settlement.batch.indices, settlement.outcome)
        let range = settlement.batch.indices
        handle(isCorrection ? .corrected(range, settlement.outcome) : .settled(range, settlement.outcome), id)
    }

    /// An outcome of a job that is over: only one that contradicts what was told is told.
    private func settleLate(_ settlement: Settlement) {
        guard settlement.outcome != .accepted, let identity = recent[settlement.batch.job] else { return }
        writer.appendNotifications(settlement, of: identity, at: .now, to: &lines)
        publishBell.ring()
        logger.warning(
            "notifications of a finished job were not accepted after all",
            metadata: [LogKey.job: "\(identity.name)", LogKey.count: "\(settlement.batch.count)"])
    }

    /// Notifications that had been taken for accepted are under way again.
    func reopen(_ batches: [Batch]) {
        for batch in batches { handle(.reopened(batch.indices), batch.job) }
    }

    /// Applies an event to a job, and does what follows from it.
    func handle(_ event: JobMachine.Event, _ id: JobID) {
        guard let action = jobs[id]?.machine.handle(event) else { return }
        perform(action, id)
    }

    private func perform(_ action: JobMachine.Action, _ id: JobID) {
        switch action {
        case .none, .read, .send: break
        case .stopSending:
            readable.removeAll { $0 == id }
            handle(.drained, id)
        case .giveUp: giveUpUnread(id)
        case .park: park(id)
        case .publish: conclude(id)
        // What was told is corrected by `settle`, and the gateway sends again by itself.
        case .correct, .sendAgain: break
        case .archive: break
        }
    }

    /// Closes a job's file; another may be opened instead.
    func dropSource(of id: JobID) {
        guard let source = jobs[id]?.source else { return }
        jobs[id]?.source = nil
        readerCount -= 1
        heldByteCount -= source.heldByteCount
        intakeBell.ring()
    }

    private func park(_ id: JobID) {
        dropSource(of: id)
        guard let job = jobs.removeValue(forKey: id) else { return }
        readable.removeAll { $0 == id }
        recent.add(job.identity)
        do {
            let name = try spool.hold(job.claimed)
            logger.error(
                "job changed while it was sent, and is held", metadata: [LogKey.job: "\(name)", LogKey.id: "\(id)"])
        } catch {
            logger.error("job cannot be held", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
        }
    }

    /// Ends what jobs have not sent when their time is up.
    func giveUpLateJobs() async {
        let late = jobs.filter { !$1.machine.isOver && $1.summary.header.giveUpAt <= .now }
        for (id, job) in late {
            if !job.isGivenUp {
                logger.warning("job given up", metadata: [LogKey.job: "\(job.claimed.name)", LogKey.id: "\(id)"])
            }
            jobs[id]?.isGivenUp = true
            for batch in await gateway.remove(id) { settle(Settlement(batch, .unsent(.givenUp))) }
        }
    }
}

extension APNSModel.Refusal {
    /// What was not sent until the job's time was up.
    static let givenUp = APNSModel.Refusal(status: nil, reason: "GivenUp", verdict: .later)
    /// What was not sent because the rest of the job's file could not be read.
    static let unreadable = APNSModel.Refusal(status: nil, reason: "JobUnreadable", verdict: .later)
}
