import Configuration
import JobFormat
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Deletes expired jobs and feedback from an app's archives and `feedback/`.
final class RetentionTask {
    private let context: AppContext
    /// When to sweep the archives, and the sweep under way.
    private var schedule: SweepSchedule
    private var sweep: RetentionSweep?
    /// The newest feedback file for which an unread warning was logged.
    private var toldThrough: WallTime?
    /// Keeps other nodes of a cluster from sweeping the app at the same time.
    private var turn: StateLock?
    /// Folders whose foreign files were reported.
    private var reported: Set<String> = []

    init(_ context: AppContext) {
        self.context = context
        schedule = SweepSchedule(interval: Self.interval(context.daemon.configuration))
    }

    /// The interval between two sweeps: an hour, or 120 scans if that is shorter.
    private static func interval(_ configuration: DaemonConfiguration) -> Duration {
        min(.seconds(3600), configuration.intake.rescan * 120)
    }

    /// Whether a sweep is due or under way. A stop does not wait for it.
    var isDue: Bool { (sweep != nil || schedule.isDue(at: .now)) && !context.lifecycle.isDraining }

    /// Whether a sweep is under way.
    var isUnderWay: Bool { sweep != nil && isDue }

    /// Continues the sweep by a few hundred names: an archive may have millions, and no task waits for it. Jobs that the
    /// journal still records are kept, since the next start would search for them.
    func goOn() async {
        guard let sweep = self.sweep ?? begin() else { return }
        let finals = { [context] in context.daemon.journal.finals(of: context.name) }
        let goesOn = sweep.step(at: .now) { Set(finals().map { ArchivePlace($0) }) }
        self.sweep = goesOn ? sweep : nil
        guard !goesOn else { return await context.files.worker.yield() }
        turn = nil
        report(sweep.report)
    }

    /// Begins a sweep; `nil` if another node sweeps, or a node that has died may still know jobs that would be deleted.
    private func begin() -> RetentionSweep? {
        let scope = schedule.begin(at: .now)
        let isShared = context.daemon.cluster != nil
        do throws(SystemError) {
            if context.daemon.nodes.hasOrphans { return nil }
            if isShared, try !takeTurn() { return nil }
        } catch {
            context.logger.warning("retention cannot be coordinated", metadata: [LogKey.error: "\(error)"])
            return nil
        }
        var rules = context.daemon.configuration.retention
        // A daemon that works alone on a filesystem of its host is the only one there.
        rules.coversAllNodes = isShared || !context.spool.filesystem.isShared
        return RetentionSweep(context.spool, rules, scope, toldThrough: toldThrough)
    }

    private func takeTurn() throws(SystemError) -> Bool {
        guard let common = try context.daemon.spool.openCommonState() else { return true }
        let folder = try common.makeChild(Array("sweeps".utf8), mode: 0o700)
        turn = try StateLock(on: folder, named: context.name)
        return turn != nil
    }

    /// Records that a job was archived. If the retention keeps nothing, the next scan starts a sweep.
    func noteArchived() {
        if context.daemon.configuration.retention.keepsNothing { schedule.noteUnkept(at: .now) }
    }

    private func report(_ report: SweepReport) {
        if report.youngCount > 0 { schedule.noteUnkept(at: .now) }
        if report.hasDeleted { reportDeleted(report) }
        if report.toldCount > 0 { reportUnread(report) }
        for leftovers in report.leftovers where reported.insert(leftovers.path).inserted {
            let hint: Logger.MetadataValue = "move it away; pushspool deletes only jobs, result files and day folders"
            context.logger.warning(
                "unknown files in an archive are kept",
                metadata: [
                    LogKey.path: "\(context.name)/\(leftovers.path)", LogKey.files: "\(leftovers.count)",
                    LogKey.example: "\(leftovers.example)", LogKey.hint: hint,
                ])
        }
        guard let failure = report.failure else { return }
        let hint: Logger.MetadataValue = "check the folder's permissions and disk; pushspool tries again periodically"
        context.logger.error(
            "old jobs and feedback cannot be deleted",
            metadata: [LogKey.files: "\(report.failureCount)", LogKey.error: "\(failure)", LogKey.hint: hint])
    }

    private func reportDeleted(_ report: SweepReport) {
        context.logger.info(
            "deleted old jobs and feedback",
            metadata: [
                LogKey.done: "\(report.jobCounts[.done] ?? 0)", LogKey.failed: "\(report.jobCounts[.failed] ?? 0)",
                LogKey.feedback: "\(report.feedbackCount)",
            ])
    }

    private func reportUnread(_ report: SweepReport) {
        toldThrough = report.toldThrough
        let hint: Logger.MetadataValue = "process the files and remove them, or raise archive.keep_feedback"
        context.logger.warning(
            "unread feedback will be deleted",
            metadata: [
                LogKey.files: "\(report.toldCount)", LogKey.oldest: "\(report.oldestTold?.escaped ?? "")",
                LogKey.hint: hint,
            ])
    }
}
