import JobFormat
import JobOperations
import JournalModel
import LinuxIO
import Logging
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Handles files in `new/` that are not claimed. A file that can never be sent fails, with a feedback line; a file that
/// an operator must check moves to `hold/`.
final class UnclaimedFiles {
    private let parts: AppParts
    private let context: AppContext
    private let publisher: Publisher
    /// The number of files refused since the last publication.
    private(set) var refusedCount = 0

    init(_ parts: AppParts, _ publisher: Publisher) {
        (self.parts, self.publisher, context) = (parts, publisher, parts.context)
    }

    /// Chooses the place in `failed/` for a file that can never be sent, and writes its line. The file is moved unchanged.
    func refuse(_ name: FileName, _ code: ResultCode, why: String?) {
        do {
            guard let seen = try context.spool.look(name) else {
                return parts.intake.value.answer(name, .gone, at: .now)
            }
            refusedCount += 1
            if let told = publisher.departures.takeStuck(seen) { return publisher.depart(told, isTold: true) }
            publisher.depart(try context.spool.departure(of: seen, code, why: why))
        } catch {
            noteStuck(name, error)
        }
    }

    /// Publishes the lines of the refused files and moves the files. A crash in between repeats a line but loses none.
    func carryOut() async {
        guard refusedCount > 0 else { return }
        refusedCount = 0
        await publisher.publish()
    }

    // MARK: Files that do not move to failed/

    /// Records and logs that a file cannot be taken at present.
    func noteStuck(_ name: FileName, _ error: SystemError, _ message: Logger.Message = "job cannot be read") {
        parts.journal.stopIfSyncFailed(error)
        if parts.space.pauseIfShort(error) { return parts.intake.value.answer(name, .busy, at: .now) }
        context.logger.error(message, metadata: [LogKey.job: "\(name)", LogKey.error: "\(error)"])
        parts.intake.value.answer(name, .stuck, at: .now)
    }

    /// Logs that a file on a shared filesystem waits for its end.
    func warnUnmarked(_ name: FileName) {
        let hint: Logger.MetadataValue = "end it with its bracket, `...` or `count`, or rename it into new/"
        context.logger.warning(
            "job waits: another host may still write it, and nothing in it marks its end",
            metadata: [LogKey.job: "\(name)", LogKey.hint: hint])
    }

    /// Moves a file to `hold/` because the daemon died repeatedly while reading it.
    func holdPoison(_ job: OpenJob) {
        hold(
            job, .poison, "the daemon crashed on it repeatedly",
            hint: "inspect it; to try again, move it from hold/ to new/")
    }

    /// Moves a file back to `hold/` because its number of recipients differs from the one when it was held or archived.
    func holdChanged(_ job: OpenJob) {
        hold(
            job, .changed, "its file changed after a part of it was sent",
            hint: "to send all of it, remove its .rest file in hold/, then release it")
    }

    private func hold(_ job: OpenJob, _ cause: RecoveryPlan.HoldReason, _ reason: String, hint: String) {
        let code = cause == .poison ? ResultCode.poison : .changed
        do {
            let name = try context.spool.hold.park(unclaimed: job)
            parts.intake.value.answer(job.name, .moved, at: .now)
            parts.space.lookAtHold()
            context.daemon.meter.count { $0.noteHold(cause) }
            context.logger.error(
                "job is held: \(reason)",
                metadata: [LogKey.job: "\(name)", LogKey.code: "\(code.rawValue)", LogKey.hint: "\(hint)"])
        } catch {
            noteStuck(job.name, error)
        }
    }

    // MARK: Names

    /// The most files that are reported individually at a time.
    private static let ignoredLimit = 20

    /// Reports files with names that are not valid for jobs, once their producers have had the time to rename them.
    func checkMistaken() {
        for name in parts.intake.value.takeMistaken(at: .now) where context.spool.hasNew(name) {
            parts.intake.value.confirmMistaken(name)
        }
        reportIgnored()
    }

    /// Reports the files that can never be taken.
    func reportIgnored() {
        let names = parts.intake.value.takeIgnored()
        for name in names.prefix(Self.ignoredLimit) {
            context.logger.warning(
                "file in new/ is ignored: its name is not valid for a job",
                metadata: [LogKey.job: "\(name)", LogKey.hint: "\(name.remedy)"])
        }
        guard names.count > Self.ignoredLimit else { return }
        let hint: Logger.MetadataValue = "run pushspool doctor to list some of them"
        context.logger.warning(
            "more files in new/ are ignored",
            metadata: [LogKey.files: "\(names.count - Self.ignoredLimit)", LogKey.hint: hint])
    }
}
