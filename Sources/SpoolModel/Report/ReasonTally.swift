/// How often notifications were not accepted for which reason, job by job: a job that is tried again may end otherwise.
struct ReasonTally: Sendable {
    private struct Entry {
        /// Into `reasons`.
        let number: Int
        var count: Int
    }

    /// How many reasons are told apart; what comes beyond them is `others` of its outcome.
    private static let limit = 300

    private var reasons: [SpoolReport.Reason] = []
    private var numbers: [SpoolReport.Reason: Int] = [:]
    /// By job, what came last at the end; lines that name no job are under 0.
    private var jobs: [UInt64: [Entry]] = [:]

    /// Counts a notification of a job, by the job's fingerprint.
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

    /// Adds up all jobs. One has no more of an outcome than it ended with: what it had before, or was told of twice, is left
    /// out.
    ///
    /// - Parameter counts: How a job ended, by its fingerprint; `nil` if that is not known.
    /// - Returns: How many notifications there were of each reason.
    func counts(_ counts: (UInt64) -> JobAccount.Counts?) -> [SpoolReport.Reason: Int] {
        var sums: [SpoolReport.Reason: Int] = [:]
        for (job, entries) in jobs {
            var room = counts(job).map { Dictionary(uniqueKeysWithValues: $0.outcomes.map { ($0.word, $0.count) }) }
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
