import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// Keeps the journal going: syncs it, makes room in it, shares it among the apps, and ends it.
final class JournalKeeper {
    private let resources: DaemonResources
    private let logger: Logger
    /// What the daemon before left of each app, until the app starts.
    private var left: [String: LeftBehind]
    /// Why nothing can be recorded any more.
    private(set) var fault: JournalFault?

    init(_ resources: DaemonResources) {
        (self.resources, logger) = (resources, resources.logger)
        left = resources.spool.replay.leftBehind
    }

    private var journal: Journal { resources.spool.journal }

    // MARK: Running

    /// Syncs the journal until the task is cancelled or the journal fails.
    ///
    /// - Parameter configuration: How often to sync.
    func runSyncs(_ configuration: DaemonConfiguration) async {
        do {
            try await journal.run(every: configuration.syncInterval, results: configuration.syncRecords)
        } catch {
            fail(error)
        }
    }

    /// How often room in the journal is made, at most.
    private static let carryPause = Duration.milliseconds(100)
    /// How often while no job is under way.
    private static let quietCarryPause = Duration.seconds(30)

    /// Writes records again that stand in the way of new ones, until the task is cancelled or the journal fails.
    ///
    /// Once a second, while jobs are under way, it also makes sure that they still belong to this daemon.
    ///
    /// - Parameter apps: They park their jobs that the journal has lost.
    func runCarrying(for apps: AppSupervisor) async {
        var nextLook = ContinuousClock.now
        while !Task.isCancelled {
            do throws(JournalFault) {
                if let fault = journal.fault { throw .broken(fault) }
                if nextLook <= .now {
                    nextLook = .now + .seconds(1)
                    try resources.tenure.confirm()
                }
                let damaged = try journal.carryForward()
                if !damaged.isEmpty { await apps.holdUnreadable(damaged) }
            } catch .full {
                // The next look tries again, and no job is claimed until then.
            } catch {
                return fail(error)
            }
            try? await resources.reactor.sleep(for: Self.carryPause)
            await resources.journalBell.wait(until: .now + (apps.isQuiet ? Self.quietCarryPause : .zero))
        }
    }

    private func fail(_ error: JournalFault) {
        guard fault == nil else { return }
        fault = error
        let hint: Logger.MetadataValue =
            error.isLoss
            ? "somebody moved, replaced or took over the journal of a running daemon: put it back, then start again"
            : "look after the disk, then start again: what was recorded is read, and the rest is sent"
        logger.critical("stopping: journal failed", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }

    /// Records a clean shutdown, or at least that this was no crash.
    func end() {
        guard fault == nil else { return journal.takeLeave() }
        do {
            try resources.tenure.append(.stopped)
            try journal.flush()
        } catch {
            logger.error("journal cannot be ended", metadata: [LogKey.error: "\(error)"])
            journal.takeLeave()
        }
    }

    // MARK: Apps

    /// Divides the journal's room among the configured apps, and warns if an app's share is too small.
    func share(among apps: Set<String>) {
        journal.share(among: apps)
        guard !journal.share.isEnough, !apps.isEmpty else { return }
        let hint: Logger.MetadataValue = "make a larger journal (journal.size), or have fewer apps"
        logger.warning(
            "journal is small for so many apps: one that is held up may keep others waiting",
            metadata: [LogKey.bytes: "\(journal.share.byteCount) bytes each", LogKey.hint: hint])
    }

    /// What an app that starts has left in the journal: the daemon before, or the app's last run in this one.
    func leftBehind(by app: String) -> LeftBehind {
        if let left = left[app] { return left }
        var left = LeftBehind()
        for id in journal.liveJobs {
            if let job = journal.job(id), job.facts.app == app { left.jobs[id] = job }
        }
        return left
    }

    /// Forgets what the daemon before left of an app: the app has started with it.
    func noteStart(of app: String) { left[app] = nil }

    /// Logs the parts of the journal that could not be read.
    func reportReplay() {
        for damage in resources.spool.replay.damage {
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
