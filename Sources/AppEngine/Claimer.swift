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

/// A job about to be claimed: the journal announces it first.
struct Candidate {
    let file: OpenJob
    let read: ReadJob
    /// The time of the claim in the journal.
    let claimedAt: WallTime
}

/// Claims jobs: announces them in the journal, and moves them to `work/` once the announcement is durable.
final class Claimer {
    /// The most claims that share a sync.
    static let groupLimit = 64

    let parts: AppParts
    private let context: AppContext
    let publisher: Publisher
    private let sender: Sender
    let unclaimed: UnclaimedFiles
    /// Announced jobs, to be claimed once the journal is synced, and how many are being claimed at this moment.
    private var claims: [Candidate] = []
    private var claimingCount = 0

    init(_ parts: AppParts, _ publisher: Publisher, _ sender: Sender, _ unclaimed: UnclaimedFiles) {
        (self.parts, self.publisher, self.sender, self.unclaimed) = (parts, publisher, sender, unclaimed)
        context = parts.context
    }

    /// The number of announced jobs that are not being claimed yet.
    var announcedCount: Int { claims.count }

    /// The number of announced jobs.
    var count: Int { claims.count + claimingCount }

    /// Records whether files wait for room in the journal, by the same rule as `longestClaim`.
    func noteRoom() {
        guard parts.intake.value.oldestReady != nil, !openLanes.isEmpty else {
            // Another app may wait for what this one's jobs take.
            let isTooMuch = !parts.jobs.isEmpty && context.daemon.journal.excess(of: context.name) > 0
            if isTooMuch { publisher.makeRoomInJournal() }
            return parts.room.endWait(for: .claims)
        }
        if parts.state.isOut, context.daemon.journal.ownRoom(of: context.name) < JournalHeader.byteLimit {
            parts.room.beginWait(for: .claims)
        } else if parts.room.has(JournalHeader.byteLimit, for: .claims, orWake: parts.intakeWakeup.signal) {
            return
        }
        publisher.makeRoomInJournal()
    }

    /// The lanes in which another job may be taken.
    var openLanes: LaneSet {
        guard !parts.space.isShort, mayTake else { return [] }
        return LaneSet { hasPlace(for: $0) }
    }

    /// Whether a job of an earlier run may be taken over. The journal already contains it, so its fill level does not
    /// matter; only after its lines are published can the job be carried forward, which makes room.
    func mayRecover(_ lane: Lane) -> Bool { mayTake && hasPlace(for: lane) }

    private var mayTake: Bool {
        parts.toRecover.hasLookedIntoWork && !context.lifecycle.isDraining && !parts.journal.isBroken
            && parts.space.shortUntil <= .now && parts.state.mayTake(isClaiming: !claims.isEmpty)
            && !parts.lines.isFull
    }

    private func hasPlace(for lane: Lane) -> Bool {
        parts.jobs.hasPlace(for: lane, pending: count) && context.daemon.descriptors.mayRead(lane)
    }

    /// The longest file for which the journal has room now. A longer one waits, and so do those after it.
    var longestClaim: Int64 {
        let (journal, longest) = (context.daemon.journal, JournalHeader.byteLimit)
        // Jobs that cannot be sent must not take the room of those that can.
        let ownRoom = parts.state.isOut ? journal.ownRoom(of: context.name) : longest
        // The journal stores only checksums of a long file.
        if ownRoom >= longest, journal.mayClaim(longest, of: context.name) { return .max }
        return Int64(max(0, min(ownRoom, journal.claimRoom(of: context.name))))
    }

    /// Announces a job in the journal, if that has room. It is claimed with the next group, and nothing of it is sent before.
    func announce(_ job: OpenJob, _ read: ReadJob) -> Bool {
        guard mayAdopt(read) else {
            parts.duplicates.abandon(read.summary)
            parts.intake.value.answer(job.name, .busy, at: .now)
            return false
        }
        let claimedAt = record(header: read, of: job)
        parts.duplicates.beginTurn(read.summary)
        claims.append(Candidate(file: job, read: read, claimedAt: claimedAt))
        return true
    }

    /// Records a job's header in the journal, with its content. A long file was synced when it was read.
    ///
    /// - Returns: The time of the claim.
    func record(header read: ReadJob, of job: OpenJob) -> WallTime {
        var facts = JournalHeader.Facts(id: read.context.job, app: context.name, name: job.name)
        facts.byteCount = job.status.byteCount
        facts.recipientCount = read.summary.recipientCount
        facts.onDoubt = read.summary.header.onDoubt
        facts.recordsAll = read.summary.header.record == .all
        facts.isKnownComplete = read.isKnownComplete
        facts.isPublishedByRename = read.context.isPublishedByRename
        facts.isSentAnyway = read.isSentAnyway
        (facts.droppedAt, facts.claimedAt) = (read.context.droppedAt, .now)
        (facts.device, facts.inode) = (context.spool.recordedDevice(of: job.status), job.status.inode)
        let header = JournalHeader(facts, content: read.content)
        if let sent = read.remainder?.sent {
            parts.journal.adopt(header, sent.progress)
        } else {
            parts.journal.record(.header(header))
        }
        return facts.claimedAt
    }

    /// Whether the journal has room for the remainder of a job that was held or is retried.
    private func mayAdopt(_ read: ReadJob) -> Bool {
        guard let sent = read.remainder?.sent else { return true }
        // Its earlier end in the journal is not cleaned yet.
        guard context.daemon.journal.job(sent.id) == nil else { return false }
        let byteCount = JournalHeader.byteLimit + 16 * sent.progress.runCount
        guard !context.daemon.journal.mayClaim(byteCount, of: context.name) else { return true }
        let hint: Logger.MetadataValue = "the job waits in new/; if this lasts, set journal.size to a larger value"
        context.logger.warning(
            "journal has no room for the records of a job",
            metadata: [LogKey.id: "\(sent.id)", LogKey.hint: hint])
        return false
    }

    /// Claims the announced jobs once the announcement is durable, and starts to send them.
    ///
    /// Producers rarely sync: without the journal, a power loss could leave a partly sent job empty or back in `new/`.
    func startClaims() async {
        guard !claims.isEmpty else { return }
        var group = claims
        claims = []
        claimingCount = group.count
        let isDurable = await parts.journal.sync()
        claimingCount = 0
        if isDurable { for candidate in group { context.spool.notices.noteReleased(candidate.file.name) } }
        let moves = isDurable ? context.spool.moveAhead(group.map { ($0.file, $0.read.context.job) }) : [:]
        var files: [OpenJob] = []
        group.reverse()
        while let candidate = group.popLast() {
            if isDurable { claim(candidate, moves[candidate.read.context.job]) }
            let isClosedLater = context.spool.waitsForServer
            if isClosedLater { files.append(candidate.file) }
            // A file that is closed here loses its lease by that.
            if isClosedLater || candidate.read.source.keepsFileOpen { candidate.file.file.dropReadLease() }
        }
        context.spool.close(consume files)
        parts.journal.write()
        // Nothing of the jobs is sent before this function returns.
        if isDurable, context.spool.isClustered { syncClaims() }
    }

    private func syncClaims() {
        do throws(SystemError) {
            try context.spool.syncClaims()
        } catch {
            parts.journal.stopIfSyncFailed(error)
        }
    }

    private func claim(_ candidate: Candidate, _ move: ClaimMove.Answer?) {
        let (job, id) = (candidate.file, candidate.read.context.job)
        // A claimed job has begun its own turn by then.
        defer { parts.duplicates.endTurn(candidate.read.summary) }
        do throws(SystemError) {
            switch try context.daemon.spool.claim(job, as: id, in: context.spool, ahead: move) {
            case .claimed(let claimed):
                parts.intake.value.answer(job.name, .moved, at: .now)
                parts.journal.record(.claimed(id))
                // The time in `hold/` or in an archive says nothing about how long jobs wait.
                let wait =
                    candidate.read.remainder == nil ? candidate.claimedAt - candidate.read.context.droppedAt : nil
                context.daemon.meter.count { $0.noteClaim(after: wait) }
                context.daemon.sent.noteClaim(of: claimed, at: candidate.claimedAt, in: context.spool)
                if candidate.read.remainder != nil {
                    // From here on, the journal contains the whole remainder.
                    parts.journal.write()
                    parts.held.forget(claimed.status)
                }
                return sender.start(claimed, candidate.read, claimedAt: candidate.claimedAt)
            case .gone: parts.intake.value.answer(job.name, .gone, at: .now)
            case .changed(let name): parts.intake.value.answer(job.name, .returned(name), at: .now)
            case .lapsed: parts.intake.value.answer(job.name, .busy, at: .now)
            case .forbidden: parts.intake.value.answer(job.name, .stuck, at: .now)
            }
            parts.journal.record(.cleaned(id))
        } catch {
            parts.journal.record(.cleaned(id))
            unclaimed.noteStuck(job.name, error, "job cannot be claimed")
        }
    }
}
