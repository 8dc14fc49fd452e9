/// The work of one lane: returned batches first, then the jobs in round-robin order, one batch per turn.
struct LaneWork: Sendable {
    /// The waiting work of one job.
    private struct JobWork {
        /// Notifications that have paused. Sent before the fresh ones.
        var released = BatchList()
        var fresh = BatchList()

        var isEmpty: Bool { released.isEmpty && fresh.isEmpty }
    }

    /// The number of paused notifications that a job sends in one turn. They come in batches of one.
    private static let releasedTurn = 512

    private(set) var tail = BatchList()
    private var jobs: [JobID: JobWork] = [:]
    /// The jobs with work, the one whose turn it is first.
    private var turns = Queue<JobID>()
    /// The number of paused notifications that the first job has sent in this turn.
    private var releasedInTurn = 0
    /// The number of waiting notifications that have paused.
    private(set) var releasedCount = 0

    var isEmpty: Bool { tail.isEmpty && jobs.isEmpty }

    /// Returns the number of a job's waiting notifications that have paused.
    func releasedCount(of job: JobID) -> Int { jobs[job]?.released.count ?? 0 }

    /// Appends new work to the work of its job.
    mutating func append(_ batch: Batch) {
        if let place = jobs.index(forKey: batch.job) { return jobs.values[place].fresh.append(batch) }
        turns.append(batch.job)
        var work = JobWork()
        work.fresh.append(batch)
        jobs[batch.job] = work
    }

    /// Adds notifications whose pause has ended, before all new work of their job and after those released earlier.
    mutating func release(_ batch: Batch) {
        if jobs[batch.job] == nil { turns.append(batch.job) }
        jobs[batch.job, default: JobWork()].released.append(batch)
        releasedCount += batch.count
    }

    /// Inserts returned batches before all other work, in their order.
    mutating func prepend(_ batches: [Batch]) {
        tail.prepend(batches)
    }

    /// Removes and returns the returned batches.
    mutating func takeTail() -> [Batch] { tail.takeAll() }

    /// Whether a job has work. Costs O(*n*) in the returned batches.
    func hasWork(of job: JobID) -> Bool { jobs[job] != nil || !tail.all { $0.job == job }.isEmpty }

    /// Takes work of one job out of turn: what of it came back, else what is next. Without a job, that is the one whose turn
    /// is last. Costs O(*n*).
    mutating func takeFirst(_ limit: Int, of job: JobID?) -> Batch? {
        guard let job = job ?? turns.last ?? tail.all(where: { _ in true }).last?.job else { return nil }
        let returned = tail.takeAll { $0.job == job }
        tail.prepend(returned)
        if returned.isEmpty, turns.first != job {
            turns.removeAll { $0 == job }
            turns.prepend(job)
            releasedInTurn = 0
        }
        return takeFirst(limit, skipsTail: returned.isEmpty)
    }

    /// Removes and returns up to `limit` notifications from the front; `nil` if there are none or the limit is 0. With
    /// `skipsTail`, the job whose turn it is goes before returned batches.
    mutating func takeFirst(_ limit: Int, skipsTail: Bool = false) -> Batch? {
        guard limit > 0 else { return nil }
        if !skipsTail, let batch = tail.takeFirst(limit) { return batch }
        guard let job = turns.first, let place = jobs.index(forKey: job) else { return nil }
        let released = jobs.values[place].released.takeFirst(limit)
        guard let batch = released ?? jobs.values[place].fresh.takeFirst(limit) else { return nil }
        if released != nil {
            releasedCount -= batch.count
            releasedInTurn += batch.count
        }
        let isDone = jobs.values[place].isEmpty
        if isDone { jobs.remove(at: place) }
        if isDone || released == nil || releasedInTurn >= Self.releasedTurn { endTurn(of: job, isDone: isDone) }
        return batch
    }

    private mutating func endTurn(of job: JobID, isDone: Bool) {
        _ = turns.popFirst()
        if !isDone { turns.append(job) }
        releasedInTurn = 0
    }

    /// Returns the waiting work of a job.
    func batches(of job: JobID) -> [Batch] {
        let back = tail.all { $0.job == job }
        guard let work = jobs[job] else { return back }
        return back + work.released.all { _ in true } + work.fresh.all { _ in true }
    }

    /// Removes a job. Returns its returned batches and its other work.
    mutating func remove(_ job: JobID) -> (tail: [Batch], others: [Batch]) {
        let back = tail.takeAll { $0.job == job }
        guard var work = jobs.removeValue(forKey: job) else { return (back, []) }
        if turns.first == job { releasedInTurn = 0 }
        turns.removeAll { $0 == job }
        releasedCount -= work.released.count
        return (back, work.released.takeAll() + work.fresh.takeAll())
    }
}
