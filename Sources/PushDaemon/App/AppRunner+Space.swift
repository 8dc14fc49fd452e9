import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolStore

extension AppRunner {
    /// How often the room on the volume is looked at.
    private static let spacePause = Duration.seconds(1)

    /// Looks whether there is room for more jobs on the volume; those under way are finished in any case.
    func lookAtSpace() async {
        guard Moment.now >= nextSpaceLook else { return }
        nextSpaceLook = .now + Self.spacePause
        lookAtHold()
        do {
            let wasShort = space.isShort
            let room = try spool.space()
            freeByteCount = room.freeByteCount
            let mayClaim = space.mayClaim(with: room)
            if mayClaim { await around.ballast.restore() }
            guard mayClaim == wasShort else { return }
            if mayClaim { return logger.notice("volume has room again, jobs are taken") }
            let hint: Logger.MetadataValue = "free some; limits.free_space says how much must be left"
            logger.warning(
                "volume is short of space, no jobs are taken",
                metadata: [LogKey.free: "\(room.freeByteCount) bytes", LogKey.hint: hint])
        } catch {
            logger.error("room on the volume is not known", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Counts what lies in `hold/`, if that has changed.
    private func lookAtHold() {
        do {
            heldCount = try held.look(at: spool.held, now: .now)
        } catch {
            if heldCount != nil { logger.warning("hold/ cannot be read", metadata: [LogKey.error: "\(error)"]) }
            heldCount = nil
        }
    }

    /// Makes room for what is under way if that was what it failed for, and ends the daemon if it was a sync.
    func note(failure error: any Error) {
        if (error as? SystemError)?.isOutOfSpace == true { isOutOfRoom = true }
        stopIfSyncFailed(error)
    }

    /// Takes no files for a while, if it was for want of descriptors or memory that one could not be taken; whether so.
    func pauseIfShort(_ error: SystemError) -> Bool {
        guard error.isShortage else { return false }
        if Moment.now >= shortUntil + Self.spacePause {
            let hint: Logger.MetadataValue = "raise the limit (LimitNOFILE, ulimit -n); what is under way goes on"
            logger.warning("no files are taken for a while", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
        }
        shortUntil = .now + Self.spacePause
        return true
    }
}
