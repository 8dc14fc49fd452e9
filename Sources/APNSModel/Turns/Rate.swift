/// So many notifications in so long a time.
package struct Rate: Hashable, Sendable {
    /// The most that can be kept.
    package static let limit = 10_000_000

    /// A rate's unit of time.
    package enum Unit: String, CaseIterable, Hashable, Sendable {
        /// A second.
        case second = "s"
        /// A minute.
        case minute = "m"
        /// An hour.
        case hour = "h"

        /// How long it is.
        package var duration: Duration {
            switch self {
            case .second: .seconds(1)
            case .minute: .seconds(60)
            case .hour: .seconds(3600)
            }
        }
    }

    /// How many.
    package let count: Int
    /// In which time.
    package let unit: Unit

    /// Creates a rate; `nil` unless the count is from 1 to `limit`.
    package init?(_ count: Int, per unit: Unit = .second) {
        guard (1...Self.limit).contains(count) else { return nil }
        (self.count, self.unit) = (count, unit)
    }

    /// How long each takes up, rounded up: the rate is never exceeded, and kept to within 1 %.
    var nanosecondsEach: Int64 {
        let (quotient, remainder) = unit.duration.wholeNanoseconds.quotientAndRemainder(dividingBy: Int64(count))
        return quotient + (remainder > 0 ? 1 : 0)
    }

    /// How many may go at once after a pause: a tenth of a second's, but two at least.
    package var burst: Int { max(2, Int(100_000_000 / nanosecondsEach)) }
}
