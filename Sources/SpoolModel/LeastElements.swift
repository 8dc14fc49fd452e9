/// The least of many elements. Stores at most twice the number requested.
package struct LeastElements<Element: Comparable & Sendable>: Sendable {
    private let limit: Int
    private var kept: [Element] = []
    /// The largest element kept, once elements have been dropped.
    private var bound: Element?

    /// Creates a collection that keeps at most `limit` elements, and at least one.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Adds an element, if it may be one of the least. Costs O(log *n*) on average.
    package mutating func add(_ element: Element) {
        kept.append(element)
        if kept.count >= 2 * limit { cut() }
    }

    /// Whether an element may be one of the least. The caller can skip one that is not.
    package func mayKeep(_ element: Element) -> Bool { bound.map { element < $0 } ?? true }

    /// Whether `sorted` includes every element added.
    package var isWhole: Bool { bound == nil && kept.count <= limit }

    /// The least elements, in ascending order.
    package var sorted: [Element] { Array(kept.sorted().prefix(limit)) }

    private mutating func cut() {
        kept.sort()
        kept.removeSubrange(limit...)
        bound = kept.last
    }
}
