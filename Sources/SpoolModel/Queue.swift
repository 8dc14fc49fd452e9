/// First in, first out.
struct Queue<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Removes the oldest element and returns it. Costs O(1) on average.
    mutating func popFirst() -> Element? {
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
}
