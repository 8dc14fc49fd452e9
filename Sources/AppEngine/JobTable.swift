import JobFormat
import JobOperations
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore

/// The jobs of an app that are under way: their memory, the order in which they are read, and the batches to hand out
/// again.
final class JobTable {
    /// The limits of jobs under way, of jobs open for reading, and of bytes of documents in memory. At any of them no
    /// further job is taken; the others wait in `new/`.
    static let capacityLimits = JobCapacity.Limits(jobCount: 10_000, readerCount: 256, byteCount: 128 << 20)
    /// How many notifications may back off before jobs rest.
    static let pausedLimits = ReadingTurns.Limits(total: 200_000, floor: 256)

    private let context: AppContext
    private let duplicates: DuplicateGuard
    /// See `halted`.
    private var haltedIDs: Set<JobID> = []
    /// Signalled when another job may be taken.
    private let intakeWakeup: Wakeup
    /// Signalled when a job can be read further, by lane.
    private let wakeups: [Wakeup]
    private var jobs: [JobID: ActiveJob] = [:]
    /// The resources in use by jobs, and whether there is room for more.
    private var capacity = JobCapacity(JobTable.capacityLimits)
    /// Jobs that have recipients to hand out.
    private var readable = ReadingTurns(JobTable.pausedLimits)
    /// Batches taken back from the gateway that are to be handed out again.
    private var freed = FreedBatches()
    /// Jobs that have ended, for late corrections.
    private var recent = RecentJobs()
    /// The jobs that the gateway refuses or refused as if the app were at fault.
    var refusals: [JobID: GatewayRefusal] = [:]
    /// When the first job's time is up, at the earliest.
    private(set) var nextGiveUp: Moment?

    init(_ context: AppContext, _ duplicates: DuplicateGuard, orSignal intakeWakeup: Wakeup) {
        (self.context, self.duplicates, self.intakeWakeup) = (context, duplicates, intakeWakeup)
        wakeups = Lane.allCases.map { _ in context.makeTaskWakeup() }
    }

    // MARK: Jobs

    /// A job that is under way.
    subscript(id: JobID) -> ActiveJob? {
        context.assertOwnThread()
        return jobs[id]
    }

    /// All jobs, in no particular order.
    var all: Dictionary<JobID, ActiveJob>.Values { jobs.values }

    /// The number of jobs.
    var count: Int { jobs.count }

    /// Whether there are no jobs.
    var isEmpty: Bool { jobs.isEmpty }

    /// Whether there is room for another job of a lane, in addition to those about to be claimed.
    func hasPlace(for lane: Lane, pending: Int) -> Bool { capacity.hasRoom(for: lane, pending: pending) }

    /// Adds a job whose file is open.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - byteCount: How many bytes of its file are in memory.
    func begin(_ job: ActiveJob, heldByteCount byteCount: Int) {
        context.assertOwnThread()
        capacity.begin(job.lane, byteCount: byteCount)
        jobs[job.claimed.id] = job
        duplicates.beginTurn(job.summary)
        let giveUpAt = job.summary.header.giveUpAt
        nextGiveUp = nextGiveUp.map { min($0, giveUpAt) } ?? giveUpAt
    }

    /// Closes a job's file, and stops reading it. Another file may be opened instead.
    func closeSource(of job: ActiveJob) {
        guard let source = job.source else { return }
        job.source = nil
        if job.handedOutCount < job.summary.recipientCount { rest(job.claimed.id) }
        capacity.close(job.lane, byteCount: source.heldByteCount)
        intakeWakeup.signal()
    }

    /// Removes a job that has ended, is held, or is not ours any more.
    func end(_ job: ActiveJob) {
        let id = job.claimed.id
        closeSource(of: job)
        (jobs[id], refusals[id]) = (nil, nil)
        haltedIDs.remove(id)
        capacity.end(job.lane)
        duplicates.endTurn(job.summary)
        recent.add(job.identity)
        if context.lifecycle.isDraining { intakeWakeup.signal() }
    }

    /// The feedback names of a job that ended recently; `nil` for other jobs.
    func recentIdentity(of id: JobID) -> JobIdentity? { recent[id] }

    /// Returns the jobs whose time is up. Every call returns a late job again until it has ended or is to be held.
    func late(at now: Moment) -> [ActiveJob] {
        guard let nextGiveUp, nextGiveUp <= now else { return [] }
        let active = jobs.values.filter { !$0.machine.isOver && !$0.machine.isDraining }
        self.nextGiveUp = active.map(\.summary.header.giveUpAt).min()
        return active.filter { $0.summary.header.giveUpAt <= now }
    }

    /// Notes that nothing more of a job is handed out, because it is held or was ended.
    func halt(_ job: ActiveJob) { haltedIDs.insert(job.claimed.id) }

    /// The jobs that were halted and of which something is under way, in the order of their ids. What comes back of them from
    /// the gateway is not sent again.
    var halted: [ActiveJob] {
        haltedIDs.compactMap { jobs[$0] }.filter { !$0.machine.isOver }
            .sorted { $0.claimed.id.bits < $1.claimed.id.bits }
    }

    /// Whether any job is to be held once nothing of it is on a connection. Costs O(*n*) in the number of halted jobs.
    var hasDraining: Bool { haltedIDs.contains { jobs[$0]?.machine.isDraining == true } }

    /// Whether any halted job ends. Costs the same.
    var hasEnding: Bool { haltedIDs.contains { jobs[$0]?.machine.ending != nil } }

    // MARK: Turns

    /// Whether no job can be read further and no batch is to be handed out again.
    var hasNothingToHandOut: Bool { readable.isEmpty && freed.isEmpty }

    /// Whether no job of a lane can be read further.
    func isResting(_ lane: Lane) -> Bool { readable.isEmpty(lane) }

    /// Allows a job's recipients to be handed out, after those of other jobs.
    func makeReadable(_ job: ActiveJob) {
        askAgain(job)
        ring(job.lane)
    }

    /// Does the same for a job that has just had its turn.
    func askAgain(_ job: ActiveJob) { readable.ask(job.claimed.id, in: job.lane) }

    /// Returns the next job of a lane. It must ask again for another turn.
    func next(of lane: Lane) -> ActiveJob? {
        while let id = readable.next(of: lane) {
            if let job = jobs[id] { return job }
        }
        return nil
    }

    /// Stops reading a job.
    func rest(_ id: JobID) { readable.removeAll { $0 == id } }

    /// Stops reading all jobs.
    func restAll() { readable.removeAll() }

    /// Records how many notifications back off, by job. Jobs with too many rest, and rested ones may become readable.
    func note(paused counts: [JobID: Int]) {
        for (id, count) in counts {
            let woken = readable.note(count, of: id)
            for lane in Lane.allCases where woken.contains(lane) { ring(lane) }
        }
    }

    // MARK: Batches taken back

    /// Hands batches that were taken back from the gateway out again.
    func handOutAgain(_ batches: [Batch]) {
        guard !batches.isEmpty else { return }
        freed.prepend(batches)
        signalAll()
    }

    /// Keeps batches that could not be submitted because the app stops.
    func keep(_ batches: [Batch]) { freed.prepend(batches) }

    /// Removes and returns batches of a lane to hand out again, until they have `limit` notifications.
    func takeFreed(_ lane: Lane, until limit: Int) -> [Batch] { freed.removeFirst(of: lane, until: limit) }

    /// Whether any batch of a lane is to be handed out again.
    func hasFreed(_ lane: Lane) -> Bool { !freed.isEmpty(lane) }

    /// The batches of a job to hand out again. Costs O(*n*) in the number of all such batches.
    func freedBatches(of id: JobID) -> [Batch] { freed.batches(of: id) }

    /// Removes and returns the batches of a job to hand out again. Costs the same.
    func removeFreed(_ id: JobID) -> [Batch] { freed.remove(id) }

    // MARK: Bells

    /// The wakeup that is rung when a job of a lane can be read further.
    func wakeup(_ lane: Lane) -> Wakeup { wakeups[lane.rank] }

    private func ring(_ lane: Lane) { wakeups[lane.rank].signal() }

    /// Wakes all pumps.
    func signalAll() {
        for wakeup in wakeups { wakeup.signal() }
    }
}
