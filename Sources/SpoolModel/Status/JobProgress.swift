package import APNSModel

/// How far a job is and how fast it goes, by looks at it from time to time.
package struct JobProgress: Sendable {
    /// Over how long the rate is taken: long enough to be calm, short enough to show a stall.
    private static let span = Duration.seconds(10)

    private struct Look: Sendable {
        let at: Moment
        let settledCount: Int
    }

    private var looks: [Look] = []

    /// Nobody has looked yet.
    package init() {}

    /// Takes a look: how many notifications have an outcome. Those of a job can become fewer when an error comes late.
    package mutating func note(settledCount: Int, at now: Moment) {
        looks.append(Look(at: now, settledCount: settledCount))
        while looks.count > 2, looks[1].at + Self.span <= now { looks.removeFirst() }
    }

    /// How many got an outcome a second; `nil` before there are two looks.
    package var rate: Double? {
        guard let first = looks.first, let last = looks.last, last.at > first.at else { return nil }
        return max(0, Double(last.settledCount - first.settledCount)) / (last.at - first.at).inSeconds
    }

    /// How long `count` more take at that rate; `nil` while it is not known, or none.
    package func remaining(_ count: Int) -> Duration? {
        guard let rate, rate > 0 else { return nil }
        return .seconds(Double(count) / rate)
    }
}

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}
