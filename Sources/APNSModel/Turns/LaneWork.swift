/// What waits in one lane: what came back first, then new work, a batch of each job in turn.
struct LaneWork: Sendable {
    private(set) var tail = BatchList()
    private var jobs: [JobID: BatchList] = [:]
    /// Jobs with new work, the one whose turn it is in front.
    private var turns = Queue<JobID>()

    var isEmpty: Bool { tail.isEmpty && jobs.isEmpty }

    /// Adds new work behind all other work of its job.
    mutating func append(_ batch: Batch) {
        if jobs[batch.job] == nil { turns.append(batch.job) }
        jobs[batch.job, default: BatchList()].append(batch)
    }

    /// Puts what came back before everything else, in its order.
    mutating func prepend(_ batches: [Batch]) {
        tail.prepend(batches)
    }

    /// Takes all that came back.
    mutating func takeTail() -> [Batch] { tail.takeAll() }

    /// Takes the first notifications of what is in front; `nil` without any, or with a limit of none.
    mutating func takeFirst(_ limit: Int) -> Batch? {
        guard limit > 0 else { return nil }
        if let batch = tail.takeFirst(limit) { return batch }
        guard let job = turns.popFirst(), let batch = jobs[job]?.takeFirst(limit) else { return nil }
        if jobs[job]?.isEmpty == true { jobs[job] = nil } else { turns.append(job) }
        return batch
    }

    /// Removes a job, and returns what came back of it, and its new work.
    mutating func remove(_ job: JobID) -> (tail: [Batch], fresh: [Batch]) {
        let back = tail.takeAll { $0.job == job }
        guard var fresh = jobs.removeValue(forKey: job) else { return (back, []) }
        turns.removeAll { $0 == job }
        return (back, fresh.takeAll())
    }
}
