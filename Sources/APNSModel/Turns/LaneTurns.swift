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

    /// Creates turns that nobody has taken yet.
    package init() {}

    /// Whose turn it is of those that wait; `nil` when none does.
    package func next(of waiting: LaneSet) -> Turn? {
        for lane in Lane.allCases.reversed() where waiting.contains(lane) && passed[lane.rank] >= Self.share {
            return Turn(lane: lane, limit: passed[lane.rank] / Self.share)
        }
        return Lane.allCases.first { waiting.contains($0) }.map { Turn(lane: $0, limit: .max) }
    }

    /// Notes what a lane took while these, itself among them, waited. What a lane was owed that does not wait is forgotten.
    package mutating func took(_ count: Int, _ taker: Lane, of waiting: LaneSet) {
        passed[taker.rank] = max(0, passed[taker.rank] - Self.share * count)
        for lane in Lane.allCases where lane != taker {
            guard waiting.contains(lane) else {
                passed[lane.rank] = 0
                continue
            }
            if taker.rank < lane.rank { passed[lane.rank] += count }
        }
    }
}
