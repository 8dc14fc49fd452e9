/// A binary min-heap.
struct Heap<Element: Comparable & Sendable>: Sendable {
    private var elements: [Element] = []

    /// The least element.
    var first: Element? { elements.first }

    var isEmpty: Bool { elements.isEmpty }

    /// The number of elements.
    var count: Int { elements.count }

    /// Adds an element. Costs O(log *n*).
    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0, elements[child] < elements[(child - 1) / 2] {
            elements.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the least element and returns it. Costs O(log *n*).
    mutating func popFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let least = elements.first else { return last }
        elements[0] = last
        sink()
        return least
    }

    private mutating func sink() {
        var parent = 0
        while 2 * parent + 1 < elements.count {
            var child = 2 * parent + 1
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(parent, child)
            parent = child
        }
    }
}
