import APNSGateway
package import APNSModel
package import JobFormat
import JournalModel
package import LinuxIO
package import SpoolModel
package import SpoolStore

/// A held file that an operator ended: its line is published first, then it moves to `failed/`.
package struct Withdrawal {
    /// The file in `hold/`.
    package let file: SeenFile
    /// Its `job` line.
    package let report: JobReport
    /// Its place in the archive.
    let place: ArchivePlace
    /// The content of its result file.
    let result: [UInt8]
    /// How many of its notifications get their outcome from the operator's command.
    package let endedCount: Int

    /// The id that identifies it in feedback.
    package var id: JobID { report.identity.id }

    /// The answer to the operator once it is moved.
    package var answer: ControlAnswer {
        let (tally, code) = (report.conclusion.tally, report.conclusion.code?.rawValue ?? "")
        let sent =
            tally.total > 0
            ? ", \(tally.accepted) accepted before, \(endedCount) not sent" : ", nothing was sent"
        return ControlAnswer(.done, code + sent)
    }
}

extension HeldJobs {
    /// Prepares the end of a held file; nothing is moved yet.
    ///
    /// - Parameters:
    ///   - file: The file in `hold/`.
    ///   - name: The name under which the job was dropped, if known.
    ///   - code: The code with which it ends.
    /// - Returns: The withdrawal to publish and carry out.
    /// - Throws: `SystemError`: nothing was done.
    func withdrawal(of file: SeenFile, _ name: FileName, _ code: ResultCode) throws(SystemError) -> Withdrawal {
        let remainder = try remainder(of: file.status)
        let place = try spool.archives.place(for: name, in: .failed, at: .now, withResult: true)
        let identity = JobIdentity(name: name, id: remainder?.sent?.id ?? .random(), ref: remainder?.sent?.ref)
        var progress = remainder?.sent?.progress ?? JournalProgress(remaining: IndexRuns())
        let endedCount = progress.remaining.count
        progress.end(with: .withdrawn(code))
        let conclusion = Conclusion(tally: progress.tally, fault: code)
        var report = JobReport(identity, conclusion, notificationCount: remainder?.sent?.count ?? 0, at: .now)
        report.droppedAt = remainder?.droppedAt ?? min(WallTime(nanoseconds: file.status.changedAt), .now)
        report.path = "\(spool.name)/\(place.path)"
        var result = ResultFile(report)
        result.why = code.explanation
        (result.rejected, result.expired) = (progress.rejected, progress.expired)
        (result.unsent, result.unknown) = (progress.unsent, progress.unknown)
        return Withdrawal(
            file: file, report: report, place: place, result: result.bytes, endedCount: endedCount)
    }

    /// Moves a file whose line is published to `failed/`.
    ///
    /// - Returns: Its place there; `nil` if the file is gone, and with it the remainder of the job.
    /// - Throws: `SystemError`: call again later.
    package func carryOut(_ withdrawal: Withdrawal) throws(SystemError) -> ArchivePlace? {
        let place = try spool.hold.withdraw(
            withdrawal.file, id: withdrawal.report.identity.id, to: withdrawal.place, result: withdrawal.result)
        if place != nil { forget(withdrawal.file.status) }
        return place
    }
}

extension JournalProgress {
    /// Gives the remaining notifications an outcome.
    mutating func end(with outcome: Outcome) {
        tally.add(outcome, count: remaining.count)
        for run in remaining.runs {
            if outcome == .expired { expired.insert(run) } else { unsent.insert(run) }
        }
        remaining = IndexRuns()
    }
}

extension Outcome {
    /// The outcome of the remaining notifications of a job that an operator ends.
    package static func withdrawn(_ code: ResultCode) -> Outcome {
        code == .expired ? .expired : .unsent(Refusal(.cancelled, .later))
    }
}

extension ResultCode {
    /// Describes the operator's action.
    var explanation: String { self == .expired ? "expired by an operator" : "cancelled by an operator" }
}
