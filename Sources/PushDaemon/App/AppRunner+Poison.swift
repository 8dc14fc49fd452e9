import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
    /// Reads a file once to its end; the journal knows about it meanwhile, should the daemon die over it.
    ///
    /// - Returns: `nil` when it has done so too often, alone: the file is not opened again.
    /// - Throws: `SystemError` when reading fails: the file cannot be judged.
    func readThrough(
        _ job: OpenJob, _ status: FileStatus, _ context: JobContext
    ) async throws(SystemError) -> JobSource.Opened? {
        var subject = JournalSubject(app: name, name: job.name)
        (subject.device, subject.inode) = (status.device, status.inode)
        subject.changedAt = WallTime(nanoseconds: status.changedAt)
        let judgement = around.spool.replay.suspects[subject]?.judgement
        if judgement == .hold { return nil }
        if judgement == .readAlone {
            logger.warning(
                "job is read alone: the daemon died while it was read", metadata: [LogKey.job: "\(job.name)"])
        }
        await around.reading.enter(alone: judgement == .readAlone)
        record(.start(subject))
        writeJournal()
        let outcome: Result<JobSource.Opened, SystemError>
        do {
            outcome = .success(try await JobSource.open(job, context: context) { await giveWay(context.lane) })
        } catch {
            outcome = .failure(error)
        }
        // Written with what comes next, at the latest before the app waits for something: a death that comes later is not
        // its fault.
        record(.ended(subject))
        await around.reading.leave()
        return try outcome.get()
    }

    /// Parks a file in `new/` over which the daemon has died again and again.
    func holdPoison(_ job: OpenJob) {
        do {
            let name = try spool.holdUnclaimed(job)
            intake.answer(job.name, .moved, at: .now)
            around.meter.count { $0.noteHold(.poison) }
            let hint: Logger.MetadataValue = "look at it; move it from hold/ to new/ to try again"
            logger.error(
                "job is held: the daemon died over it again and again",
                metadata: [LogKey.job: "\(name)", LogKey.code: "\(ResultCode.poison.rawValue)", LogKey.hint: hint])
        } catch {
            answerStuck(job.name, error)
        }
    }

    /// Parks a file in `new/` again that has not as many recipients as when it was parked, or was over.
    func holdChanged(_ job: OpenJob) {
        do {
            let name = try spool.holdUnclaimed(job)
            intake.answer(job.name, .moved, at: .now)
            around.meter.count { $0.noteHold(.changed) }
            let hint: Logger.MetadataValue =
                "all of it is sent when the file beside it that ends in .rest is removed and it is released"
            logger.error(
                "job is held: it is not what a part of was sent",
                metadata: [LogKey.job: "\(name)", LogKey.code: "\(ResultCode.changed.rawValue)", LogKey.hint: hint])
        } catch {
            answerStuck(job.name, error)
        }
    }

    /// Parks those of the jobs that are this app's: the journal cannot tell any more what they were.
    func holdUnreadable(_ ids: [JobID]) async {
        for id in ids where jobs[id] != nil {
            _ = await gateway.remove(id)
            handle(.hold(.changed), id)
        }
    }
}
