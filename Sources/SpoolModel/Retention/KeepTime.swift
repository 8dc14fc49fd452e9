package import APNSModel

/// How long something is kept.
package enum KeepTime: Hashable, Sendable {
    /// Until somebody removes it.
    case forever
    /// So long after it is over; for no time at all with zero.
    case limited(Duration)

    /// The longest time but for ever that can be asked for: a hundred years.
    package static let longest = Duration.seconds(36_525 * 86_400)

    /// So many days.
    package static func days(_ count: Int) -> KeepTime { .limited(.seconds(count * 86_400)) }

    /// Whether it is kept for no time at all.
    package var isZero: Bool { self == .limited(.zero) }

    /// Whether a day's folder has been kept for long enough: when the day has ended, and the time has passed since. With no
    /// time at all that is on the day itself.
    package func isOver(_ day: DayFolder, at now: WallTime) -> Bool {
        switch self {
        case .forever: false
        case .limited(let time): time == .zero || day.end + time <= now
        }
    }
}
