package import JournalModel
import PushModel
import SpoolModel

/// The figures for a set of jobs: those of one app, or of all.
package struct ReportFigures: Hashable, Sendable {
    /// The outcomes in the order in which plots stack them.
    package static let outcomes = Outcome.Kind.allCases.map(\.rawValue)
    /// The most notifications of an outcome that are counted.
    private static let countLimit = 1 << 60

    /// The number of jobs that ended in `done/`.
    package private(set) var doneCount = 0
    /// The number of jobs that ended in `failed/`.
    package private(set) var failedCount = 0
    /// The number of jobs whose notification counts are unknown.
    package private(set) var uncountedCount = 0
    /// The notifications of all other jobs.
    package private(set) var notificationCount = 0
    /// The same, counted by outcome.
    package private(set) var tally = Tally()
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
        tally.total == 0 ? nil : Double(tally.accepted) / Double(tally.total)
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
        notificationCount = min(notificationCount + account.notificationCount, Self.countLimit)
        let numbers = Outcome.Kind.allCases.map { account.tally[$0] }
        for (kind, number) in zip(Outcome.Kind.allCases, numbers) {
            tally.add(min(number, Self.countLimit - tally[kind]), to: kind)
        }
        buckets.share(from: account.claimedAt ?? end, to: end) { index, share in
            for (outcome, number) in numbers.enumerated() where number > 0 {
                series[outcome][index] += Double(number) * share
            }
        }
    }
}
