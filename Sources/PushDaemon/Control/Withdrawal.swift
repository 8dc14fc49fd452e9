import APNSModel
import LinuxIO
import SpoolModel
import SpoolStore

/// A parked file that an operator has ended: its line comes first, then it goes to `failed/`.
struct Withdrawal {
    /// The file in `hold/`.
    let file: SeenFile
    /// What its `job` line says.
    let report: JobReport
    /// Where it goes.
    let place: ArchivePlace
    /// What stands beside it there.
    let result: [UInt8]
    /// How many of its notifications have their outcome by that.
    let endedCount: Int

    /// The id by which feedback names it.
    var id: JobID { report.identity.id }

    /// What the operator is told when it is there.
    var answer: ControlAnswer {
        let (tally, code) = (report.conclusion.tally, report.conclusion.code?.rawValue ?? "")
        let sent =
            tally.total > 0
            ? ", \(tally.accepted) accepted before, \(endedCount) not sent" : ", nothing of it was sent"
        return ControlAnswer(.done, code + sent)
    }
}

extension HoldDesk {
    /// Ends what is left of a parked file; nothing is moved yet.
    ///
    /// - Parameters:
    ///   - file: The file in `hold/`.
    ///   - name: The name that the job was dropped by, as far as anybody knows.
    ///   - code: Why.
    /// - Returns: What is to be told and done.
    /// - Throws: `SystemError`: nothing was done.
    func withdrawal(of file: SeenFile, _ name: FileName, _ code: ResultCode) throws(SystemError) -> Withdrawal {
        let rest = try rest(of: file.status)
        let place = try spool.place(for: name, in: .failed, at: .now, withResult: true)
        let identity = JobIdentity(name: name, id: rest?.sent?.id ?? .random(), ref: rest?.sent?.ref)
        var progress = rest?.sent?.progress ?? JournalProgress(remaining: IndexRuns())
        let endedCount = progress.remaining.count
        progress.end(with: .withdrawn(code))
        let conclusion = Conclusion(tally: progress.tally, fault: code)
        var report = JobReport(identity, conclusion, notificationCount: rest?.sent?.count ?? 0, at: .now)
        report.droppedAt = rest?.droppedAt ?? min(WallTime(nanoseconds: file.status.changedAt), .now)
        report.path = "\(spool.name)/\(place.path)"
        var result = ResultFile(report)
        result.why = code.explanation
        (result.rejected, result.expired) = (progress.rejected, progress.expired)
        (result.unsent, result.unknown) = (progress.unsent, progress.unknown)
        return Withdrawal(
            file: file, report: report, place: place, result: result.bytes, endedCount: endedCount)
    }

    /// Moves a file whose line is out to `failed/`.
    ///
    /// - Returns: Where it is now; `nil` when it is gone: whoever has it has what is left of it, too.
    /// - Throws: `SystemError`: call again later.
    func carryOut(_ withdrawal: Withdrawal) throws(SystemError) -> ArchivePlace? {
        let place = try spool.withdraw(
            withdrawal.file, id: withdrawal.report.identity.id, to: withdrawal.place, result: withdrawal.result)
        if place != nil { forget(withdrawal.file.status) }
        return place
    }
}

extension JournalProgress {
    /// Gives what is left an outcome.
    mutating func end(with outcome: Outcome) {
        tally.add(outcome, count: remaining.count)
        for run in remaining.runs {
            if outcome == .expired { expired.insert(run) } else { unsent.insert(run) }
        }
        remaining = IndexRuns()
    }
}

extension Outcome {
    /// What becomes of notifications of a job that an operator ends.
    static func withdrawn(_ code: ResultCode) -> Outcome {
        code == .expired ? .expired : .unsent(.cancelled)
    }
}

extension APNSModel.Refusal {
    /// What was not sent because an operator had ended the job.
    static let cancelled = APNSModel.Refusal(status: nil, reason: "Cancelled", verdict: .later)
}

extension ResultCode {
    /// What an operator has done, in words.
    var explanation: String { self == .expired ? "an operator had it expire" : "an operator has cancelled it" }
}
