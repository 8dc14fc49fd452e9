import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolStore

/// Knows whether an app's volume has room, what lies in `hold/`, and whether descriptors are short.
final class SpaceMonitor {
    /// How often the room on the volume is looked at.
    private static let pause = Duration.seconds(1)

    private let context: AppContext
    private let journal: JournalWriter
    private var watch: SpaceWatch
    private var held = FolderCount()
    private var isOutOfRoom = false
    /// How much room there was at the last look.
    private(set) var freeByteCount: Int64?
    /// How many jobs lie in `hold/`; `nil` when that cannot be told.
    private(set) var heldCount: Int? = 0
    /// When the volume is looked at again.
    private(set) var nextLook = Moment.zero
    /// Until when no file is taken for want of descriptors.
    private(set) var shortUntil = Moment.zero

    init(_ context: AppContext, _ journal: JournalWriter) {
        (self.context, self.journal) = (context, journal)
        watch = SpaceWatch(floor: SpaceFloor(byteCount: context.daemon.configuration.freeSpace))
    }

    /// Whether there is too little room for more jobs.
    var isShort: Bool { watch.isShort }

    /// Looks whether there is room for more jobs on the volume; those under way are finished in any case.
    func look() async {
        guard Moment.now >= nextLook else { return }
        nextLook = .now + Self.pause
        lookAtHold()
        do {
            let wasShort = watch.isShort
            let room = try context.spool.space()
            freeByteCount = room.freeByteCount
            let mayClaim = watch.mayClaim(with: room)
            if mayClaim { await context.daemon.ballast.restore() }
            guard mayClaim == wasShort else { return }
            if mayClaim { return context.logger.notice("volume has room again, jobs are taken") }
            let hint: Logger.MetadataValue = "free some; limits.free_space says how much must be left"
            context.logger.warning(
                "volume is short of space, no jobs are taken",
                metadata: [LogKey.free: "\(room.freeByteCount) bytes", LogKey.hint: hint])
        } catch {
            context.logger.error("room on the volume is not known", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Counts what lies in `hold/`, if that has changed.
    private func lookAtHold() {
        do {
            heldCount = try held.look(at: context.spool.held, now: .now)
        } catch {
            if heldCount != nil { context.logger.warning("hold/ cannot be read", metadata: [LogKey.error: "\(error)"]) }
            heldCount = nil
        }
    }

    /// Notes why something under way has failed: for want of room there is the ballast; after a failed sync the daemon ends.
    func note(failure error: any Error) {
        if (error as? SystemError)?.isOutOfSpace == true { isOutOfRoom = true }
        journal.stopIfSyncFailed(error)
    }

    /// Gives up the ballast if something under way has failed for want of room.
    func makeRoom() async {
        if isOutOfRoom { await context.daemon.ballast.giveUp() }
        isOutOfRoom = false
    }

    /// Takes no files for a while, if it was for want of descriptors or memory that one could not be taken.
    ///
    /// - Returns: Whether it was.
    func pauseIfShort(_ error: SystemError) -> Bool {
        guard error.isShortage else { return false }
        if Moment.now >= shortUntil + Self.pause {
            let hint: Logger.MetadataValue = "raise the limit (LimitNOFILE, ulimit -n); what is under way goes on"
            context.logger.warning(
                "no files are taken for a while", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
        }
        shortUntil = .now + Self.pause
        return true
    }
}
