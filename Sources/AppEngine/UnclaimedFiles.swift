import APNSGateway
import APNSModel
import JobFormat
import JobOperations
import JournalModel
import LinuxIO
import Logging
import SharedResources
import SpoolModel
import SpoolStore

/// A file in `new/` that can never be sent and has not been moved yet: its feedback line is published first.
struct PendingRefusal {
    let seen: SeenFile
    let report: JobReport
    let place: ArchivePlace
    let result: [UInt8]
}

/// Handles files in `new/` that are not claimed. A file that can never be sent fails, with a feedback line; a file that
/// an operator must check moves to `hold/`.
final class UnclaimedFiles {
    private let parts: AppParts
    private let context: AppContext
    private let publisher: Publisher
    /// Files to move as soon as their lines are published.
    private var refusals: [PendingRefusal] = []
    /// Files whose line is published but that could not be moved. Their line is not written again.
    private var stuck: [FileName: PendingRefusal] = [:]

    init(_ parts: AppParts, _ publisher: Publisher) {
        (self.parts, self.publisher, context) = (parts, publisher, parts.context)
    }

    /// The number of files that wait to be moved.
    var count: Int { refusals.count }

    /// Chooses the place in `failed/` for a file that can never be sent, and writes its line. The file is moved unchanged.
    func refuse(_ name: FileName, _ code: ResultCode, why: String?) {
        do {
            guard let seen = try context.spool.look(name) else {
                return parts.intake.value.answer(name, .gone, at: .now)
            }
            // An earlier attempt published its line but could not move it.
            if let told = stuck[name], told.seen == seen { return refusals.append(told) }
            let identity = JobIdentity(name: name, id: .random())
            let place = try context.spool.archives.place(for: name, in: .failed, at: .now, withResult: true)
            var report = JobReport(identity, Conclusion(tally: Tally(), fault: code), notificationCount: 0, at: .now)
            report.droppedAt = min(WallTime(nanoseconds: seen.status.changedAt), .now)
            report.path = place.path(of: context.name)
            var result = ResultFile(report)
            result.why = why ?? seen.status.explanation(of: code)
            parts.lines.append(report)
            refusals.append(PendingRefusal(seen: seen, report: report, place: place, result: result.bytes))
        } catch {
            noteStuck(name, error)
        }
    }

    /// Publishes the lines of the refused files, then moves the files. A crash in between repeats a line but loses none.
    func carryOut() async {
        guard !refusals.isEmpty else { return }
        await publisher.publish()
        // The lines are not published yet. The next attempt to publish them rings the intake's wakeup.
        guard parts.lines.isEmpty else { return parts.publishWakeup.signal() }
        let group = refusals
        refusals = []
        do {
            for refusal in group {
                let draft = ResultDraft(of: refusal.report.identity.id, refusal.result)
                try await context.files.archives.stage(draft, in: context.spool.work)
            }
        } catch {
            for refusal in group { noteStuck(refusal, error) }
            return
        }
        for refusal in group { carryOut(refusal) }
    }

    private func noteStuck(_ refusal: PendingRefusal, _ error: SystemError) {
        stuck[refusal.seen.name] = refusal
        noteStuck(refusal.seen.name, error)
    }

    private func carryOut(_ refusal: PendingRefusal) {
        let (name, report) = (refusal.seen.name, refusal.report)
        stuck[name] = nil
        do {
            switch try context.spool.refuse(
                refusal.seen, id: report.identity.id, to: refusal.place, result: refusal.result)
            {
            case .moved:
                // If a power loss undoes the move before its sync, the file is refused again.
                publisher.syncMove(of: report.identity.id)
                parts.intake.value.answer(name, .moved, at: .now)
                context.daemon.meter.count { $0.noteEnd(report.conclusion, after: nil) }
                let code = report.conclusion.code?.rawValue ?? ""
                context.logger.warning("job failed", metadata: [LogKey.job: "\(name)", LogKey.code: "\(code)"])
            case .gone: parts.intake.value.answer(name, .gone, at: .now)
            case .changed(let newName): parts.intake.value.answer(name, .returned(newName), at: .now)
            case .forbidden:
                stuck[name] = refusal
                parts.intake.value.answer(name, .stuck, at: .now)
            }
        } catch {
            noteStuck(refusal, error)
        }
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

    private func hold(_ job: OpenJob, _ cause: AppMetrics.HoldCause, _ reason: String, hint: String) {
        let code = cause == .poison ? ResultCode.poison : .changed
        do {
            let name = try context.spool.hold.park(unclaimed: job)
            parts.intake.value.answer(job.name, .moved, at: .now)
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

extension FileStatus {
    /// The text that explains why a file failed without being opened.
    fileprivate func explanation(of code: ResultCode) -> String {
        switch code {
        case .unreadable:
            "owner \(owner), mode 0\(String(mode & 0o7777, radix: 8)): unreadable; chmod it, then move it back to new/"
        case .incomplete where byteCount == 0: "the file is empty; write the whole file, then rename it into place"
        case .incomplete: "the file was never finished; write the whole file, then rename it into place"
        case .invalid, .refused, .expired, .unsent, .duplicate, .cancelled, .changed, .poison: code.rawValue
        }
    }
}
