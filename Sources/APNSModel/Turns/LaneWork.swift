/// What waits in one lane: what came back first, then new work, a batch of each job in turn.
struct LaneWork: Sendable {
    /// What waits of one job.
    private struct JobWork {
        /// What has paused, and is sent before the rest.
        var released = BatchList()
        var fresh = BatchList()

        var isEmpty: Bool { released.isEmpty && fresh.isEmpty }
    }

    /// How many notifications that have paused a job sends in one turn. They come in batches of one.
    private static let releasedTurn = 512

    private(set) var tail = BatchList()
    private var jobs: [JobID: JobWork] = [:]
    /// Jobs with work, the one whose turn it is in front.
    private var turns = Queue<JobID>()
    /// How many notifications that have paused the job in front has sent in this turn.
    private var releasedInTurn = 0
    /// How many notifications wait that have paused.
    private(set) var releasedCount = 0

    var isEmpty: Bool { tail.isEmpty && jobs.isEmpty }

    /// How many notifications of a job wait that have paused.
    func releasedCount(of job: JobID) -> Int { jobs[job]?.released.count ?? 0 }

    /// Adds new work behind all other work of its job.
    mutating func append(_ batch: Batch) {
        if jobs[batch.job] == nil { turns.append(batch.job) }
        jobs[batch.job, default: JobWork()].fresh.append(batch)
    }

    /// Adds what has paused before all new work of its job, and behind what has paused longer.
    mutating func release(_ batch: Batch) {
        if jobs[batch.job] == nil { turns.append(batch.job) }
        jobs[batch.job, default: JobWork()].released.append(batch)
        releasedCount += batch.count
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
        guard let job = turns.first else { return nil }
        let released = jobs[job]?.released.takeFirst(limit)
        guard let batch = released ?? jobs[job]?.fresh.takeFirst(limit) else { return nil }
        if released != nil {
            releasedCount -= batch.count
            releasedInTurn += batch.count
        }
        let isDone = jobs[job]?.isEmpty == true
        if isDone { jobs[job] = nil }
        if isDone || released == nil || releasedInTurn >= Self.releasedTurn { endTurn(of: job, isDone: isDone) }
        return batch
    }

    private mutating func endTurn(of job: JobID, isDone: Bool) {
        _ = turns.popFirst()
        if !isDone { turns.append(job) }
        releasedInTurn = 0
    }

    /// What waits of a job.
    func batches(of job: JobID) -> [Batch] {
        let back = tail.all { $0.job == job }
        guard let work = jobs[job] else { return back }
        return back + work.released.all { _ in true } + work.fresh.all { _ in true }
    }

    /// Removes a job, and returns what came back of it, and its other work.
    mutating func remove(_ job: JobID) -> (tail: [Batch], others: [Batch]) {
        let back = tail.takeAll { $0.job == job }
        guard var work = jobs.removeValue(forKey: job) else { return (back, []) }
        if turns.first == job { releasedInTurn = 0 }
        turns.removeAll { $0 == job }
        releasedCount -= work.released.count
        return (back, work.released.takeAll() + work.fresh.takeAll())
    }
}
