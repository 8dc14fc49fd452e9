package import APNSModel

/// Who goes next: lanes first, and within a lane everybody in turn.
///
/// Who can go asks, and asks again after a turn. Who does not ask (a job that is read, an app that is paused, stopped, over
/// its rate, or whose window is full) is not looked at and costs nothing. If each has at most one question open, nobody waits
/// for more turns of its lane than there are others in it, and a lane gets at least one turn in eleven (`LaneTurns`).
package struct Scheduler<Element: Sendable>: Sendable {
    private var queues = Lane.allCases.map { _ in Queue<Element>() }
    private var turns = LaneTurns()

    /// Creates a scheduler that nobody has asked.
    package init() {}

    /// Whether nobody asks.
    package var isEmpty: Bool { asking.isEmpty }

    /// Whether nobody asks in this lane.
    package func isEmpty(_ lane: Lane) -> Bool { queues[lane.rank].isEmpty }

    /// The lanes in which somebody asks.
    package var asking: LaneSet { LaneSet { !queues[$0.rank].isEmpty } }

    /// Asks for a turn, behind all others of the lane.
    package mutating func ask(_ element: Element, in lane: Lane) {
        queues[lane.rank].append(element)
    }

    /// Gives a turn to whoever is next; `nil` when nobody asks. Costs O(1), however many ask.
    package mutating func next() -> Element? { next(of: .all) }

    /// Gives a turn to whoever is next in one of these lanes.
    package mutating func next(of lanes: LaneSet) -> Element? {
        let asking = asking.intersection(lanes)
        guard let turn = turns.next(of: asking) else { return nil }
        turns.took(1, turn.lane, of: asking)
        return queues[turn.lane.rank].popFirst()
    }

    /// Takes back the questions of those that `isUnwanted` says yes to.
    package mutating func removeAll(where isUnwanted: (Element) -> Bool = { _ in true }) {
        for rank in queues.indices where !queues[rank].isEmpty { queues[rank].removeAll(where: isUnwanted) }
    }
}
