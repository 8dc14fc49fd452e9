package import PushModel

/// When to sweep an app's archives for expired jobs: at start and at intervals; those that keep nothing also soon after
/// an arrival.
package struct SweepSchedule: Hashable, Sendable {
    /// The archives that a sweep covers.
    package enum Scope: Hashable, Sendable {
        /// Every archive that does not keep its jobs forever.
        case everything
        /// Archives that keep nothing.
        case unkept
    }

    /// The least time that a job stays in an archive that keeps nothing, so that a program waiting for its end can find it.
    package static let grace = Duration.seconds(2)

    private let interval: Duration
    private var next = Moment.zero
    private var nextUnkept: Moment?

    /// Creates a schedule whose first sweep is due immediately.
    package init(interval: Duration) {
        self.interval = interval
    }

    /// Records that a job arrived in an archive that keeps nothing.
    package mutating func noteUnkept(at now: Moment) {
        nextUnkept = nextUnkept ?? now + Self.grace
    }

    /// Whether a sweep is due.
    package func isDue(at now: Moment) -> Bool {
        next <= now || nextUnkept.map { $0 <= now } ?? false
    }

    /// Begins a sweep, and returns what it covers.
    package mutating func begin(at now: Moment) -> Scope {
        nextUnkept = nil
        guard next <= now else { return .unkept }
        next = now + interval
        return .everything
    }
}
