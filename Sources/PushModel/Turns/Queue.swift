/// A first-in, first-out queue.
package struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    /// Creates an empty queue.
    package init() {}

    /// Whether the queue is empty.
    package var isEmpty: Bool { head == elements.count }

    /// The number of elements.
    package var count: Int { elements.count - head }

    /// The oldest element.
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// The youngest element.
    package var last: Element? { isEmpty ? nil : elements.last }

    /// The oldest element that satisfies `isWanted`. Costs O(*n*).
    package func first(where isWanted: (Element) -> Bool) -> Element? { elements[head...].first(where: isWanted) }

    /// The oldest elements, so many at most.
    package func prefix(_ count: Int) -> ArraySlice<Element> { elements[head...].prefix(count) }

    /// Adds an element before all others. Costs O(*n*).
    package mutating func prepend(_ element: Element) { elements.insert(element, at: head) }

    /// Adds an element at the end.
    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Removes and returns the oldest element. Costs amortized O(1).
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        defer {
            head += 1
            if head > 64, head > elements.count / 2 {
                elements.removeFirst(head)
                head = 0
            }
        }
        return elements[head]
    }

    /// Removes every element that satisfies `isUnwanted`. Costs O(*n*).
    package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        elements.removeFirst(head)
        head = 0
        elements.removeAll(where: isUnwanted)
    }
}
