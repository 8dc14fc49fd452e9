package import JournalModel
import PushModel
import SpoolModel

/// The figures for a set of jobs: those of one app, or of all.
package struct ReportFigures: Hashable, Sendable {
    /// The outcomes in the order in which plots stack them.
    package static let outcomes = Outcome.Kind.allCases.map(\.rawValue)
    /// The states of ended jobs in the same order.
    static let states: [Conclusion.State] = [.done, .failed]
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
    /// The notifications by outcome and time. A job's notifications are spread over the time in which it was sent.
    package private(set) var series = TimeSeries(kindCount: ReportFigures.outcomes.count)
    /// The jobs by state and the time of their end.
    package private(set) var jobSeries = TimeSeries(kindCount: ReportFigures.states.count)
    /// The times from drop to claim.
    package private(set) var waiting = LatencyHistogram()
    /// The times from claim to end.
    package private(set) var sending = LatencyHistogram()

    /// Creates empty figures.
    init() {}

    /// The number of jobs that ended.
    package var jobCount: Int { doneCount + failedCount }

    /// Whether the notifications and times of all jobs are known. If not, a share, a rate or a quantile would hold for
    /// some of the jobs only, and mostly for those with notifications that were not accepted, whose result files remain.
    package var isWhole: Bool { uncountedCount == 0 }

    /// The share of notifications that were accepted; `nil` if there were none, or not all are known.
    package var acceptedShare: Double? {
        isWhole && tally.total > 0 ? Double(tally.accepted) / Double(tally.total) : nil
    }

    /// Returns the time below which this share of the jobs lies; `nil` if there are none, or not all are known.
    package func quantile(_ share: Double, of times: KeyPath<ReportFigures, LatencyHistogram>) -> Duration? {
        isWhole ? self[keyPath: times].quantile(share) : nil
    }

    /// Adds a job that ended.
    ///
    /// - Parameters:
    ///   - account: The job.
    ///   - isCounted: Whether its counts are known.
    ///   - end: When it ended.
    ///   - first: The start of the report.
    mutating func add(_ account: JobAccount, isCounted: Bool, at end: WallTime, since first: WallTime) {
        switch account.state {
        case .done: doneCount += 1
        case .failed: failedCount += 1
        }
        if let claimed = account.claimedAt {
            if let dropped = account.droppedAt { waiting.add(claimed - dropped) }
            sending.add(end - claimed)
        }
        jobSeries.add(Self.states.map { $0 == account.state ? 1 : 0 }, from: end, to: end, since: first)
        guard isCounted else {
            uncountedCount += 1
            return
        }
        notificationCount = min(notificationCount + account.notificationCount, Self.countLimit)
        let numbers = Outcome.Kind.allCases.map { account.tally[$0] }
        for (kind, number) in zip(Outcome.Kind.allCases, numbers) {
            tally.add(min(number, Self.countLimit - tally[kind]), to: kind)
        }
        if numbers.contains(where: { $0 > 0 }) {
            series.add(numbers, from: account.claimedAt ?? end, to: end, since: first)
        }
    }

    /// The buckets that contain all its times; `nil` if it has none.
    var buckets: TimeBuckets? {
        guard let jobs = jobSeries.buckets else { return nil }
        return series.buckets.map { jobs.union($0) } ?? jobs
    }

    /// Gives both series the same buckets.
    mutating func widen(to span: TimeBuckets) {
        series.widen(to: span)
        jobSeries.widen(to: span)
    }
}
