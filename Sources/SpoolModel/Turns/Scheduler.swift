package import PushModel

/// Chooses who is next: by lane first, and within a lane round-robin.
///
/// An element asks for a turn when it can use one, and asks again after its turn. One that does not ask (a job that was
/// read, an app that is paused, stopped, over its rate, or whose window is full) is not examined and costs nothing. If
/// each element has at most one open request, it waits for at most as many turns of its lane as there are others in it,
/// and a lane gets at least one turn in eleven (`LaneTurns`).
package struct Scheduler<Element: Sendable>: Sendable {
    private var queues = Lane.allCases.map { _ in Queue<Element>() }
    private var turns = LaneTurns()

    /// Creates a scheduler without requests.
    package init() {}

    /// Whether there are no requests.
    package var isEmpty: Bool { asking.isEmpty }

    /// Whether there are no requests in this lane.
    package func isEmpty(_ lane: Lane) -> Bool { queues[lane.rank].isEmpty }

    /// The lanes with requests.
    package var asking: LaneSet { LaneSet { !queues[$0.rank].isEmpty } }

    /// Asks for a turn, after all others of the lane.
    package mutating func ask(_ element: Element, in lane: Lane) {
        queues[lane.rank].append(element)
    }

    /// Gives a turn to the next element; `nil` if there are no requests. Costs O(1), however many there are.
    package mutating func next() -> Element? { next(of: .all) }

    /// Gives a turn to the next element in one of these lanes.
    package mutating func next(of lanes: LaneSet) -> Element? {
        let asking = asking.intersection(lanes)
        guard let turn = turns.next(of: asking) else { return nil }
        turns.took(1, turn.lane, of: asking)
        return queues[turn.lane.rank].popFirst()
    }

    /// Cancels the requests of the elements for which `isUnwanted` returns true.
    package mutating func removeAll(where isUnwanted: (Element) -> Bool = { _ in true }) {
        for rank in queues.indices where !queues[rank].isEmpty { queues[rank].removeAll(where: isUnwanted) }
    }
}
