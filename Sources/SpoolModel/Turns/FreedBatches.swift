package import PushModel

/// Batches that were taken back from the gateway and are to be handed out again, in order within each lane.
///
/// Each lane has its own pump, so batches of one lane do not block those of another.
package struct FreedBatches {
    /// The batches by rank of their lane, in reverse order.
    private var lanes: [[Batch]] = Lane.allCases.map { _ in [] }

    /// Creates an empty set of batches.
    package init() {}

    /// Whether there are no batches.
    package var isEmpty: Bool { lanes.allSatisfy(\.isEmpty) }

    /// Whether a lane has no batches.
    package func isEmpty(_ lane: Lane) -> Bool { lanes[lane.rank].isEmpty }

    /// Puts batches before all others of their lanes, in the given order.
    package mutating func prepend(_ batches: [Batch]) {
        for batch in batches.reversed() { lanes[batch.lane.rank].append(batch) }
    }

    /// Removes and returns the first batches of a lane: all, or until they have `limit` notifications.
    package mutating func removeFirst(of lane: Lane, until limit: Int) -> [Batch] {
        var (taken, count) = ([Batch](), 0)
        while count < limit, let batch = lanes[lane.rank].popLast() {
            taken.append(batch)
            count += batch.count
        }
        return taken
    }

    /// The batches of a job, in any order. Costs O(*n*) in the number of all batches.
    package func batches(of job: JobID) -> [Batch] { lanes.flatMap { $0.filter { $0.job == job } } }

    /// Removes and returns the batches of a job, in any order. Costs the same.
    package mutating func remove(_ job: JobID) -> [Batch] {
        let removed = batches(of: job)
        guard !removed.isEmpty else { return [] }
        for rank in lanes.indices { lanes[rank].removeAll { $0.job == job } }
        return removed
    }
}
