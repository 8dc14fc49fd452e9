import APNSModel

/// What is counted of some jobs: of one app, or of all.
package struct ReportFigures: Hashable, Sendable {
    /// The outcomes in the order in which plots stack them.
    package static let outcomes = ["accepted", "rejected", "expired", "unsent", "unknown"]

    /// How many jobs ended in `done/`.
    package private(set) var doneCount = 0
    /// How many ended in `failed/`.
    package private(set) var failedCount = 0
    /// Of how many of them it is not known how many notifications they had.
    package private(set) var uncountedCount = 0
    /// What became of the notifications of the others.
    package private(set) var counts = JobAccount.Counts()
    /// How many notifications got which outcome when: a row for each outcome, a column for each part of the time. Those of
    /// a job are spread over the time in which it was sent.
    package private(set) var series: [[Double]]
    /// How long jobs waited until they were claimed.
    package private(set) var waiting = LatencyHistogram()
    /// How long they took from then on.
    package private(set) var sending = LatencyHistogram()

    /// Counts nothing yet.
    init(_ buckets: TimeBuckets) {
        series = Self.outcomes.map { _ in [Double](repeating: 0, count: buckets.count) }
    }

    /// How many jobs ended.
    package var jobCount: Int { doneCount + failedCount }

    /// What share of the notifications was accepted; `nil` if there were none.
    package var acceptedShare: Double? {
        let all = counts.accepted + counts.missedCount
        return all == 0 ? nil : Double(counts.accepted) / Double(all)
    }

    /// Counts a job that ended then.
    ///
    /// - Parameters:
    ///   - account: What is told of it.
    ///   - isCounted: Whether its counts are known.
    ///   - end: When it ended.
    ///   - buckets: The parts of the time.
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
    /// Adds those of another job; a sum beyond all bounds stays there.
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
