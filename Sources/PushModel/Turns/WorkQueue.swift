/// The notifications that wait to be sent. In each lane: returned batches first, then the jobs in round-robin order.
///
/// `LaneTurns` decides between the lanes, counted in notifications, so that urgent work waits only for notifications
/// that are already on a connection.
///
/// If the queue announces, notifications that must never be sent twice (`OnDoubt.report`) are announced before they can
/// be taken: `next` sets them aside, `takeUnannounced` returns them, and `announced` puts them at the front of the
/// queue. A batch with `isAnnounced` is not announced again until `withdraw` clears the flag.
package struct WorkQueue: Sendable {
    private var lanes = Lane.allCases.map { _ in LaneWork() }
    private var turns = LaneTurns()
    /// By lane: the number of waiting notifications, including those to be announced.
    private var counts = Lane.allCases.map { _ in 0 }
    /// Batches set aside until they are announced. `takeUnannounced` has returned all but the last `untoldCount`.
    private var unannounced: [Batch] = []
    private var untoldCount = 0
    /// Whether notifications that must never be sent twice have to be announced.
    private let announces: Bool
    private var withdrawn: [Batch] = []
    /// Jobs of which paused notifications were taken, or that were put on hold or taken off, since the last
    /// `takeRelieved`.
    private var relieved: Set<JobID> = []
    /// The jobs on hold, with their notifications. These count as paused and not as waiting.
    private var held = RefusedJobs()
    /// The job that was added last, and whether the next turn is its own. That is so after every other refusal that puts a
    /// job on hold, so that many jobs that the gateway refuses cannot hide one that it accepts.
    private var newest: (job: JobID?, isFavored: Bool) = (nil, false)
    /// The number of waiting notifications that have to be announced first.
    package private(set) var unannouncedCount = 0

    /// Creates an empty queue.
    ///
    /// - Parameter announces: Whether notifications that must never be sent twice have to be announced.
    package init(announces: Bool = false) {
        self.announces = announces
    }

    /// The number of waiting notifications, including those to be announced.
    package var count: Int { counts[0] + counts[1] + counts[2] }

    /// Returns the number of waiting notifications in one lane, including those to be announced.
    package func count(of lane: Lane) -> Int { counts[lane.rank] }

    /// The number of waiting notifications that have paused.
    package var releasedCount: Int { lanes.reduce(0) { $0 + $1.releasedCount } }

    /// Returns the number of waiting notifications in a lane that have not paused.
    package func newCount(of lane: Lane) -> Int { counts[lane.rank] - lanes[lane.rank].releasedCount }

    /// Returns the number of a job's notifications that are on hold, or have paused and wait to be sent.
    package func releasedCount(of job: JobID) -> Int {
        lanes.reduce(held.count(of: job)) { $0 + $1.releasedCount(of: job) }
    }

    /// Returns the jobs for which `releasedCount` changed since the last call.
    package mutating func takeRelieved() -> Set<JobID> {
        defer { relieved = [] }
        return relieved
    }

    /// Whether all waiting notifications have to be announced first, so that none can be taken.
    package var isBlocked: Bool { count == unannouncedCount }

    /// Whether `next` with this limit would return notifications or set some aside to be announced.
    package func gives(atMost limit: Int) -> Bool {
        !giving(atMost: limit).isEmpty
    }

    /// Appends new work to the work of its job.
    package mutating func append(_ batch: Batch) {
        guard !batch.isEmpty, !keepsApart(batch) else { return }
        newest.job = batch.job
        lanes[batch.lane.rank].append(batch)
        counts[batch.lane.rank] += batch.count
    }

    /// Adds notifications whose pause has ended. They precede the new work of their job, which still takes turns with
    /// other jobs.
    package mutating func release(_ batches: [Batch]) {
        for batch in batches where !batch.isEmpty && !keepsApart(batch) {
            lanes[batch.lane.rank].release(batch)
            counts[batch.lane.rank] += batch.count
        }
    }

    /// Removes and returns at most `limit` notifications; `nil` if there are none.
    ///
    /// Notifications that are being announced count against the limit, so that no more are announced than could be sent.
    package mutating func next(atMost limit: Int) -> Batch? {
        while let batch = takeNext(atMost: limit) {
            if !held.isEmpty, held.isResting(batch.job) {
                counts[batch.lane.rank] -= batch.count
                turns.gaveBack(batch.count, batch.lane)
                _ = keepsApart(batch)
                continue
            }
            guard mustAnnounce(batch) else {
                counts[batch.lane.rank] -= batch.count
                held.noteTaken(batch.job)
                return batch
            }
            unannounced.append(batch)
            unannouncedCount += batch.count
            untoldCount += 1
        }
        return nil
    }

    /// Returns the batches to be announced that it has not returned before.
    package mutating func takeUnannounced() -> [Batch] {
        defer { untoldCount = 0 }
        return Array(unannounced.suffix(untoldCount))
    }

    /// Marks batches from `takeUnannounced` as announced: they are taken next. Batches removed in the meantime stay removed.
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

    /// Withdraws the announcement of a batch that the gateway has not processed, before the batch is put back into the queue.
    package mutating func withdraw(_ batch: inout Batch) {
        guard batch.isAnnounced else { return }
        withdrawn.append(batch)
        batch.isAnnounced = false
    }

    /// Returns the batches passed to `withdraw` since the last call.
    package mutating func takeWithdrawn() -> [Batch] {
        defer { withdrawn = [] }
        return withdrawn
    }

    /// Identifies a batch.
    private struct Key: Hashable {
        let job: JobID
        let indices: Range<Int>

        init(_ batch: Batch) {
            (job, indices) = (batch.job, batch.indices)
        }
    }

    /// Inserts returned batches before all other work of their lane, in their order.
    package mutating func prepend(_ batches: [Batch]) {
        let batches = held.isEmpty ? batches : batches.filter { !keepsApart($0) }
        for batch in batches { counts[batch.lane.rank] += batch.count }
        putInFront(batches)
    }

    /// Puts back the unused part of the batch taken last, before all other work of its lane.
    package mutating func putBack(_ batch: Batch) {
        guard !batch.isEmpty else { return }
        turns.gaveBack(batch.count, batch.lane)
        guard held.notePutBack(batch.job) else { return prepend([batch]) }
        counts[batch.lane.rank] += batch.count
        putInFront([batch])
    }

    /// Removes and returns the returned batches of all lanes.
    package mutating func takeTail() -> [Batch] {
        let taken = lanes.indices.flatMap { lanes[$0].takeTail() }
        discount(taken)
        return taken
    }

    /// Returns the waiting work of a job. Costs O(*n*) in the returned batches and those to be announced.
    package func batches(of job: JobID) -> [Batch] {
        unannounced.filter { $0.job == job } + lanes.flatMap { $0.batches(of: job) } + held.batches(of: job)
    }

    /// Removes the waiting work of a job and returns it. Ends its hold.
    package mutating func remove(_ job: JobID) -> [Batch] {
        let apart = held.remove(job)
        let unsent = unannounced.filter { $0.job == job }
        untoldCount -= unannounced.suffix(untoldCount).count { $0.job == job }
        unannounced.removeAll { $0.job == job }
        unannouncedCount -= unsent.notificationCount
        let (tail, others) = removeFromLanes(job)
        let removed = tail + unsent + others
        discount(removed)
        return removed + apart
    }

    private mutating func removeFromLanes(_ job: JobID) -> (tail: [Batch], others: [Batch]) {
        var (tail, others) = ([Batch](), [Batch]())
        for rank in lanes.indices {
            let removed = lanes[rank].remove(job)
            tail += removed.tail
            others += removed.others
        }
        return (tail, others)
    }

    private mutating func discount(_ batches: [Batch]) {
        for batch in batches { counts[batch.lane.rank] -= batch.count }
    }

    private func mustAnnounce(_ batch: Batch) -> Bool {
        announces && batch.onDoubt == .report && !batch.isAnnounced
    }

    /// Returns the lanes that can supply notifications within this limit.
    private func giving(atMost limit: Int) -> LaneSet {
        LaneSet { !lanes[$0.rank].isEmpty && room(for: $0, of: limit) > 0 }
    }

    /// Returns how many notifications of `limit` a lane may take. Those that are being announced are already counted.
    private func room(for lane: Lane, of limit: Int) -> Int {
        if let first = lanes[lane.rank].tail.first, !mustAnnounce(first) { return limit }
        return limit - unannouncedCount
    }

    private mutating func takeNext(atMost limit: Int) -> Batch? {
        let giving = giving(atMost: limit)
        let favored = newest.isFavored ? newestTurn(of: giving) : nil
        guard let turn = favored?.turn ?? turns.next(of: giving) else { return nil }
        let rank = turn.lane.rank
        let before = lanes[rank].releasedCount
        let room = min(turn.limit, room(for: turn.lane, of: limit))
        let taken = newest.isFavored ? lanes[rank].takeFirst(room, of: favored?.job) : lanes[rank].takeFirst(room)
        newest.isFavored = false
        guard let batch = taken else { return nil }
        if lanes[rank].releasedCount < before { relieved.insert(batch.job) }
        turns.took(batch.count, turn.lane, of: giving)
        return batch
    }

    /// Returns the job that was added last and its turn; `nil` if it has no work that may be taken.
    private func newestTurn(of giving: LaneSet) -> (job: JobID, turn: LaneTurns.Turn)? {
        guard let job = newest.job, let lane = Lane.allCases.first(where: { lanes[$0.rank].hasWork(of: job) }),
            giving.contains(lane)
        else { return nil }
        return (job, LaneTurns.Turn(lane: lane, limit: .max))
    }

    private mutating func putInFront(_ batches: [Batch]) {
        guard let first = batches.first else { return }
        if batches.allSatisfy({ $0.lane == first.lane }) { return lanes[first.lane.rank].prepend(batches) }
        for lane in Lane.allCases { lanes[lane.rank].prepend(batches.filter { $0.lane == lane }) }
    }
}

// Jobs on hold.
extension WorkQueue {
    /// Whether a job is on hold.
    package func isOnHold(_ job: JobID) -> Bool { held.contains(job) }

    /// The pause of a job's hold; `nil` if it is not on hold.
    package func holdPause(of job: JobID) -> Duration? { held.pause(of: job) }

    /// Whether notifications of jobs on hold are kept apart.
    package var hasHeldWork: Bool { held.hasWork }

    /// When the first job on hold may ask again.
    package var nextAsk: Moment? { held.nextAsk }

    /// Keeps a notification that was refused as if the app were at fault, and puts its job on hold.
    ///
    /// - Parameters:
    ///   - one: The notification: a batch of one.
    ///   - now: The current time.
    ///   - pause: The pause after a number of refusals.
    /// - Returns: Whether the job is at fault and not the app, because other jobs were accepted since its first refusal;
    ///   `nil` if the job has been on hold since before the notification was answered.
    package mutating func hold(_ one: Batch, at now: Moment, pause: (Int) -> Duration) -> Bool? {
        let isOwnFault = held.refuse(one.job, at: now, pause: pause)
        if isOwnFault != nil { newest.isFavored = !held.refusalTurn.isMultiple(of: 2) }
        let (tail, others) = removeFromLanes(one.job)
        discount(tail + others)
        for batch in tail + others + [one] { _ = keepsApart(batch) }
        return isOwnFault
    }

    /// Notes an outcome. Any answer that does not blame the app ends the hold of its job.
    package mutating func noteOutcome(_ settlement: Settlement) {
        guard !held.isEmpty else { return }
        let job = settlement.batch.job
        switch settlement.outcome {
        case .accepted:
            newest.isFavored = false
            held.noteAcceptance(besides: job)
            lift(job)
        case .rejected: lift(job)
        case .expired, .unsent: if held.count(of: job) == 0 { lift(job) } else { held.noteUnsent(job) }
        case .unknown: if held.count(of: job) == 0 { lift(job) }
        }
    }

    /// Forgets how often jobs on hold were refused, and lets all of them ask at the next chance.
    package mutating func startOver() { held.startOver() }

    /// Lets the jobs whose pause has ended ask again, each with one notification. Returns whether there are any.
    package mutating func ask(at now: Moment) -> Bool {
        let asking = held.ask(at: now)
        for batch in asking { putBackHeld(batch) }
        return !asking.isEmpty
    }

    /// Lets the job ask again whose last refusal is the longest ago.
    ///
    /// - Returns: Whether there is one.
    package mutating func askOne(at now: Moment) -> Bool {
        guard let batch = held.askOne(at: now) else { return false }
        putBackHeld(batch)
        return true
    }

    /// Ends the pauses of all jobs on hold.
    package mutating func hurry(at now: Moment) { held.hurry(at: now) }

    private mutating func lift(_ job: JobID) {
        for batch in held.remove(job) { putBackHeld(batch) }
    }

    private mutating func putBackHeld(_ batch: Batch) {
        relieved.insert(batch.job)
        lanes[batch.lane.rank].append(batch)
        counts[batch.lane.rank] += batch.count
    }

    /// Keeps a batch apart if its job is on hold. Returns whether it is.
    private mutating func keepsApart(_ batch: Batch) -> Bool {
        guard !held.isEmpty, held.contains(batch.job) else { return false }
        guard !batch.isEmpty else { return true }
        var batch = batch
        withdraw(&batch)
        relieved.insert(batch.job)
        return held.keep(batch)
    }
}
