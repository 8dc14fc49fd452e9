import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// Deletes from an app's archives and feedback what is over for longer than it is kept.
final class RetentionTask {
    private let context: AppContext
    /// When they are looked through, and the look that is under way.
    private var schedule: SweepSchedule
    private var sweep: RetentionSweep?
    /// The newest feedback of which was told that nobody has read it.
    private var toldThrough: WallTime?
    /// Folders with something that is left alone, and was reported.
    private var reported: Set<String> = []

    init(_ context: AppContext) {
        self.context = context
        schedule = SweepSchedule(interval: Self.interval(context.daemon.configuration))
    }

    /// How long there is between two looks for what is over: an hour, or 120 scans if that is shorter.
    private static func interval(_ configuration: DaemonConfiguration) -> Duration {
        min(.seconds(3600), configuration.rescan * 120)
    }

    /// Whether archives are to be looked through, or that is under way. It is not what a stop waits for.
    var isDue: Bool { (sweep != nil || schedule.isDue(at: .now)) && !context.lifecycle.isDraining }

    /// Whether it is under way.
    var isUnderWay: Bool { sweep != nil && isDue }

    /// Goes on with what is under way, a few hundred names at a time: an archive may have millions, and nobody waits for
    /// them. What the journal has not forgotten stays, since the next start would look for it.
    func goOn() async {
        let sweep = self.sweep ?? begin()
        let finals = { [context] in context.daemon.journal.finals(of: context.name) }
        let goesOn = sweep.step(at: .now) { Set(finals().map { ArchivePlace($0) }) }
        self.sweep = goesOn ? sweep : nil
        guard !goesOn else { return await context.files.worker.yield() }
        report(sweep.report)
    }

    private func begin() -> RetentionSweep {
        let scope = schedule.begin(at: .now)
        return RetentionSweep(context.spool, context.daemon.configuration.retention, scope, toldThrough: toldThrough)
    }

    /// Notes that something has come into an archive: one that keeps nothing is looked through with the next scan.
    func noteArchived() {
        if context.daemon.configuration.retention.keepsNothing { schedule.noteUnkept(at: .now) }
    }

    private func report(_ report: SweepReport) {
        if report.youngCount > 0 { schedule.noteUnkept(at: .now) }
        if report.hasDeleted { reportDeleted(report) }
        if report.toldCount > 0 { reportUnread(report) }
        for leftovers in report.leftovers where reported.insert(leftovers.path).inserted {
            let hint: Logger.MetadataValue = "move it away; only jobs, results and folders of days are deleted there"
            context.logger.warning(
                "something in an archive is not the daemon's, and stays",
                metadata: [
                    LogKey.path: "\(context.name)/\(leftovers.path)", LogKey.files: "\(leftovers.count)",
                    LogKey.example: "\(leftovers.example)", LogKey.hint: hint,
                ])
        }
        guard let failure = report.failure else { return }
        let hint: Logger.MetadataValue = "see to the folder's rights and its disk; it is tried again from time to time"
        context.logger.error(
            "what is over cannot be deleted",
            metadata: [LogKey.files: "\(report.failureCount)", LogKey.error: "\(failure)", LogKey.hint: hint])
    }

    private func reportDeleted(_ report: SweepReport) {
        context.logger.info(
            "deleted what is over",
            metadata: [
                LogKey.done: "\(report.jobCounts[.done] ?? 0)", LogKey.failed: "\(report.jobCounts[.failed] ?? 0)",
                LogKey.feedback: "\(report.feedbackCount)",
            ])
    }

    private func reportUnread(_ report: SweepReport) {
        toldThrough = report.toldThrough
        let hint: Logger.MetadataValue = "read the files and remove them, or raise archive.keep_feedback"
        context.logger.warning(
            "feedback that nobody has read will be deleted",
            metadata: [
                LogKey.files: "\(report.toldCount)", LogKey.oldest: "\(report.oldestTold?.escaped ?? "")",
                LogKey.hint: hint,
            ])
    }
}
