/// Notifications that wait to be sent: lane by lane what came back first, then new work, a batch of each job in turn.
///
/// Lanes take turns as `LaneTurns` says, counted in notifications, so that what is urgent waits for nothing but what is on a
/// connection already.
///
/// What must never be sent twice (`OnDoubt.report`) may have to be announced before it is taken: who asks for it gets
/// nothing of it, `takeUnannounced` names it, and `announced` lets it go, before everything else. Once `isAnnounced`, it
/// need not be announced again until somebody takes that back.
package struct WorkQueue: Sendable {
    private var lanes = Lane.allCases.map { _ in LaneWork() }
    private var turns = LaneTurns()
    /// How many notifications wait in each lane, those included that are to be announced.
    private var counts = Lane.allCases.map { _ in 0 }
    /// What somebody has been told of, or is to be, and may not be taken before it is announced.
    private var unannounced: [Batch] = []
    private var untoldCount = 0
    /// Whether what must never be sent twice has to be announced.
    private let announces: Bool
    private var withdrawn: [Batch] = []
    /// Jobs of which something was taken that had paused, since `takeRelieved`.
    private var relieved: Set<JobID> = []
    /// How many of those that wait are to be announced first.
    package private(set) var unannouncedCount = 0

    /// Creates an empty queue.
    ///
    /// - Parameter announces: Whether what must never be sent twice has to be announced.
    package init(announces: Bool = false) {
        self.announces = announces
    }

    /// How many notifications wait, those included that are to be announced.
    package var count: Int { counts[0] + counts[1] + counts[2] }

    /// The same of one lane.
    package func count(of lane: Lane) -> Int { counts[lane.rank] }

    /// How many notifications wait that have paused.
    package var releasedCount: Int { lanes.reduce(0) { $0 + $1.releasedCount } }

    /// How many of a lane wait that have not paused.
    package func newCount(of lane: Lane) -> Int { counts[lane.rank] - lanes[lane.rank].releasedCount }

    /// How many of a job wait that have paused.
    package func releasedCount(of job: JobID) -> Int { lanes.reduce(0) { $0 + $1.releasedCount(of: job) } }

    /// Jobs of which something was taken that had paused, since the last call.
    package mutating func takeRelieved() -> Set<JobID> {
        defer { relieved = [] }
        return relieved
    }

    /// Whether nothing waits that could be asked for.
    package var isBlocked: Bool { count == unannouncedCount }

    /// Whether `next` with this limit would bring something, or put something aside to be announced.
    package func gives(atMost limit: Int) -> Bool {
        !giving(atMost: limit).isEmpty
    }

    /// Adds new work behind all other work of its job.
    package mutating func append(_ batch: Batch) {
        guard !batch.isEmpty else { return }
        lanes[batch.lane.rank].append(batch)
        counts[batch.lane.rank] += batch.count
    }

    /// Adds what has paused: it goes before all new work of its job, and takes turns with other jobs.
    package mutating func release(_ batches: [Batch]) {
        for batch in batches where !batch.isEmpty {
            lanes[batch.lane.rank].release(batch)
            counts[batch.lane.rank] += batch.count
        }
    }

    /// Takes at most `limit` notifications; `nil` when there are none. What is being announced has its place among those
    /// already, so that no more is announced than could be sent.
    package mutating func next(atMost limit: Int) -> Batch? {
        while let batch = takeNext(atMost: limit) {
            guard mustAnnounce(batch) else {
                counts[batch.lane.rank] -= batch.count
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
        putInFront(ready)
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

    /// Puts what came back before everything else of its lane, in its order.
    package mutating func prepend(_ batches: [Batch]) {
        for batch in batches { counts[batch.lane.rank] += batch.count }
        putInFront(batches)
    }

    /// Puts back, before everything else of its lane, what is left of what was taken last.
    package mutating func putBack(_ batch: Batch) {
        turns.gaveBack(batch.count, batch.lane)
        prepend([batch])
    }

    /// Takes all that came back.
    package mutating func takeTail() -> [Batch] {
        let taken = lanes.indices.flatMap { lanes[$0].takeTail() }
        discount(taken)
        return taken
    }

    /// What waits of a job. Costs O(*n*) in what came back, and in what is to be announced.
    package func batches(of job: JobID) -> [Batch] {
        unannounced.filter { $0.job == job } + lanes.flatMap { $0.batches(of: job) }
    }

    /// Removes what waits of a job, and returns it.
    package mutating func remove(_ job: JobID) -> [Batch] {
        let held = unannounced.filter { $0.job == job }
        untoldCount -= unannounced.suffix(untoldCount).count { $0.job == job }
        unannounced.removeAll { $0.job == job }
        unannouncedCount -= held.notificationCount
        var (tail, others) = ([Batch](), [Batch]())
        for rank in lanes.indices {
            let removed = lanes[rank].remove(job)
            tail += removed.tail
            others += removed.others
        }
        let removed = tail + held + others
        discount(removed)
        return removed
    }

    private mutating func discount(_ batches: [Batch]) {
        for batch in batches { counts[batch.lane.rank] -= batch.count }
    }

    private func mustAnnounce(_ batch: Batch) -> Bool {
        announces && batch.onDoubt == .report && !batch.isAnnounced
    }

    /// The lanes that have something for who may take so many.
    private func giving(atMost limit: Int) -> LaneSet {
        LaneSet { !lanes[$0.rank].isEmpty && room(for: $0, of: limit) > 0 }
    }

    /// How many of `limit` the front of a lane may take: what is being announced has its places already.
    private func room(for lane: Lane, of limit: Int) -> Int {
        if let first = lanes[lane.rank].tail.first, !mustAnnounce(first) { return limit }
        return limit - unannouncedCount
    }

    private mutating func takeNext(atMost limit: Int) -> Batch? {
        let giving = giving(atMost: limit)
        guard let turn = turns.next(of: giving) else { return nil }
        let rank = turn.lane.rank
        let before = lanes[rank].releasedCount
        guard let batch = lanes[rank].takeFirst(min(turn.limit, room(for: turn.lane, of: limit))) else { return nil }
        if lanes[rank].releasedCount < before { relieved.insert(batch.job) }
        turns.took(batch.count, turn.lane, of: giving)
        return batch
    }

    private mutating func putInFront(_ batches: [Batch]) {
        guard let first = batches.first else { return }
        if batches.allSatisfy({ $0.lane == first.lane }) { return lanes[first.lane.rank].prepend(batches) }
        for lane in Lane.allCases { lanes[lane.rank].prepend(batches.filter { $0.lane == lane }) }
    }
}
