import JobOperations
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolStore

/// Finds the jobs that a node of a cluster has without knowing it: their claims were reported to have failed.
final class StrayJobs {
    /// How often it looks.
    private static let pause = Duration.seconds(10)

    private let parts: AppParts
    private let context: AppContext
    private var nextLook = Moment.zero

    init(_ parts: AppParts) {
        (self.parts, context) = (parts, parts.context)
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
            // Of a job that is held, a name may have been left.
            for stray in strays where try !parts.held.isParked(stray) { found.append(stray) }
            for stray in found {
                context.logger.notice(
                    "job is in work/ although its claim failed; taking it over",
                    metadata: [LogKey.job: "\(stray.name)", LogKey.id: "\(stray.id)"])
            }
            return found
        } catch {
            context.logger.error("work/ cannot be listed", metadata: [LogKey.error: "\(error)"])
            return []
        }
    }
}
