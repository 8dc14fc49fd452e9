/// First in, first out.
package struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    /// Creates an empty queue.
    package init() {}

    /// Whether nothing is in it.
    package var isEmpty: Bool { head == elements.count }

    /// How many are in it.
    package var count: Int { elements.count - head }

    /// The oldest element.
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// Adds an element at the end.
    package mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Removes the oldest element and returns it. Costs O(1) on average.
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

    /// Removes every element that `isUnwanted` says yes to. Costs O(*n*).
    package mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        elements.removeFirst(head)
        head = 0
        elements.removeAll(where: isUnwanted)
    }
}
