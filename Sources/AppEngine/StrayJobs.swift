import JobFormat
import JobOperations
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolStore

/// Finds the jobs that a node of a cluster has without knowing it, because their claims were reported to have failed, and names in
/// `work/` of jobs that are elsewhere.
final class StrayJobs {
    /// How often it looks.
    private static let pause = Duration.seconds(10)

    private let parts: AppParts
    private let context: AppContext
    private let publisher: Publisher
    private var nextLook = Moment.zero

    init(_ parts: AppParts, _ publisher: Publisher) {
        (self.parts, self.publisher, context) = (parts, publisher, parts.context)
    }

    /// Returns the jobs in `work/` that nobody knows of, if it is time to look. None if the daemon works alone.
    func find() -> [ClaimedJob] {
        guard context.spool.isClustered, Moment.now >= nextLook else { return [] }
        nextLook = .now + Self.pause
        let known = Set((parts.toRecover.found + parts.toRecover.takingUp).map(\.claimed.id))
        do throws(SystemError) {
            var found: [ClaimedJob] = []
            let strays = try context.spool.strays { id in
                known.contains(id) || parts.toRecover.missing[id] != nil || parts.jobs[id] != nil
                    || parts.jobs.recentIdentity(of: id) != nil
            }
            // Of a job that is held, or being released, a name may have been left.
            for stray in strays where try !parts.held.isParked(stray) { found.append(stray) }
            return found
        } catch {
            context.logger.error("work/ cannot be listed", metadata: [LogKey.error: "\(error)"])
            return []
        }
    }

    /// Removes the name of a job that an operator held, if a power loss left it in `work/`, or of one of the daemon's own.
    ///
    /// - Returns: Whether it is such a job.
    /// - Throws: `SystemError`: that is not known.
    func dropIfElsewhere(_ job: ClaimedJob, _ record: JournalJob?) throws(SystemError) -> Bool {
        let isOwn = try context.daemon.sent.ownClaims.hasJob(job, of: record, in: context.spool, at: .now)
        if !isOwn { guard try parts.held.isParked(job) else { return false } }
        try context.spool.work.unlink(job.entry.bytes)
        publisher.syncMove(of: job.id)
        if isOwn { report(job, "claim was cut off, and the job is one of this daemon's own") }
        return true
    }

    func report(_ job: ClaimedJob, _ message: Logger.Message) {
        context.logger.notice(message, metadata: [LogKey.job: "\(job.name)", LogKey.id: "\(job.id)"])
    }
}
