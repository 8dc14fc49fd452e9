/// A job's batches in the order of their indices, in groups that are processed one step each.
///
/// Adjacent slices of the same batch are merged. A group ends at the limit that is reached first; a batch that exceeds
/// it is split. Creating the sequence costs O(*n* log *n*), iterating over it O(*n*) in all.
package struct BatchGroups: Sequence, IteratorProtocol, Sendable {
    /// The limits of a group; each at least 1.
    package struct Limits: Hashable, Sendable {
        /// The maximum number of batches, which is the number of index ranges.
        package var batchCount: Int
        /// The maximum number of notifications.
        package var count: Int

        /// Creates limits.
        package init(batchCount: Int, count: Int) {
            (self.batchCount, self.count) = (batchCount, count)
        }
    }

    private let limits: Limits
    private let batches: [Batch]
    /// The indices into `batches` that remain, the next one last.
    private var places: [Int]
    /// The batch to use before them: the remainder of a split batch, or one that did not fit into the previous group.
    private var pending: Batch?

    /// Creates the groups of batches, in any order, that have no index in common.
    package init(_ batches: [Batch], limits: Limits) {
        (self.limits, self.batches) = (limits, batches)
        // A batch is a large value: sort only its bounds.
        let keys = batches.indices.map { (bound: batches[$0].indices.lowerBound, place: $0) }
        places = keys.sorted { $0.bound > $1.bound }.map(\.place)
    }

    /// Returns the next group, which contains no empty batch, or `nil` at the end.
    package mutating func next() -> [Batch]? {
        var (group, room) = ([Batch](), limits.count)
        while room > 0, let batch = takeBatch() {
            var rest = batch
            let part = rest.removeFirst(room)
            if let last = group.indices.last, group[last].merge(part) {
                // Merged into the last batch.
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
