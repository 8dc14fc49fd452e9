/// Batches in order, removed from the front and inserted at either end.
package struct BatchList: Sendable {
    private var batches: [Batch] = []
    /// The number of batches removed from the front. The array is trimmed only now and then, so that removal is cheap.
    private var head = 0
    /// The total number of notifications.
    package private(set) var count = 0

    /// Creates an empty list.
    package init() {}

    /// Whether the list is empty.
    package var isEmpty: Bool { count == 0 }

    /// The first batch.
    package var first: Batch? { head < batches.count ? batches[head] : nil }

    /// Adds a batch at the end. Ignores an empty one.
    package mutating func append(_ batch: Batch) {
        guard !batch.isEmpty else { return }
        batches.append(batch)
        count += batch.count
    }

    /// Inserts batches at the front, in their order.
    package mutating func prepend(_ front: [Batch]) {
        let kept = front.filter { !$0.isEmpty }
        batches.replaceSubrange(0..<head, with: kept)
        head = 0
        count += kept.notificationCount
    }

    /// Removes and returns up to `limit` notifications of the first batch.
    package mutating func takeFirst(_ limit: Int) -> Batch? {
        guard limit > 0, head < batches.count else { return nil }
        let taken = batches[head].removeFirst(min(limit, batches[head].count))
        count -= taken.count
        if batches[head].isEmpty { head += 1 }
        if head > 32, head * 2 > batches.count {
            batches.removeFirst(head)
            head = 0
        }
        return taken
    }

    /// Returns the batches that satisfy `isWanted`, in order. Costs O(*n*).
    package func all(where isWanted: (Batch) -> Bool) -> [Batch] {
        batches[head...].filter(isWanted)
    }

    /// Removes and returns the batches that satisfy `isWanted`. The others keep their order.
    package mutating func takeAll(where isWanted: (Batch) -> Bool = { _ in true }) -> [Batch] {
        let (all, start) = (batches, head)
        (batches, head, count) = ([], 0, 0)
        var taken: [Batch] = []
        for batch in all[start...] {
            if isWanted(batch) { taken.append(batch) } else { append(batch) }
        }
        return taken
    }
}
