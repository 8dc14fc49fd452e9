import Configuration
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolStore

/// Monitors the free space on an app's volume, the number of jobs in `hold/`, and whether descriptors are short.
final class SpaceMonitor {
    /// How often the free space is checked.
    private static let pause = Duration.seconds(1)

    private let context: AppContext
    private let journal: JournalWriter
    private var watch: SpaceWatch
    private var held = FolderCount(keepingNames: true)
    private var isOutOfRoom = false
    private var failures: FailureLog
    /// Why no jobs are claimed; `nil` if there is enough space.
    private(set) var shortage: String?
    /// The free space at the last check, in bytes.
    private(set) var freeByteCount: Int64?
    /// The number of jobs in `hold/`; `nil` if it is unknown.
    private(set) var heldCount: Int? = 0
    /// The time of the next check.
    private(set) var nextLook = Moment.zero
    /// Until when no file is taken because descriptors or memory are short.
    private(set) var shortUntil = Moment.zero

    init(_ context: AppContext, _ journal: JournalWriter) {
        (self.context, self.journal, failures) = (context, journal, FailureLog(context.logger))
        watch = SpaceWatch(floor: SpaceFloor(byteCount: context.daemon.configuration.freeSpace))
    }

    /// Whether there is too little space for more jobs.
    var isShort: Bool { watch.isShort }

    /// Checks whether the volume has space for more jobs. Jobs under way are finished in any case.
    func look() async {
        guard Moment.now >= nextLook else { return }
        nextLook = .now + Self.pause
        lookAtHold()
        context.spool.notices.write()
        if let fault = context.spool.notices.fault { failures.note(fault, in: .tellProducers) }
        do {
            let wasShort = watch.isShort
            let room = try context.spool.space()
            failures.endRound()
            freeByteCount = room.freeByteCount
            let mayClaim = watch.mayClaim(with: room)
            shortage = mayClaim ? nil : "claims no jobs: its volume has \(watch.words(about: room)); free some space"
            if mayClaim { await context.daemon.ballast.restore() }
            guard mayClaim == wasShort else { return }
            if mayClaim { return context.logger.notice("volume has enough space again; claiming jobs") }
            let hint: Logger.MetadataValue = "free up space on the volume, at least limits.free_space"
            context.logger.warning(
                "low disk space: no jobs are claimed",
                metadata: [LogKey.free: "\(room.freeByteCount) bytes", LogKey.hint: hint])
        } catch {
            failures.note(error, in: .measureSpace)
        }
    }

    /// Counts the jobs in `hold/`, if the folder has changed, and tells producers which they are.
    func lookAtHold() {
        do {
            heldCount = try held.look(at: context.spool.holdDirectory, now: .now)
            context.spool.notices.noteHeld(held.names)
        } catch {
            if heldCount != nil { context.logger.warning("hold/ cannot be read", metadata: [LogKey.error: "\(error)"]) }
            heldCount = nil
        }
    }

    /// Records why an operation failed: if space was short, `makeRoom` frees the ballast; after a failed sync the daemon stops.
    func note(failure error: any Error) {
        if (error as? SystemError)?.isOutOfSpace == true { isOutOfRoom = true }
        journal.stopIfSyncFailed(error)
    }

    /// Frees the ballast if an operation failed because space was short.
    func makeRoom() async {
        if isOutOfRoom { await context.daemon.ballast.giveUp() }
        isOutOfRoom = false
    }

    /// Takes no files for a while if a file could not be taken because descriptors or memory are short.
    ///
    /// - Returns: Whether that was the reason.
    func pauseIfShort(_ error: SystemError) -> Bool {
        guard error.isShortage else { return false }
        if Moment.now >= shortUntil + Self.pause {
            let hint: Logger.MetadataValue = "raise the limit (LimitNOFILE, ulimit -n); active jobs continue"
            context.logger.warning(
                "claims paused: out of descriptors or memory", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
        }
        shortUntil = .now + Self.pause
        return true
    }
}
