package import PushModel

/// The progress and speed of a job, measured by repeated observations.
package struct JobProgress: Sendable {
    /// The time over which to average the rate: long enough to be smooth, short enough to show a stall.
    private static let span = Duration.seconds(10)

    private struct Look: Sendable {
        let at: Moment
        let settledCount: Int
    }

    private var looks: [Look] = []

    /// Creates a progress without observations.
    package init() {}

    /// Adds an observation: how many notifications have an outcome. The number can decrease if an error arrives late.
    package mutating func note(settledCount: Int, at now: Moment) {
        looks.append(Look(at: now, settledCount: settledCount))
        while looks.count > 2, looks[1].at + Self.span <= now { looks.removeFirst() }
    }

    /// How many notifications get an outcome per second; `nil` until there are two observations.
    package var rate: Double? {
        guard let first = looks.first, let last = looks.last, last.at > first.at else { return nil }
        return max(0, Double(last.settledCount - first.settledCount)) / (last.at - first.at).inSeconds
    }

    /// Returns how long `count` more notifications take at that rate; `nil` if the rate is unknown or zero.
    package func remaining(_ count: Int) -> Duration? {
        guard let rate, rate > 0 else { return nil }
        return .seconds(Double(count) / rate)
    }
}

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}
