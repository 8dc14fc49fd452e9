/// Notifications that wait to be sent: what came back first, then new work, a batch of each job in turn.
///
/// What must never be sent twice (`OnDoubt.report`) may have to be announced before it is taken: who asks for it gets
/// nothing of it, `takeUnannounced` names it, and `announced` lets it go, before everything else. Once `isAnnounced`, it
/// need not be announced again until somebody takes that back.
package struct WorkQueue: Sendable {
    private var jobs: [JobID: BatchList] = [:]
    /// Jobs with new work, the one whose turn it is in front.
    private var turns: [JobID] = []
    private var tail = BatchList()
    /// What somebody has been told of, or is to be, and may not be taken before it is announced.
    private var unannounced: [Batch] = []
    private var untoldCount = 0
    /// Whether what must never be sent twice has to be announced.
    private let announces: Bool
    private var withdrawn: [Batch] = []
    /// How many notifications wait, those included that are to be announced.
    package private(set) var count = 0
    /// How many of them are to be announced first.
    package private(set) var unannouncedCount = 0

    /// Creates an empty queue.
    ///
    /// - Parameter announces: Whether what must never be sent twice has to be announced.
    package init(announces: Bool = false) {
        self.announces = announces
    }

    /// Whether nothing waits that could be asked for.
    package var isBlocked: Bool { count == unannouncedCount }

    /// Whether `next` with this limit would bring something, or put something aside to be announced.
    package func gives(atMost limit: Int) -> Bool {
        if let first = tail.first { return limit > (mustAnnounce(first) ? unannouncedCount : 0) }
        return !turns.isEmpty && limit > unannouncedCount
    }

    /// Adds new work behind all other work of its job.
    package mutating func append(_ batch: Batch) {
        guard !batch.isEmpty else { return }
        if jobs[batch.job] == nil { turns.append(batch.job) }
        jobs[batch.job, default: BatchList()].append(batch)
        count += batch.count
    }

    /// Takes at most `limit` notifications; `nil` when there are none. What is being announced has its place among those
    /// already, so that no more is announced than could be sent.
    package mutating func next(atMost limit: Int) -> Batch? {
        while let batch = nextOfTail(atMost: limit) ?? nextOfJobs(atMost: limit - unannouncedCount) {
            guard mustAnnounce(batch) else {
                count -= batch.count
                return batch
            }
            unannounced.append(batch)
            unannouncedCount += batch.count
            untoldCount += 1
        }
        return nil
    }

    /// What is to be announced and was not named here before.
    package mutating func takeUnannounced() -> [Batch] {
        defer { untoldCount = 0 }
        return Array(unannounced.suffix(untoldCount))
    }

    /// Says that these, which `takeUnannounced` named, are announced: they are the next to be taken. Those that were removed
    /// in between stay away.
    package mutating func announced(_ batches: [Batch]) {
        let named = Set(batches.map(Key.init))
        var (ready, others) = ([Batch](), [Batch]())
        for var batch in unannounced {
            guard named.contains(Key(batch)) else {
                others.append(batch)
                continue
            }
            batch.isAnnounced = true
            unannouncedCount -= batch.count
            ready.append(batch)
        }
        unannounced = others
        tail.prepend(ready)
    }

    /// Takes the announcement of what the gateway has not processed back, before it is put into the queue again.
    package mutating func withdraw(_ batch: inout Batch) {
        guard batch.isAnnounced else { return }
        withdrawn.append(batch)
        batch.isAnnounced = false
    }

    /// What `withdraw` was called for since the last call.
    package mutating func takeWithdrawn() -> [Batch] {
        defer { withdrawn = [] }
        return withdrawn
    }

    /// What tells one batch from the others.
    private struct Key: Hashable {
        let job: JobID
        let indices: Range<Int>

        init(_ batch: Batch) {
            (job, indices) = (batch.job, batch.indices)
        }
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
        let held = unannounced.filter { $0.job == job }
        untoldCount -= unannounced.suffix(untoldCount).count { $0.job == job }
        unannounced.removeAll { $0.job == job }
        unannouncedCount -= held.reduce(0) { $0 + $1.count }
        let removed = tail.takeAll { $0.job == job } + held + fresh.takeAll()
        turns.removeAll { $0 == job }
        count -= removed.reduce(0) { $0 + $1.count }
        return removed
    }

    private func mustAnnounce(_ batch: Batch) -> Bool {
        announces && batch.onDoubt == .report && !batch.isAnnounced
    }

    private mutating func nextOfTail(atMost limit: Int) -> Batch? {
        guard let first = tail.first else { return nil }
        return tail.takeFirst(mustAnnounce(first) ? limit - unannouncedCount : limit)
    }

    private mutating func nextOfJobs(atMost limit: Int) -> Batch? {
        guard limit > 0, let job = turns.first, let batch = jobs[job]?.takeFirst(limit) else { return nil }
        turns.removeFirst()
        if jobs[job]?.isEmpty == true { jobs[job] = nil } else { turns.append(job) }
        return batch
    }
}
