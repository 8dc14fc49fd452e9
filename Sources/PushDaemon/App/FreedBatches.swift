import APNSModel

/// What was taken back from the gateway and is to be handed out again, lane by lane, each in its order.
///
/// Each lane has a pump of its own: what waits for another lane is not in its way.
struct FreedBatches {
    /// By the rank of the lane; the first at the end.
    private var lanes: [[Batch]] = Lane.allCases.map { _ in [] }

    /// Whether there is nothing.
    var isEmpty: Bool { lanes.allSatisfy(\.isEmpty) }

    /// Whether there is nothing of a lane.
    func isEmpty(_ lane: Lane) -> Bool { lanes[lane.rank].isEmpty }

    /// Puts batches before all others of their lanes, in their order.
    mutating func prepend(_ batches: [Batch]) {
        for batch in batches.reversed() { lanes[batch.lane.rank].append(batch) }
    }

    /// Takes the first batches of a lane: all, or until they have so many notifications.
    mutating func take(_ lane: Lane, until limit: Int) -> [Batch] {
        var (taken, count) = ([Batch](), 0)
        while count < limit, let batch = lanes[lane.rank].popLast() {
            taken.append(batch)
            count += batch.count
        }
        return taken
    }

    /// What there is of a job, in any order. Costs O(*n*) in all that there is.
    func batches(of job: JobID) -> [Batch] { lanes.flatMap { $0.filter { $0.job == job } } }

    /// Removes what there is of a job, and returns it in any order. Costs as much.
    mutating func remove(_ job: JobID) -> [Batch] {
        let removed = batches(of: job)
        guard !removed.isEmpty else { return [] }
        for rank in lanes.indices { lanes[rank].removeAll { $0.job == job } }
        return removed
    }
}
