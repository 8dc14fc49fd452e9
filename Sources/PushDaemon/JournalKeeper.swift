import AppEngine
import Configuration
import JobOperations
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolStore

/// Maintains the journal: syncs it, makes room in it, shares it among the apps, and ends it.
final class JournalKeeper {
    private let resources: DaemonResources
    private let logger: Logger
    /// The records of each app from the daemon before, until the app starts.
    private var left: [String: LeftBehind]
    /// Why the journal can no longer be written.
    private(set) var fault: JournalFault?
    /// Which of the daemon's folders, or whether its journal, no longer has its path.
    private(set) var placeFault: SpoolFault?

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
            try await journal.run(every: configuration.journal.syncInterval, results: configuration.journal.syncRecords)
        } catch {
            fail(error)
        }
    }

    /// The shortest interval between attempts to make room in the journal.
    private static let carryPause = Duration.milliseconds(100)
    /// The interval while no job is under way.
    private static let quietCarryPause = Duration.seconds(30)

    /// Carries records forward that stand in the way of new ones, until the task is cancelled or the journal fails.
    ///
    /// Once a second, while jobs are under way, it also checks that the jobs still belong to this daemon.
    ///
    /// - Parameters:
    ///   - isQuiet: Whether no job is under way.
    ///   - hold: Makes the apps hold their jobs whose journal records are lost.
    func runCarrying(isQuiet: () -> Bool, hold: ([JobID]) async -> Void) async {
        var nextLook = ContinuousClock.now
        while !Task.isCancelled {
            do throws(JournalFault) {
                if let fault = journal.fault { throw .broken(fault) }
                if nextLook <= .now {
                    nextLook = .now + .seconds(1)
                    try resources.spool.confirm()
                }
                let damaged = try journal.carryForward()
                if !damaged.isEmpty { await hold(damaged) }
            } catch .full {
                // The next pass tries again. Until then no job is claimed.
            } catch {
                return fail(error)
            }
            try? await resources.reactor.sleep(for: Self.carryPause)
            await resources.journalWakeup.wait(until: .now + (isQuiet() ? Self.quietCarryPause : .zero))
        }
    }

    /// The longest interval between checks that the daemon's folders have their paths: a mount over one causes no event.
    private static let placesPause = Duration.seconds(10)

    /// Waits until one of the daemon's folders, or its journal, no longer has its path. Jobs under way must then finish where
    /// they are, because only this daemon knows their outcomes; the next start opens what has the paths.
    ///
    /// - Parameter configuration: How often to look.
    /// - Returns: `false` if the task was cancelled first.
    func awaitMove(_ configuration: DaemonConfiguration) async -> Bool {
        var known: String?
        while !Task.isCancelled {
            do {
                if let path = try resources.misplaced() {
                    let hint = "put it back if it still exists, then start the daemon again"
                    placeFault = SpoolFault("\(path) was moved, replaced or removed while the daemon ran", hint: hint)
                    logger.critical(
                        "stopping: folder or journal was moved, replaced or removed while the daemon ran",
                        metadata: [LogKey.path: "\(path)", LogKey.hint: "\(hint)"])
                    return true
                }
            } catch {
                if known != "\(error)" {
                    logger.warning("folders cannot be checked", metadata: [LogKey.error: "\(error)"])
                }
                known = "\(error)"
            }
            try? await resources.reactor.sleep(for: min(Self.placesPause, configuration.intake.rescan))
        }
        return false
    }

    private func fail(_ error: JournalFault) {
        guard fault == nil else { return }
        fault = error
        let hint: Logger.MetadataValue =
            error.isLoss
            ? "another daemon has taken over the journal: check which one runs as this node or finishes its jobs, then start again"
            : "check the disk, then start again: jobs resume from the recorded outcomes"
        logger.critical("stopping: journal failed", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
    }

    /// Records a clean shutdown, or at least that this is not a crash. Other nodes see how it ended.
    func end(_ reason: JournalBeat.End = .stopped) {
        guard fault == nil else { return journal.takeLeave() }
        do {
            try resources.spool.append(.stopped)
            try journal.flush()
            try resources.spool.leave(reason)
        } catch {
            logger.error("journal cannot be closed", metadata: [LogKey.error: "\(error)"])
            journal.takeLeave()
        }
    }

    // MARK: Apps

    /// Divides the journal's room among the configured apps, and warns if an app's share is too small.
    func share(among apps: Set<String>) {
        journal.share(among: apps)
        guard !journal.share.isEnough, !apps.isEmpty else { return }
        let hint: Logger.MetadataValue = "set journal.size to a larger value, or configure fewer apps"
        logger.warning(
            "journal is too small for the number of apps: a slow app may make others wait",
            metadata: [LogKey.bytes: "\(journal.share.byteCount) bytes each", LogKey.hint: hint])
    }

    /// The journal's records of an app about to start: from the daemon before, or from the app's last run in this one.
    func leftBehind(by app: String) -> LeftBehind {
        if let left = left[app] { return left }
        var left = LeftBehind()
        for id in journal.liveJobs {
            if let job = journal.job(id), job.facts.app == app { left.jobs[id] = job }
        }
        return left
    }

    /// Discards the records of an app from the daemon before, because the app has started with them.
    func noteStart(of app: String) { left[app] = nil }

    /// Logs the parts of the journal that could not be read.
    func reportReplay() {
        for damage in resources.spool.replay.damage {
            let hint: Logger.MetadataValue = "jobs that may have lost records are held; see pushspool-journal(5)"
            logger.error(
                "journal is damaged",
                metadata: [
                    LogKey.error: "region \(damage.region), byte \(damage.offset): \(damage.why)", LogKey.hint: hint,
                ])
        }
    }
}
