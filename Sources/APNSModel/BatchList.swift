/// Batches in order, taken from the front, put back at either end.
package struct BatchList: Sendable {
    private var batches: [Batch] = []
    /// Batches before it have been taken; the array is trimmed now and then, so that taking is cheap.
    private var head = 0
    /// How many notifications there are in all.
    package private(set) var count = 0

    /// Creates an empty list.
    package init() {}

    /// Whether there is nothing in it.
    package var isEmpty: Bool { count == 0 }

    /// The batch in front.
    package var first: Batch? { head < batches.count ? batches[head] : nil }

    /// Puts a batch behind all others. An empty one leaves no trace.
    package mutating func append(_ batch: Batch) {
        guard !batch.isEmpty else { return }
        batches.append(batch)
        count += batch.count
    }

    /// Puts batches before all others, in their order.
    package mutating func prepend(_ front: [Batch]) {
        let kept = front.filter { !$0.isEmpty }
        batches.replaceSubrange(0..<head, with: kept)
        head = 0
        count += kept.notificationCount
    }

    /// Takes the first notifications: as many as asked for, or fewer if the batch in front has no more.
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

    /// The batches that `isWanted` says yes to, in their order. Costs O(*n*).
    package func all(where isWanted: (Batch) -> Bool) -> [Batch] {
        batches[head...].filter(isWanted)
    }

    /// Takes everything that `isWanted` says yes to, and leaves the rest in order.
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
