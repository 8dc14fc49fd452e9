import APNSModel
import JournalModel
import PushModel

/// Counts the reasons why notifications were not accepted. Counts per job, because a retried job may end differently.
struct ReasonTally: Sendable {
    private struct Entry {
        /// The index in `reasons`.
        let number: Int
        var count: Int
    }

    /// The most distinct reasons. Further ones count as `others` of their outcome.
    private static let limit = 300

    private var reasons: [SpoolReport.Reason] = []
    private var numbers: [SpoolReport.Reason: Int] = [:]
    /// The entries of each job, the most recent last. Lines that do not name a job are under 0.
    private var jobs: [UInt64: [Entry]] = [:]

    /// Counts a notification of a job, identified by its fingerprint.
    mutating func add(_ reason: SpoolReport.Reason, of job: UInt64?) {
        let number = number(of: reason)
        var entries = jobs.removeValue(forKey: job ?? 0) ?? []
        var entry = Entry(number: number, count: 0)
        if let index = entries.lastIndex(where: { $0.number == number }) { entry = entries.remove(at: index) }
        entry.count += 1
        entries.append(entry)
        jobs[job ?? 0] = entries
    }

    private mutating func number(of reason: SpoolReport.Reason) -> Int {
        if let number = numbers[reason] { return number }
        let isKnown = ReportFigures.outcomes.contains(reason.outcome)
        let others = SpoolReport.Reason(name: "others", outcome: isKnown ? reason.outcome : "", verdict: nil)
        let wanted = reasons.count < Self.limit ? reason : others
        if let number = numbers[wanted] { return number }
        reasons.append(wanted)
        numbers[wanted] = reasons.count - 1
        return reasons.count - 1
    }

    /// Returns the totals over all jobs. A job contributes at most as many notifications of an outcome as it ended
    /// with, which excludes earlier attempts and repeated lines.
    ///
    /// - Parameter counts: Returns the final counts of a job by its fingerprint; `nil` if they are unknown.
    /// - Returns: The number of notifications for each reason.
    func counts(_ counts: (UInt64) -> Tally?) -> [SpoolReport.Reason: Int] {
        var sums: [SpoolReport.Reason: Int] = [:]
        for (job, entries) in jobs {
            var room = counts(job).map { tally in
                Dictionary(uniqueKeysWithValues: Outcome.Kind.allCases.map { ($0.rawValue, tally[$0]) })
            }
            for entry in entries.reversed() {
                let reason = reasons[entry.number]
                let count = min(entry.count, room?[reason.outcome] ?? .max)
                room?[reason.outcome]? -= count
                if count > 0 { sums[reason, default: 0] += count }
            }
        }
        return sums
    }
}
