/// A number of notifications per unit of time.
package struct Rate: Hashable, Sendable {
    /// The largest supported count.
    package static let limit = 10_000_000

    /// The unit of time of a rate.
    package enum Unit: String, CaseIterable, Hashable, Sendable {
        /// A second.
        case second = "s"
        /// A minute.
        case minute = "m"
        /// An hour.
        case hour = "h"

        /// The length of the unit.
        package var duration: Duration {
            switch self {
            case .second: .seconds(1)
            case .minute: .seconds(60)
            case .hour: .seconds(3600)
            }
        }
    }

    /// The number of notifications.
    package let count: Int
    /// The unit of time.
    package let unit: Unit

    /// Creates a rate; `nil` unless the count is from 1 to `limit`.
    package init?(_ count: Int, per unit: Unit = .second) {
        guard (1...Self.limit).contains(count) else { return nil }
        (self.count, self.unit) = (count, unit)
    }

    /// Returns one of `parts` equal shares of the rate, rounded down; at least one notification an hour.
    package func divided(by parts: Int) -> Rate {
        guard parts > 1 else { return self }
        // A small number in a short unit could not be divided exactly.
        let isExact = count >= 100 * parts
        let (whole, unit) = isExact ? (count, unit) : (count * Int(Unit.hour.duration / self.unit.duration), .hour)
        return Rate(max(1, whole / parts), per: unit) ?? self
    }

    /// The number of notifications in a second.
    var perSecond: Double { Double(count) / (unit.duration / .seconds(1)) }

    /// The time per notification, rounded up, so that the rate is never exceeded and is met to within 1 %.
    var nanosecondsEach: Int64 {
        let (quotient, remainder) = unit.duration.wholeNanoseconds.quotientAndRemainder(dividingBy: Int64(count))
        return quotient + (remainder > 0 ? 1 : 0)
    }

    /// The number of notifications that may be sent at once after a pause: those of a tenth of a second, but at least two.
    package var burst: Int { max(2, Int(100_000_000 / nanosecondsEach)) }
}
