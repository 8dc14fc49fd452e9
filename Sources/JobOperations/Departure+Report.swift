package import JobFormat
import JournalModel
package import LinuxIO
package import PushModel
import ServiceProcess
package import SpoolModel
package import SpoolStore

extension Departure {
    /// The answer to the operator who ended it, once it is moved.
    package var answer: ControlAnswer {
        let (tally, code) = (report.conclusion.tally, report.conclusion.code?.rawValue ?? "")
        let sent =
            tally.total > 0
            ? ", \(tally.accepted) accepted before, \(endedCount) not sent" : ", nothing was sent"
        return ControlAnswer(.done, code + sent)
    }
}

extension AppSpool {
    /// Prepares the end of a file in `new/` that can never be sent; nothing is moved yet.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - code: The code with which it ends.
    ///   - why: The explanation in its result file; `nil` for that of the code.
    /// - Returns: The departure, whose line is to be published first. It has an id of its own.
    /// - Throws: `SystemError`: nothing was done.
    package func departure(
        of file: SeenFile, _ code: ResultCode, why: String?
    ) throws(SystemError) -> Departure {
        let place = try archives.place(for: file.name, in: .failed, at: .now, withResult: true)
        let identity = JobIdentity(name: file.name, id: .random())
        var report = JobReport(identity, Conclusion(tally: Tally(), fault: code), notificationCount: 0, at: .now)
        report.droppedAt = min(WallTime(nanoseconds: file.status.changedAt), .now)
        report.path = place.path(of: name)
        var result = ResultFile(report)
        result.why = why ?? file.status.explanation(of: code)
        return Departure(of: file, from: .new, to: place, result)
    }
}

extension HeldJobs {
    /// Prepares the end of a held file; nothing is moved yet.
    ///
    /// - Parameters:
    ///   - file: The file in `hold/`.
    ///   - name: The name under which the job was dropped, if known.
    ///   - code: The code with which it ends.
    /// - Returns: The departure, whose line is to be published first.
    /// - Throws: `SystemError`: nothing was done.
    func departure(of file: SeenFile, _ name: FileName, _ code: ResultCode) throws(SystemError) -> Departure {
        let remainder = try remainder(of: file.status)
        let place = try spool.archives.place(for: name, in: .failed, at: .now, withResult: true)
        let identity = JobIdentity(name: name, id: remainder?.sent?.id ?? .random(), ref: remainder?.sent?.ref)
        var progress = remainder?.sent?.progress ?? JournalProgress(remaining: IndexRuns())
        let endedCount = progress.remaining.count
        progress.end(with: .withdrawn(code))
        let conclusion = Conclusion(tally: progress.tally, fault: code)
        var report = JobReport(identity, conclusion, notificationCount: remainder?.sent?.count ?? 0, at: .now)
        report.droppedAt = remainder?.droppedAt ?? min(WallTime(nanoseconds: file.status.changedAt), .now)
        report.path = place.path(of: spool.name)
        var result = ResultFile(report)
        result.why = code.explanation
        result.runs = progress.runs
        var departure = Departure(of: file, from: .hold, to: place, result)
        departure.endedCount = endedCount
        return departure
    }
}

extension JournalProgress {
    /// Gives the remaining notifications an outcome.
    mutating func end(with outcome: Outcome) {
        tally.add(outcome, count: remaining.count)
        for run in remaining.runs { runs[outcome.kind, default: IndexRuns()].insert(run) }
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
