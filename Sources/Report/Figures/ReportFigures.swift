import APNSModel
import JournalModel
package import SpoolModel

/// The figures for a set of jobs: those of one app, or of all.
package struct ReportFigures: Hashable, Sendable {
    /// The outcomes in the order in which plots stack them.
    package static let outcomes = ["accepted", "rejected", "expired", "unsent", "unknown"]

    /// The number of jobs that ended in `done/`.
    package private(set) var doneCount = 0
    /// The number of jobs that ended in `failed/`.
    package private(set) var failedCount = 0
    /// The number of jobs whose notification counts are unknown.
    package private(set) var uncountedCount = 0
    /// The outcomes of the notifications of all other jobs.
    package private(set) var counts = JobAccount.Counts()
    /// The notifications by outcome and time: one row per outcome, one column per bucket. A job's notifications are
    /// spread over the time in which it was sent.
    package private(set) var series: [[Double]]
    /// The times from drop to claim.
    package private(set) var waiting = LatencyHistogram()
    /// The times from claim to end.
    package private(set) var sending = LatencyHistogram()

    /// Creates empty figures.
    init(_ buckets: TimeBuckets) {
        series = Self.outcomes.map { _ in [Double](repeating: 0, count: buckets.count) }
    }

    /// The number of jobs that ended.
    package var jobCount: Int { doneCount + failedCount }

    /// The share of notifications that were accepted; `nil` if there were none.
    package var acceptedShare: Double? {
        let all = counts.accepted + counts.missedCount
        return all == 0 ? nil : Double(counts.accepted) / Double(all)
    }

    /// Adds a job that ended.
    ///
    /// - Parameters:
    ///   - account: The job.
    ///   - isCounted: Whether its counts are known.
    ///   - end: When it ended.
    ///   - buckets: The time buckets.
    mutating func add(_ account: JobAccount, isCounted: Bool, at end: WallTime, in buckets: TimeBuckets) {
        switch account.state {
        case .done: doneCount += 1
        case .failed: failedCount += 1
        }
        if let claimed = account.claimedAt {
            if let dropped = account.droppedAt { waiting.add(claimed - dropped) }
            sending.add(end - claimed)
        }
        guard isCounted else {
            uncountedCount += 1
            return
        }
        counts.add(account.counts)
        let numbers = account.counts.outcomes.map(\.count)
        buckets.share(from: account.claimedAt ?? end, to: end) { index, share in
            for (outcome, number) in numbers.enumerated() where number > 0 {
                series[outcome][index] += Double(number) * share
            }
        }
    }
}

extension JobAccount.Counts {
    /// Adds the counts of another job, limited to 2⁶⁰ each.
    fileprivate mutating func add(_ other: JobAccount.Counts) {
        notifications = sum(notifications, other.notifications)
        (accepted, rejected) = (sum(accepted, other.accepted), sum(rejected, other.rejected))
        (expired, unsent) = (sum(expired, other.expired), sum(unsent, other.unsent))
        unknown = sum(unknown, other.unknown)
    }

    private func sum(_ one: Int, _ other: Int) -> Int {
        min(one + other, 1 << 60)
    }
}
