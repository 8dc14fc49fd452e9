import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension Daemon {
    /// Syncs the journal, and makes room in it, until the task is cancelled or the journal fails.
    func runJournal() async {
        await withTaskGroup { group in
            group.addTask { await self.runSyncs() }
            group.addTask { await self.runCarrying() }
            await group.next()
            group.cancelAll()
        }
    }

    private func runSyncs() async {
        do {
            try await spool.journal.run(
                every: configuration.daemon.syncInterval, results: configuration.daemon.syncRecords)
        } catch {
            breakJournal(error)
        }
    }

    /// How often room in the journal is made, at most.
    private static let carryPause = Duration.milliseconds(100)
    /// How often it is looked at while nothing is under way, and whether the jobs are still ours.
    private static let quietCarryPause = Duration.seconds(30)

    /// Writes again what stands in the way of new records.
    ///
    /// Once a second, while jobs are under way, it is also made sure that they are still ours.
    private func runCarrying() async {
        var nextLook = ContinuousClock.now
        while !Task.isCancelled {
            do throws(JournalFault) {
                if let fault = spool.journal.fault { throw .broken(fault) }
                if nextLook <= .now {
                    nextLook = .now + .seconds(1)
                    try tenure.confirm()
                }
                let damaged = try spool.journal.carryForward()
                if !damaged.isEmpty { for runner in answeringRunners { await runner.holdUnreadable(damaged) } }
            } catch .full {
                // No room to make room: the next look tries again, and nothing is claimed until then.
            } catch {
                return breakJournal(error)
            }
            try? await reactor.sleep(for: Self.carryPause)
            await journalBell.wait(until: .now + (isQuiet ? Self.quietCarryPause : .zero))
        }
    }

    /// Divides the journal's room among the apps that are configured; says so if an app's part is too small.
    func shareJournal() {
        let journal = spool.journal
        journal.share(among: Set(configuration.apps.keys))
        guard !journal.share.isEnough, !configuration.apps.isEmpty else { return }
        let hint: Logger.MetadataValue = "make a larger journal (journal.size), or have fewer apps"
        logger.warning(
            "journal is small for so many apps: one that is held up may keep others waiting",
            metadata: [LogKey.bytes: "\(journal.share.byteCount) bytes each", LogKey.hint: hint])
    }

    private func breakJournal(_ fault: JournalFault) {
        guard journalFault == nil else { return }
        journalFault = fault
        isStopping = true
        tellStopping(within: .zero)
        let hint: Logger.MetadataValue =
            fault.isLoss
            ? "somebody moved, replaced or took over the journal of a running daemon: put it back, then start again"
            : "look after the disk, then start again: what was recorded is read, and the rest is sent"
        logger.critical("stopping: journal failed", metadata: [LogKey.error: "\(fault)", LogKey.hint: hint])
    }

    /// Says in the journal that this end was in good order, or at least no death.
    func endJournal() {
        guard journalFault == nil else { return spool.journal.takeLeave() }
        do {
            try tenure.append(.stopped)
            try spool.journal.flush()
        } catch {
            logger.error("journal cannot be ended", metadata: [LogKey.error: "\(error)"])
            spool.journal.takeLeave()
        }
    }

    /// What is left of an app that starts: of the daemon before, or of the app's last run in this one.
    func leftBehind(by app: String) -> LeftBehind {
        if let left = left[app] { return left }
        var left = LeftBehind()
        for id in spool.journal.liveJobs {
            if let job = spool.journal.job(id), job.facts.app == app { left.jobs[id] = job }
        }
        return left
    }

    /// Logs what could not be read of the journal.
    func reportReplay() {
        for damage in spool.replay.damage {
            let hint: Logger.MetadataValue = "jobs that it may have told of are held; see pushspool-journal(5)"
            logger.error(
                "journal is damaged",
                metadata: [
                    LogKey.error: "region \(damage.region), byte \(damage.offset): \(damage.why)", LogKey.hint: hint,
                ])
        }
    }
}

extension JournalReplay {
    /// What is left of each app.
    var leftBehind: [String: LeftBehind] {
        var left: [String: LeftBehind] = [:]
        for (id, job) in jobs { left[job.facts.app, default: LeftBehind()].jobs[id] = job }
        for (app, name) in newestFeedback {
            left[app, default: LeftBehind()].newestFeedback = FeedbackFolder.time(of: name.bytes)
        }
        return left
    }
}
