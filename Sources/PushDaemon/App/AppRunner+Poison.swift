import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension AppRunner {
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
