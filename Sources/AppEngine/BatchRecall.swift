import Gateways
import JobFormat
import JobOperations
import JournalModel
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Takes batches back from the gateway when their job is late, held, ended or moves back to `new/`, and settles them.
final class BatchRecall {
    /// The outcome of notifications that are not sent because the time of their job is up.
    private static let givenUp = Outcome.unsent(Refusal(.givenUp, .later))

    /// How many unsent jobs move back to `new/` at a time.
    private static let giveBackLimit = 64

    let parts: AppParts
    private let context: AppContext
    private let gateway: any PushGateway
    let outcomes: OutcomeRecorder

    init(_ parts: AppParts, _ outcomes: OutcomeRecorder) {
        (self.parts, self.outcomes) = (parts, outcomes)
        (context, gateway) = (parts.context, parts.gateway)
    }

    private var jobs: JobTable { parts.jobs }

    // MARK: Jobs that are late, held or ended

    /// Settles the unsent notifications of jobs whose time is up.
    func giveUpLateJobs() async {
        for job in jobs.late(at: .now) {
            if job.machine.end(rest: Self.givenUp) {
                context.logger.warning(
                    "job given up", metadata: [LogKey.job: "\(job.claimed.name)", LogKey.id: "\(job.claimed.id)"])
            }
            await settleTakenBack(job)
        }
    }

    /// Advances the jobs that operators hold: takes back what is not on a connection, and parks those that have nothing left
    /// there.
    func proceedWithHolds() async {
        for job in jobs.halted where job.machine.isDraining {
            await outcomes.noteAllReturned(await takeBack(job), of: job)
            outcomes.parkIfDrained(job)
        }
        parts.journal.write()
    }

    /// Settles what came back from connections of jobs that end; otherwise it would back off or be sent again.
    func proceedWithEndings() async {
        for job in jobs.halted where !job.machine.isDraining { await settleTakenBack(job) }
        parts.journal.write()
    }

    /// Gives what is not on a connection the outcome with which its job ends.
    private func settleTakenBack(_ job: ActiveJob) async {
        guard let rest = job.machine.ending?.rest else { return }
        await outcomes.settle(takenBack: await takeBack(job), of: job.claimed.id, rest)
    }

    // MARK: Taking batches back

    /// Takes back submitted batches if their job was given up, ended or held while they waited for room.
    func takeBackWhatIsOver(_ batches: [Batch]) async {
        for id in Set(batches.map(\.job)) where mustTakeBack(id) {
            let back = await gateway.remove(id)
            guard let job = jobs[id] else { continue }
            if job.machine.isDraining {
                await outcomes.noteAllReturned(back, of: job)
            } else {
                await outcomes.settle(takenBack: back, of: id, job.machine.ending?.rest ?? Self.givenUp)
            }
        }
    }

    private func mustTakeBack(_ id: JobID) -> Bool {
        jobs[id]?.machine.phase != .sending
    }

    /// Takes back all notifications of a job that are not on a connection. They have no outcome then and are nowhere else.
    ///
    /// They may include notifications that are under way again and whose event has not been processed yet.
    func takeBack(_ job: ActiveJob) async -> [Batch] {
        let id = job.claimed.id
        guard jobs[id] === job, !job.machine.isOver else { return jobs.removeFreed(id) }
        let batches = await gateway.remove(id)
        guard !batches.isEmpty else { return jobs.removeFreed(id) }
        switch job.machine.phase {
        case .parking, .held: return jobs.removeFreed(id)
        case .settled, .concluded, .told, .published, .archived:
            // The job ended meanwhile. Notifications that are under way again stay in the gateway.
            do {
                try await gateway.submit(batches)
            } catch {
                // Cancelled: they had counted as accepted, and the process exits.
                context.logger.debug("not sent again", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            }
            return jobs.removeFreed(id)
        case .sending, .draining, .ending: break
        }
        for range in batches.flatMap({ job.noteTakenBack($0.indices) }) { outcomes.reopen(range, of: id) }
        return batches + jobs.removeFreed(id)
    }

    /// Withdraws, at the end, the announcements of notifications that were never written. The next start may send them.
    func withdrawIntents() async {
        for job in jobs.all where job.summary.header.onDoubt == .report && !job.machine.isOver {
            let id = job.claimed.id
            outcomes.withdrawIntents(await gateway.remove(id) + jobs.freedBatches(of: id), of: id)
        }
    }

    // MARK: Unsent jobs

    /// Moves unsent jobs back to `new/`, youngest first, if the app is paused or the gateway does not answer, and the
    /// jobs take room in the journal for which another app waits.
    func giveBackUnsentJobs() async {
        guard parts.state.pausedAt != nil || parts.state.isOut, context.daemon.spool.mayAct else { return }
        var excess = context.daemon.journal.excess(of: context.name)
        guard excess > 0 else { return }
        let unsent = jobs.all.filter(\.isUnsent).sorted { $0.droppedAt > $1.droppedAt }
        var count = 0
        for job in unsent where excess > 0 && count < Self.giveBackLimit {
            let byteCount = context.daemon.journal.job(job.claimed.id)?.headerByteCount ?? 0
            guard let batches = await takeUnwritten(job) else { continue }
            guard giveBack(job, batches) else { break }
            (excess, count) = (excess - byteCount, count + 1)
        }
        parts.journal.write()
    }

    /// Moves a job that is not in the gateway back to `new/`.
    ///
    /// - Returns: Whether it was moved. If not, its batches are handed out again.
    private func giveBack(_ job: ActiveJob, _ batches: [Batch]) -> Bool {
        let id = job.claimed.id
        do {
            let name = try parts.held.giveBack(job.claimed, droppedAt: job.droppedAt)
            jobs.end(job)
            parts.journal.record(.cleaned(id))
            guard let name else { return true }
            parts.intake.value.noteGivenBack(name, droppedAt: job.droppedAt, at: .now)
            context.logger.info(
                "job moved back to new/: its app cannot send at present", metadata: [LogKey.job: "\(name)"])
            return true
        } catch {
            jobs.handOutAgain(batches)
            parts.space.note(failure: error)
            context.logger.error(
                "job cannot be moved back to new/", metadata: [LogKey.id: "\(id)", LogKey.error: "\(error)"])
            return false
        }
    }

    /// Takes back all batches of a job if none was ever written to a connection. Otherwise the same notification could
    /// arrive under the old id from the connection and under a new id from `new/`.
    ///
    /// - Returns: `nil` if a batch was written, or is about to be.
    private func takeUnwritten(_ job: ActiveJob) async -> [Batch]? {
        let id = job.claimed.id
        guard jobs.freedBatches(of: id).isEmpty else { return nil }
        guard let batches = await gateway.removeUnwritten(id, count: job.handedOutCount) else {
            job.machine.wasWritten = true
            return nil
        }
        // More of the job may have been read meanwhile.
        guard jobs[id] === job, job.isUnsent, batches.notificationCount == job.handedOutCount else {
            jobs.handOutAgain(batches)
            return nil
        }
        return batches
    }
}
