/// Which lane goes next: the first one that waits, but for a share that is kept for the others.
///
/// Counts in whatever its owner's turns are of: notifications, batches, files. While a lane waits it is owed one unit for
/// every `share` units that lanes before it take, and goes before them as soon as it is owed one. So of what it and the
/// lanes before it take while it waits, at least one unit in `share + 1` is its own (in all, at least one in eleven): none
/// starves, and one before it is held up by no more than that.
package struct LaneTurns: Sendable {
    /// How many units go to lanes before a waiting one until that is owed one.
    package static let share = 8

    /// A turn.
    package struct Turn: Hashable, Sendable {
        /// Whose it is.
        package let lane: Lane
        /// How many units it may take at the most.
        package let limit: Int
    }

    /// How many units went to others while a lane waited, less `share` for each one that it got, by rank.
    private var passed = Array(repeating: 0, count: Lane.allCases.count)

    /// How much of that the last turn paid off.
    private var paid = 0

    private static let lastFirst = Array(Lane.allCases.reversed())

    /// Creates turns that nobody has taken yet.
    package init() {}

    /// Whose turn it is of those that wait; `nil` when none does.
    package func next(of waiting: LaneSet) -> Turn? {
        for lane in Self.lastFirst where waiting.contains(lane) && passed[lane.rank] >= Self.share {
            return Turn(lane: lane, limit: passed[lane.rank] / Self.share)
        }
        return waiting.first.map { Turn(lane: $0, limit: .max) }
    }

    /// Notes what a lane took while these, itself among them, waited. What a lane was owed that does not wait is forgotten.
    package mutating func took(_ count: Int, _ taker: Lane, of waiting: LaneSet) {
        let before = passed[taker.rank]
        passed[taker.rank] = max(0, before - Self.share * count)
        paid = before - passed[taker.rank]
        for lane in Self.lastFirst where lane != taker {
            guard waiting.contains(lane) else {
                passed[lane.rank] = 0
                continue
            }
            if taker.rank < lane.rank { passed[lane.rank] += count }
        }
    }

    /// Notes that of what was taken last so much was given back.
    package mutating func gaveBack(_ count: Int, _ taker: Lane) {
        passed[taker.rank] += min(paid, Self.share * count)
        paid = 0
        for lane in Self.lastFirst where taker.rank < lane.rank {
            passed[lane.rank] = max(0, passed[lane.rank] - count)
        }
    }
}
