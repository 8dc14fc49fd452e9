/// Batches of one job in the order of their indices, in groups: what is done to a group is one step.
///
/// Batches that follow one another, and were cut from the same whole, are one again. A group ends with whichever limit is
/// reached first; a batch that is longer is cut. Making it costs O(*n* log *n*), the groups O(*n*) in all.
package struct BatchGroups: Sequence, IteratorProtocol, Sendable {
    /// How much a group has at most; each at least 1.
    package struct Limits: Hashable, Sendable {
        /// How many batches, which is how many ranges of indices.
        package var batchCount: Int
        /// How many notifications.
        package var count: Int

        /// Creates limits.
        package init(batchCount: Int, count: Int) {
            (self.batchCount, self.count) = (batchCount, count)
        }
    }

    private let limits: Limits
    private let batches: [Batch]
    /// The places in `batches` that come next, the first at the end.
    private var places: [Int]
    /// What comes before them: the rest of one that was cut, or one that did not go into the group before.
    private var pending: Batch?

    /// Creates the groups of batches in any order that have no index in common.
    package init(_ batches: [Batch], limits: Limits) {
        (self.limits, self.batches) = (limits, batches)
        // A batch is large: only its bounds are moved about.
        let keys = batches.indices.map { (bound: batches[$0].indices.lowerBound, place: $0) }
        places = keys.sorted { $0.bound > $1.bound }.map(\.place)
    }

    /// The next group, none of whose batches is empty; `nil` behind the last.
    package mutating func next() -> [Batch]? {
        var (group, room) = ([Batch](), limits.count)
        while room > 0, let batch = takeBatch() {
            var rest = batch
            let part = rest.removeFirst(room)
            if let last = group.indices.last, group[last].merge(part) {
                // They are one again.
            } else if group.count < limits.batchCount {
                group.append(part)
            } else {
                pending = batch
                break
            }
            room -= part.count
            if !rest.isEmpty { pending = rest }
        }
        return group.isEmpty ? nil : group
    }

    private mutating func takeBatch() -> Batch? {
        if let batch = pending {
            pending = nil
            return batch
        }
        while let place = places.popLast() {
            if !batches[place].isEmpty { return batches[place] }
        }
        return nil
    }
}
