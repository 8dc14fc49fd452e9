import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// How long there is between two looks for what is over: an hour, or 120 scans if that is shorter.
    static func sweepPause(_ configuration: DaemonConfiguration) -> Duration {
        min(.seconds(3600), configuration.rescan * 120)
    }

    /// Whether archives are to be looked through, or that is under way. It is not what a stop waits for.
    var mustSweep: Bool { (sweep != nil || sweeps.isDue(at: .now)) && !isDraining && !isBroken }

    /// Goes on with what is under way, a few hundred names at a time: an archive may have millions, and nobody waits for
    /// them. What the journal has not forgotten stays, since the next start would look for it.
    func sweepSome() async {
        let sweep = self.sweep ?? beginSweep()
        let goesOn = sweep.step(at: .now) { Set(around.journal.finals(of: name).map { ArchivePlace($0) }) }
        self.sweep = goesOn ? sweep : nil
        guard !goesOn else { return await files.worker.yield() }
        report(sweep.report)
    }

    private func beginSweep() -> RetentionSweep {
        let scope = sweeps.begin(at: .now)
        return RetentionSweep(spool, around.configuration.retention, scope, toldThrough: feedbackToldThrough)
    }

    /// Notes that something has come into an archive: one that keeps nothing is looked through with the next scan.
    func noteArchived() {
        if around.configuration.retention.keepsNothing { sweeps.noteUnkept(at: .now) }
    }

    private func report(_ report: SweepReport) {
        if report.youngCount > 0 { sweeps.noteUnkept(at: .now) }
        if report.hasDeleted { reportDeleted(report) }
        if report.toldCount > 0 { reportUnread(report) }
        for leftovers in report.leftovers where reportedLeftovers.insert(leftovers.path).inserted {
            let hint: Logger.MetadataValue = "move it away; only jobs, results and folders of days are deleted there"
            logger.warning(
                "something in an archive is not the daemon's, and stays",
                metadata: [
                    LogKey.path: "\(name)/\(leftovers.path)", LogKey.files: "\(leftovers.count)",
                    LogKey.example: "\(leftovers.example)", LogKey.hint: hint,
                ])
        }
        guard let failure = report.failure else { return }
        let hint: Logger.MetadataValue = "see to the folder's rights and its disk; it is tried again from time to time"
        logger.error(
            "what is over cannot be deleted",
            metadata: [LogKey.files: "\(report.failureCount)", LogKey.error: "\(failure)", LogKey.hint: hint])
    }

    private func reportDeleted(_ report: SweepReport) {
        logger.info(
            "deleted what is over",
            metadata: [
                LogKey.done: "\(report.jobCounts[.done] ?? 0)", LogKey.failed: "\(report.jobCounts[.failed] ?? 0)",
                LogKey.feedback: "\(report.feedbackCount)",
            ])
    }

    private func reportUnread(_ report: SweepReport) {
        feedbackToldThrough = report.toldThrough
        let hint: Logger.MetadataValue = "read the files and remove them, or raise archive.keep_feedback"
        logger.warning(
            "feedback that nobody has read will be deleted",
            metadata: [
                LogKey.files: "\(report.toldCount)", LogKey.oldest: "\(report.oldestTold?.escaped ?? "")",
                LogKey.hint: hint,
            ])
    }
}
