/// The least of many elements, without keeping the others: at most twice as many as are asked for.
package struct LeastElements<Element: Comparable & Sendable>: Sendable {
    private let limit: Int
    private var kept: [Element] = []

    /// Will keep at most `limit` elements, which is at least 1.
    package init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Considers an element. Costs O(log *n*) on average.
    package mutating func add(_ element: Element) {
        kept.append(element)
        if kept.count >= 2 * limit { cut() }
    }

    /// The least elements, in order.
    package var sorted: [Element] { Array(kept.sorted().prefix(limit)) }

    private mutating func cut() {
        kept.sort()
        kept.removeSubrange(limit...)
    }
}
