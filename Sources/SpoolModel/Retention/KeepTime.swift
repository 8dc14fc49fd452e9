package import PushModel

/// How long files are kept.
package enum KeepTime: Hashable, Sendable {
    /// Until an operator removes them.
    case forever
    /// For this long after their day; zero means not at all.
    case limited(Duration)

    /// The longest limited time that can be configured: a hundred years.
    package static let longest = Duration.seconds(36_525 * 86_400)

    /// Returns a time of this many days.
    package static func days(_ count: Int) -> KeepTime { .limited(.seconds(count * 86_400)) }

    /// Whether nothing is kept.
    package var isZero: Bool { self == .limited(.zero) }

    /// Whether a day's folder has expired: the day has ended, and the time has passed since. Zero means on the day itself.
    package func isOver(_ day: DayFolder, at now: WallTime) -> Bool {
        switch self {
        case .forever: false
        case .limited(let time): time == .zero || day.end + time <= now
        }
    }
}
