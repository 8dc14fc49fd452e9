package import LinuxIO
package import Logging
import ServiceProcess
package import SpoolStore

/// Gives up the daemon's reserve of disk space when the volume is full, and restores it when there is room.
package actor BallastKeeper {
    private let worker: WorkerThread
    private let ballast: Ballast
    private let logger: Logger

    /// Keeps the reserve of a spool's volume.
    package init(_ spool: Spool, on worker: WorkerThread, _ logger: Logger) {
        self.worker = worker
        self.logger = logger
        ballast = Ballast(in: spool.privateDirectory)
    }

    /// The executor of the thread for file operations.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Frees the reserve, so that jobs under way can be finished.
    package func giveUp() {
        do {
            if try ballast.giveUp() { logger.warning("volume is full: released the ballast to finish active jobs") }
        } catch {
            logger.error("ballast cannot be released", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Restores the reserve if there is room.
    package func restore() {
        do {
            try ballast.restore()
        } catch {
            logger.error("ballast cannot be created", metadata: [LogKey.error: "\(error)"])
        }
    }
}
