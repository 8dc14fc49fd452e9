/// The least of many elements. Stores at most twice the number requested.
package struct LeastElements<Element: Comparable & Sendable>: Sendable {
    private let limit: Int
    private var kept: [Element] = []

    /// Creates a collection that keeps at most `limit` elements, and at least one.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Adds an element, if it may be one of the least. Costs O(log *n*) on average.
    package mutating func add(_ element: Element) {
        kept.append(element)
        if kept.count >= 2 * limit { cut() }
    }

    /// The least elements, in ascending order.
    package var sorted: [Element] { Array(kept.sorted().prefix(limit)) }

    private mutating func cut() {
        kept.sort()
        kept.removeSubrange(limit...)
    }
}
