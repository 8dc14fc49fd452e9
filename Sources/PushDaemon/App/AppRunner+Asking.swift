import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Sees to it that a stopped app that asks again has something to ask with.
    ///
    /// What waits in the gateway comes first. If all of it pauses, a pause is broken off, once, since it may last longer
    /// than the time until the next stop; if that comes to nothing either, a job of `new/` may be taken.
    func prepareToAsk() async {
        mayAsk = false
        guard case .asking(let hasFreed) = standing.phase, claims.isEmpty, readable.isEmpty, freed.isEmpty,
            await !gateway.isAtWork, standing.phase == .asking(hasFreed: hasFreed)
        else { return }
        if !hasFreed {
            standing.phase = .asking(hasFreed: true)
            if await freePaused() { return }
        }
        mayAsk = true
    }

    /// Takes back what pauses of one job, so that the pump hands it out again. Whether there was any.
    private func freePaused() async -> Bool {
        for id in jobs.keys {
            let batches = await gateway.remove(id)
            guard !batches.isEmpty else { continue }
            sendAgain(batches)
            return true
        }
        return false
    }
}

// Operators' pauses.
extension AppRunner {
    /// Whether it is paused, and nothing is on a connection any more.
    var isPausedOut: Bool { pausedAt != nil && gateway.events.meter.inFlightCount == 0 }

    /// Takes note of a pause that was begun or ended beside the daemon.
    func lookAtPause() async {
        guard Moment.now >= nextScan else { return }
        do throws(SystemError) {
            let mark = try spool.pausedAt()
            guard (mark == nil) != (pausedAt == nil) else { return }
            await notePause(since: mark)
        } catch {
            logger.error("cannot tell whether the app is paused", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Pauses the app, also for later starts: nothing more is taken, and nothing is sent that is not on a connection.
    ///
    /// - Returns: What came of it.
    func beginPause() async -> ControlAnswer {
        guard pausedAt == nil else { return ControlAnswer(.done, "is paused already").about(name) }
        do throws(SystemError) {
            try spool.beginPause()
        } catch {
            return ControlAnswer(ControlFault("\(error)", hint: "see permissions and disk")).about(name)
        }
        await notePause(since: .now)
        return ControlAnswer(.done, "paused; what is on connections still gets its outcome").about(name)
    }

    /// Lets the app go on that is paused, and ask its gateway again if it is stopped.
    ///
    /// - Returns: What came of it.
    func resume() async -> ControlAnswer {
        let wasPaused = pausedAt != nil
        do throws(SystemError) {
            try spool.endPause()
        } catch {
            return ControlAnswer(ControlFault("\(error)", hint: "see permissions and disk")).about(name)
        }
        await notePause(since: nil)
        let isStopped = standing.phase == .stopped
        if isStopped { _ = await reconfigureIfNeeded(app, identity, asksAgain: true) }
        let words = isStopped ? "asks its gateway again" : wasPaused ? "goes on" : "was not paused, and goes on"
        return ControlAnswer(.done, words).about(name)
    }

    private func notePause(since time: WallTime?) async {
        let (wasPaused, isPaused) = (pausedAt != nil, time != nil)
        pausedAt = time
        guard wasPaused != isPaused else { return }
        logger.notice(isPaused ? "app paused" : "app goes on after a pause")
        await gateway.setPaused(isPaused)
        show()
        intakeBell.ring()
    }
}
