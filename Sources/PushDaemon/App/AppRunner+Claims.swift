import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// A job that is about to be claimed: the journal announces it first.
struct Candidate {
    let file: OpenJob
    let read: ReadJob
    /// When it is claimed, as the journal has it.
    let claimedAt: WallTime
}

extension AppRunner {
    /// Notes whether files wait for room in the journal, by the same rule as `longestClaim`.
    func noteClaimRoom() {
        guard intake.oldestReady != nil, !openLanes.isEmpty else { return room.endWait(for: .claims) }
        if outage.isLong(at: .now), around.journal.ownRoom(of: name) < JournalHeader.byteLimit {
            room.beginWait(for: .claims)
        } else if room.has(JournalHeader.byteLimit, for: .claims, orRing: intakeBell) {
            return
        }
        // What was archived leaves the journal as soon as that is synced.
        guard !archived.isEmpty else { return }
        lastCleaning = .zero
        publishBell.ring()
    }

    /// Says that the app waits for room, when that lasts, and when it is over.
    func tellWaits() {
        room.note(tooManyLines: hasTooManyLines)
        guard room.hasNews(at: .now) else { return }
        defer { show() }
        guard let reason = room.reason else { return logger.notice("app has room again") }
        logger.warning("app \(reason)", metadata: [LogKey.hint: "\(room.hint ?? "")"])
    }

    /// How long a file may be for which the journal has room now; a longer one waits, and those behind it.
    var longestClaim: Int64 {
        let (journal, longest) = (around.journal, JournalHeader.byteLimit)
        // What cannot be sent is not to take the room of what can.
        let ownRoom = outage.isLong(at: .now) ? journal.ownRoom(of: name) : longest
        // Of a long file there are only checksums.
        if ownRoom >= longest, journal.mayClaim(longest, of: name) { return .max }
        return Int64(max(0, min(ownRoom, journal.claimRoom(of: name))))
    }

    /// Announces a job in the journal. It is claimed with the next group, and nothing of it is sent before that.
    func announce(_ job: OpenJob, _ read: ReadJob) {
        guard mayAdopt(read) else { return intake.answer(job.name, .busy, at: .now) }
        let claimedAt = record(header: read, of: job)
        duplicates.beginTurn(read.summary)
        claims.append(Candidate(file: job, read: read, claimedAt: claimedAt))
    }

    /// Tells the journal of a job, and what its bytes are. Those of a long one were made durable when it was read.
    ///
    /// - Returns: When it is claimed.
    func record(header read: ReadJob, of job: OpenJob) -> WallTime {
        var facts = JournalHeader.Facts(id: read.context.job, app: name, name: job.name)
        facts.byteCount = job.status.byteCount
        facts.recipientCount = read.summary.recipientCount
        facts.onDoubt = read.summary.header.onDoubt
        facts.recordsAll = read.summary.header.record == .all
        facts.isSealed = read.isSealed
        facts.isPublishedByRename = read.context.isPublishedByRename
        facts.isSentAnyway = read.isSentAnyway
        (facts.droppedAt, facts.claimedAt) = (read.context.droppedAt, .now)
        (facts.device, facts.inode) = (job.status.device, job.status.inode)
        let header = JournalHeader(facts, content: read.content)
        if let sent = read.rest?.sent {
            journal.adopt(header, sent.progress)
        } else {
            journal.record(.header(header))
        }
        return facts.claimedAt
    }

    /// Whether the journal has room for what is known of a job that was parked, or is tried again.
    private func mayAdopt(_ read: ReadJob) -> Bool {
        guard let sent = read.rest?.sent else { return true }
        // Its end is not synced yet.
        guard around.journal.job(sent.id) == nil else { return false }
        let byteCount = JournalHeader.byteLimit + 16 * sent.progress.runCount
        guard !around.journal.mayClaim(byteCount, of: name) else { return true }
        let hint: Logger.MetadataValue = "it waits in new/; if it never has room, make a larger journal (journal.size)"
        logger.warning(
            "journal has no room for what is known of a job",
            metadata: [LogKey.id: "\(sent.id)", LogKey.hint: hint])
        return false
    }

    /// Claims what was announced, once the journal has it for good, and begins to send it.
    ///
    /// Producers seldom sync: without the journal a job can be claimed, sent in part, and then be empty or back in `new/`.
    func startClaims() async {
        guard !claims.isEmpty else { return }
        let group = claims
        claims = []
        claimingCount = group.count
        let isDurable = await journal.sync()
        claimingCount = 0
        for candidate in group {
            if isDurable { claim(candidate) }
            candidate.file.file.dropReadLease()
        }
        journal.write()
    }

    /// Moves jobs of which nothing could be sent back to `new/`, while the app is paused or the gateway does not answer, and they
    /// take room in the journal that another app waits for; the youngest first.
    func giveBackUnsentJobs() async {
        guard pausedAt != nil || outage.isLong(at: .now) else { return }
        var excess = around.journal.excess(of: name)
        guard excess > 0 else { return }
        let unsent = jobs.values.filter(\.isUnsent).sorted { $0.droppedAt > $1.droppedAt }
        var count = 0
        for job in unsent where excess > 0 && count < Self.claimGroupLimit {
            let byteCount = around.journal.job(job.claimed.id)?.headerByteCount ?? 0
            guard let batches = await takeUnwritten(job) else { continue }
            guard giveBack(job, batches) else { break }
            (excess, count) = (excess - byteCount, count + 1)
        }
        journal.write()
    }

    /// Takes back all that was handed out of a job, if nothing of it has ever been on a connection: it would come from there under
    /// its old id, and from `new/` under another one.
    ///
    /// - Returns: `nil` if something has, or is on its way there.
    private func takeUnwritten(_ job: ActiveJob) async -> [Batch]? {
        let id = job.claimed.id
        guard freed.batches(of: id).isEmpty else { return nil }
        guard let batches = await gateway.removeUnwritten(id, count: job.handedOutCount) else {
            job.machine.wasWritten = true
            return nil
        }
        // More of it may have been read meanwhile.
        guard jobs[id] === job, job.isUnsent, batches.notificationCount == job.handedOutCount else {
            sendAgain(batches)
            return nil
        }
        return batches
    }

    /// Moves a job to `new/` that the gateway has nothing of.
    ///
    /// - Returns: Whether it could be; if not, what was handed out of it is handed out again.
    private func giveBack(_ job: ActiveJob, _ batches: [Batch]) -> Bool {
        let id = job.claimed.id
        do {
            let name = try desk.giveBack(job.claimed, droppedAt: job.droppedAt)
            dropSource(of: id)
            readable.removeAll { $0 == id }
            jobs[id] = nil
            places.end(job.lane)
            duplicates.endTurn(job.summary)
            journal.record(.cleaned(id))
            guard let name else { return true }
            intake.noteGivenBack(name, droppedAt: job.droppedAt, at: .now)
            logger.info("job goes back to new/: its app sends nothing at present", metadata: [LogKey.job: "\(name)"])
            return true
        } catch {
            sendAgain(batches)
            space.note(failure: error)
            logger.error("job cannot go back to new/", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            return false
        }
    }

    private func claim(_ candidate: Candidate) {
        let (job, id) = (candidate.file, candidate.read.context.job)
        // A job that is claimed has taken its own by then.
        defer { duplicates.endTurn(candidate.read.summary) }
        do {
            switch try around.tenure.claim(job, as: id, in: spool) {
            case .claimed(let claimed):
                intake.answer(job.name, .moved, at: .now)
                journal.record(.claimed(id))
                // How long an operator has parked it, or left it in an archive, says nothing of how jobs wait.
                let wait = candidate.read.rest == nil ? candidate.claimedAt - candidate.read.context.droppedAt : nil
                around.meter.count { $0.noteClaim(after: wait) }
                if candidate.read.rest != nil {
                    // The journal knows it all from here on.
                    journal.write()
                    desk.forget(claimed.status)
                }
                return start(claimed, candidate.read, claimedAt: candidate.claimedAt)
            case .gone: intake.answer(job.name, .gone, at: .now)
            case .changed(let name): intake.answer(job.name, .returned(name), at: .now)
            case .forbidden: intake.answer(job.name, .stuck, at: .now)
            }
            journal.record(.cleaned(id))
        } catch {
            journal.record(.cleaned(id))
            answerStuck(job.name, error)
        }
    }
}
