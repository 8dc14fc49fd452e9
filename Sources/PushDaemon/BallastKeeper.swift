import LinuxIO
import Logging
import SpoolStore

/// Gives up the daemon's reserve of space when a volume is full, and makes it again when there is room.
actor BallastKeeper {
    private let worker: WorkerThread
    private let ballast: Ballast
    private let logger: Logger

    init(_ spool: Spool, on worker: WorkerThread, _ logger: Logger) {
        self.worker = worker
        self.logger = logger
        ballast = Ballast(in: spool.privateDirectory)
    }

    /// The thread where files are worked on.
    nonisolated var unownedExecutor: UnownedSerialExecutor { worker.executor }

    /// Frees the space for those who finish jobs.
    func giveUp() {
        do {
            if try ballast.giveUp() { logger.warning("volume is full: the reserve is given up to finish jobs") }
        } catch {
            logger.error("reserve cannot be given up", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Takes the space again, if there is any.
    func restore() {
        do {
            try ballast.restore()
        } catch {
            logger.error("reserve cannot be made", metadata: [LogKey.error: "\(error)"])
        }
    }
}
