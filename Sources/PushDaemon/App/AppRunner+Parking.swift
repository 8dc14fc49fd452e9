import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

// Jobs under way that an operator wants to be held.
extension AppRunner {
    /// How long an operator waits at most until what is on connections has its outcome.
    private static let parkingLimit = Duration.seconds(20)

    /// Stops handing out more of a job.
    ///
    /// - Throws: `ControlFault`: it cannot be held.
    func beginHold(_ job: ActiveJob) async throws(ControlFault) {
        switch job.machine.state {
        case .sending: break
        case .draining(.operatorRequest), .held(.operatorRequest): return
        case .stopping: throw ControlFault("it is being ended", hint: nil)
        case .draining, .held, .settled, .published, .archived:
            throw ControlFault("it is over", hint: nil)
        }
        guard job.ending == nil else { throw ControlFault("its time is up, and it is being ended", hint: nil) }
        guard job.progress.runCount <= Rest.runLimit else {
            throw ControlFault(
                "too many of its outcomes alternate for a note of what is left",
                hint: "cancel it; `retry` sends what is left")
        }
        handle(.hold(.operatorRequest), job.claimed.id)
        await proceedWithHolds()
    }

    /// Waits until a job is parked.
    ///
    /// - Throws: `ControlFault`: it came to its end before.
    func awaitHold(_ job: ActiveJob) async throws(ControlFault) -> ControlAnswer {
        let deadline = ContinuousClock.now + Self.parkingLimit
        var hasPublished = false
        while job.heldAs == nil, ContinuousClock.now < deadline, !lifecycle.isEnding, !Task.isCancelled {
            switch job.machine.state {
            case .settled, .published, .archived: throw ControlFault("it came to its end before it was held", hint: nil)
            case .sending, .draining, .stopping, .held: break
            }
            await proceedWithHolds()
            if !hasPublished, parking.contains(job.claimed.id) {
                hasPublished = true
                await publishLines()
            } else {
                try? await around.reactor.sleep(for: .milliseconds(20))
            }
        }
        let (left, count) = (job.machine.remaining.count, job.summary.recipientCount)
        guard let name = job.heldAs else {
            return ControlAnswer(
                .begun, "being held: nothing more of it is handed out; \(left) of \(count) have no outcome yet",
                hint: "ask again; see the log if it stays so")
        }
        return ControlAnswer(.done, "held as hold/\(name), \(left) of \(count) left to send")
    }

    /// Brings jobs that are to be held closer to it: takes back what is not on a connection, and parks those of which nothing
    /// else is left.
    func proceedWithHolds() async {
        for id in holdings.keys.sorted(by: { $0.bits < $1.bits }) {
            let back = await takeBack(id) + freed.remove(id)
            await noteAllReturned(back, of: id)
            guard let job = jobs[id], case .draining = job.machine.state, let flying = holdings[id] else {
                holdings[id] = nil
                continue
            }
            let isFlying = flying.runs.contains { !job.machine.remaining.intersection($0).isEmpty }
            if !isFlying, !job.hasToTell { handle(.drained, id) }
        }
        journal.write()
    }

    /// Notes that these of a job that is to be held are not on their way to a connection any more. Nobody is in doubt about
    /// them, whatever was announced.
    func noteReturned(_ batches: [Batch], of id: JobID) {
        for batch in batches { holdings[id]?.subtract(batch.indices) }
        guard !batches.isEmpty, jobs[id]?.summary.header.onDoubt == .report else { return }
        guard let intents = around.journal.job(id)?.intents else { return }
        let announced = batches.flatMap { intents.intersection($0.indices) }
        if !announced.isEmpty { journal.record(.reopened(id, announced)) }
    }

    /// Has a job parked as soon as its lines are out.
    func awaitParking(_ id: JobID) {
        dropSource(of: id)
        holdings[id] = nil
        parking.append(id)
        publishBell.ring()
    }

    /// Parks jobs whose lines are out. While one of which something was sent is parked, another of its ref is a duplicate.
    func parkHeld(_ ids: [JobID]) {
        for id in ids {
            guard parking.contains(id), let job = jobs[id], case .held = job.machine.state, duplicates.keep(parked: job)
            else { continue }
            do throws(SystemError) {
                var sent = Rest.Sent(
                    id: id, ref: job.summary.header.ref, count: job.summary.recipientCount, progress: job.progress)
                sent.isWanted = job.isSentAnyway
                let name = try desk.park(job.claimed, droppedAt: job.droppedAt, sent)
                job.heldAs = name
                finishParking(job)
                logger.notice(
                    "job held",
                    metadata: [
                        LogKey.job: "\(name)", LogKey.id: "\(id)", LogKey.count: "\(job.machine.remaining.count)",
                    ])
            } catch {
                noteUnparked(job, error)
            }
        }
    }

    private func finishParking(_ job: ActiveJob) {
        let id = job.claimed.id
        journal.record(.cleaned(id))
        parking.removeAll { $0 == id }
        jobs[id] = nil
        places.end(job.lane)
        duplicates.endTurn(job.summary)
        recent.add(job.identity)
    }

    private func noteUnparked(_ job: ActiveJob, _ error: SystemError) {
        guard error.isNotFound, hasVanished(job.claimed) else {
            logger.error(
                "job cannot be held", metadata: [LogKey.job: "\(job.claimed.name)", LogKey.error: "\(error)"])
            return space.note(failure: error)
        }
        finishParking(job)
        logger.error("job has vanished from work/", metadata: [LogKey.job: "\(job.claimed.name)"])
    }
}
