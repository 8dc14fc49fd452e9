/// Decides which lane is served next: the first one with work, apart from a share reserved for the later lanes.
///
/// Counts in the caller's units: notifications, batches or files. A waiting lane is owed one unit for every `share`
/// units that earlier lanes take, and is served before them once it is owed a unit. So of the units that it and the
/// earlier lanes take while it waits, it gets at least one in `share + 1` (at least one in eleven over all lanes). No
/// lane starves, and an earlier lane is delayed by no more than that share.
package struct LaneTurns: Sendable {
    /// The number of units that earlier lanes take until a waiting lane is owed one.
    package static let share = 8

    /// A turn.
    package struct Turn: Hashable, Sendable {
        /// The lane to serve.
        package let lane: Lane
        /// The maximum number of units that it may take.
        package let limit: Int
    }

    /// By rank: the units that earlier lanes took while the lane waited, less `share` for each unit that it got.
    private var passed = Array(repeating: 0, count: Lane.allCases.count)

    /// The amount of that balance that the last turn settled.
    private var paid = 0

    private static let lastFirst = Array(Lane.allCases.reversed())

    /// Creates the state before the first turn.
    package init() {}

    /// Returns the turn of the next waiting lane, or `nil` if none waits.
    package func next(of waiting: LaneSet) -> Turn? {
        for lane in Self.lastFirst where waiting.contains(lane) && passed[lane.rank] >= Self.share {
            return Turn(lane: lane, limit: passed[lane.rank] / Self.share)
        }
        return waiting.first.map { Turn(lane: $0, limit: .max) }
    }

    /// Records the units that a lane took while these lanes, including itself, waited. Clears the balance of lanes that
    /// do not wait.
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

    /// Records that `count` units of the last turn were given back.
    package mutating func gaveBack(_ count: Int, _ taker: Lane) {
        passed[taker.rank] += min(paid, Self.share * count)
        paid = 0
        for lane in Self.lastFirst where taker.rank < lane.rank {
            passed[lane.rank] = max(0, passed[lane.rank] - count)
        }
    }
}
