import LinuxIO
package import Logging
import ServiceProcess
package import SpoolStore

/// Logs the failures of steps that are tried again until they succeed: each cause once, with its remedy, and the end of it.
package struct FailureLog {
    /// A step that many jobs take, and that fails for all of them if its folder cannot be used.
    package enum Step: Hashable, Sendable {
        /// Choosing a job's place in an archive.
        case place(ArchiveFolder)
        /// Moving a job to an archive.
        case archive(ArchiveFolder)
        /// Making the moves to the archives survive a power loss.
        case syncArchives
        /// Writing result files beside the jobs in `work/`.
        case writeResults
        /// Writing lines to `feedback/`.
        case publish
        /// Writing lines for producers.
        case tellProducers
        /// Moving a job to `hold/`.
        case hold
        /// Storing the refs of sent jobs, which make others duplicates.
        case keepRefs
        /// Asking for the free space of the app's volume.
        case measureSpace
    }

    private let logger: Logger
    /// The causes that were logged since their step last worked.
    private var causes: [Step: Set<String>] = [:]
    /// The steps that have failed in this round.
    private var failed: Set<Step> = []

    /// Creates an empty log.
    package init(_ logger: Logger) { self.logger = logger }

    /// Logs that a step failed, unless its cause is known. The paths in an error differ from job to job, so its number counts.
    ///
    /// - Parameters:
    ///   - error: The cause.
    ///   - step: What failed.
    ///   - job: The fields that name the first job for which it failed.
    package mutating func note(_ error: any Error, in step: Step, _ job: Logger.Metadata = [:]) {
        failed.insert(step)
        let system = error as? SystemError
        guard causes[step, default: []].insert(system?.name ?? "\(error)").inserted else { return }
        let hint = system?.isOutOfSpace == true ? "free up space on the volume" : step.hint
        logger.error(
            step.failure, metadata: job.merging([LogKey.error: "\(error)", LogKey.hint: "\(hint)"]) { $1 })
    }

    /// Ends a round, in which each step was tried for all jobs that wait for it, and logs the steps that work again.
    ///
    /// - Parameter isComplete: Whether no step was left out.
    package mutating func endRound(isComplete: Bool = true) {
        defer { failed = [] }
        guard isComplete, !causes.isEmpty else { return }
        for step in causes.keys where !failed.contains(step) {
            causes[step] = nil
            logger.notice(step.recovery)
        }
    }
}

extension FailureLog.Step {
    fileprivate var failure: Logger.Message {
        switch self {
        case .place: "archive folder cannot be used"
        case .archive: "job cannot be archived"
        case .syncArchives: "archive cannot be synced"
        case .writeResults: "result files cannot be written"
        case .publish: "feedback cannot be written"
        case .tellProducers: "producers cannot be told about their jobs"
        case .hold: "job cannot be held"
        case .keepRefs: "duplicate records cannot be written"
        case .measureSpace: "free disk space cannot be determined"
        }
    }

    fileprivate var recovery: Logger.Message {
        switch self {
        case .place(let folder), .archive(let folder): "jobs are archived in \(folder.rawValue)/ again"
        case .syncArchives: "archives are synced again"
        case .writeResults: "result files are written again"
        case .publish: "feedback is written again"
        case .tellProducers: "producers are told about their jobs again"
        case .hold: "jobs are held again"
        case .keepRefs: "duplicate records are written again"
        case .measureSpace: "free disk space is known again"
        }
    }

    fileprivate var hint: String {
        switch self {
        case .place(let folder), .archive(let folder):
            "make \(folder.rawValue)/ a folder of the daemon's user on the app's own volume, or move away what is there; "
                + "jobs wait in work/ and are not sent again"
        case .syncArchives:
            "make done/ and failed/ folders of the daemon's user; until then the journal keeps their jobs"
        case .writeResults: "check owner, mode and free space of work/"
        case .publish:
            "make feedback/ a folder of the daemon's user on the app's own volume, or move away what is there; "
                + "lines wait in memory, and jobs in work/"
        case .tellProducers:
            "make tmp/.jobs a folder of the daemon's user with free space, or remove it; until then `submit --wait` of "
                + "producers does not see how jobs end"
        case .hold: "make hold/ a folder of the daemon's user on the app's own volume; the jobs wait in work/"
        case .keepRefs:
            "no job can end until this works: check `state`, or turn off intake.dedupe and intake.dedupe_content"
        case .measureSpace: "check that the app's folder exists and its volume is mounted"
        }
    }
}
