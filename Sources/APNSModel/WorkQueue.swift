/// Notifications that wait to be sent: what came back first, then new work, a batch of each job in turn.
package struct WorkQueue: Sendable {
    private var jobs: [JobID: BatchList] = [:]
    /// Jobs with new work, the one whose turn it is in front.
    private var turns: [JobID] = []
    private var tail = BatchList()
    /// How many notifications wait.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// Whether nothing waits.
    package var isEmpty: Bool { count == 0 }

    /// Adds new work behind all other work of its job.
    package mutating func append(_ batch: Batch) {
        guard !batch.isEmpty else { return }
        if jobs[batch.job] == nil { turns.append(batch.job) }
        jobs[batch.job, default: BatchList()].append(batch)
        count += batch.count
    }

    /// Takes at most `limit` notifications; `nil` when there are none.
    package mutating func next(atMost limit: Int) -> Batch? {
        let batch = tail.takeFirst(limit) ?? nextOfJobs(atMost: limit)
        count -= batch?.count ?? 0
        return batch
    }

    /// Puts what came back before everything else, in its order.
    package mutating func prepend(_ batches: [Batch]) {
        count += batches.reduce(0) { $0 + $1.count }
        tail.prepend(batches)
    }

    /// Takes all that came back.
    package mutating func takeTail() -> [Batch] {
        let taken = tail.takeAll()
        count -= taken.reduce(0) { $0 + $1.count }
        return taken
    }

    /// Removes what waits of a job, and returns it.
    package mutating func remove(_ job: JobID) -> [Batch] {
        var fresh = jobs.removeValue(forKey: job) ?? BatchList()
        let removed = tail.takeAll { $0.job == job } + fresh.takeAll()
        turns.removeAll { $0 == job }
        count -= removed.reduce(0) { $0 + $1.count }
        return removed
    }

    private mutating func nextOfJobs(atMost limit: Int) -> Batch? {
        guard limit > 0, let job = turns.first, let batch = jobs[job]?.takeFirst(limit) else { return nil }
        turns.removeFirst()
        if jobs[job]?.isEmpty == true { jobs[job] = nil } else { turns.append(job) }
        return batch
    }
}
