package import APNSModel

/// When an app's archives are looked through for what is over: at the start, then from time to time; and those that keep
/// nothing soon after something has come in.
package struct SweepSchedule: Hashable, Sendable {
    /// What a sweep goes through.
    package enum Scope: Hashable, Sendable {
        /// Everything that is not kept for ever.
        case everything
        /// Archives that keep nothing.
        case unkept
    }

    /// How long a job stays at least where it is kept for no time: whoever waits for its end looks for it there.
    package static let grace = Duration.seconds(2)

    private let interval: Duration
    private var next = Moment.zero
    private var nextUnkept: Moment?

    /// Creates a schedule whose first sweep is due at once.
    package init(interval: Duration) {
        self.interval = interval
    }

    /// Notes that something has come into an archive that keeps nothing.
    package mutating func noteUnkept(at now: Moment) {
        nextUnkept = nextUnkept ?? now + Self.grace
    }

    /// Whether a sweep is to begin.
    package func isDue(at now: Moment) -> Bool {
        next <= now || nextUnkept.map { $0 <= now } ?? false
    }

    /// Begins a sweep, and says of what.
    package mutating func begin(at now: Moment) -> Scope {
        nextUnkept = nil
        guard next <= now else { return .unkept }
        next = now + interval
        return .everything
    }
}
