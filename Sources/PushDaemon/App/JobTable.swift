import APNSGateway
import APNSModel
import LinuxIO
import SpoolModel
import SpoolStore

/// The jobs of an app that are under way: what they keep in memory, whose turn it is to be read, and what is to be handed out
/// again.
final class JobTable {
    /// How many jobs may be under way, and open for reading, and how many bytes of documents in memory, before no further
    /// job is taken; the rest waits in `new/`.
    static let placeLimits = Places.Limits(jobCount: 10_000, readerCount: 256, byteCount: 128 << 20)
    /// How much may pause in memory before jobs rest.
    static let pausedLimits = ReadingTurns.Limits(total: 200_000, floor: 256)

    private let duplicates: DuplicateGuard
    /// Rung when another job may be taken.
    private let intakeBell: Bell
    /// Rung when a job can be read on, by lane.
    private let bells: [Bell]
    private var jobs: [JobID: ActiveJob] = [:]
    /// What jobs keep in memory, and whether there is room for more.
    private var places = Places(JobTable.placeLimits)
    /// Jobs that have recipients to hand out.
    private var readable = ReadingTurns(JobTable.pausedLimits)
    /// What was taken back from the gateway and is to be handed out again.
    private var freed = FreedBatches()
    /// Jobs that are over, for corrections that come late.
    private var recent = RecentJobs()
    /// When the first job's time is up, at the earliest.
    private(set) var nextGiveUp: Moment?

    init(_ context: AppContext, _ duplicates: DuplicateGuard, orRing intakeBell: Bell) {
        (self.duplicates, self.intakeBell) = (duplicates, intakeBell)
        bells = Lane.allCases.map { _ in Bell(on: context.daemon.reactor) }
    }

    // MARK: Jobs

    /// A job that is under way.
    subscript(id: JobID) -> ActiveJob? { jobs[id] }

    /// All jobs, in no order.
    var all: Dictionary<JobID, ActiveJob>.Values { jobs.values }

    /// How many there are.
    var count: Int { jobs.count }

    /// Whether there is none.
    var isEmpty: Bool { jobs.isEmpty }

    /// Whether there is a place for another job of a lane, beside so many that are about to be claimed.
    func hasPlace(for lane: Lane, pending: Int) -> Bool { places.hasRoom(for: lane, pending: pending) }

    /// Adds a job whose file is open.
    ///
    /// - Parameters:
    ///   - job: The job.
    ///   - byteCount: How much of its file is in memory.
    func begin(_ job: ActiveJob, heldByteCount byteCount: Int) {
        places.begin(job.lane, byteCount: byteCount)
        jobs[job.claimed.id] = job
        duplicates.beginTurn(job.summary)
        let giveUpAt = job.summary.header.giveUpAt
        nextGiveUp = nextGiveUp.map { min($0, giveUpAt) } ?? giveUpAt
    }

    /// Closes a job's file, which is not read on then; another may be opened instead.
    func closeSource(of id: JobID) {
        guard let job = jobs[id], let source = job.source else { return }
        job.source = nil
        if job.handedOutCount < job.summary.recipientCount { rest(id) }
        places.close(job.lane, byteCount: source.heldByteCount)
        intakeBell.ring()
    }

    /// Removes a job that is over, held, or not ours any more.
    func end(_ job: ActiveJob) {
        let id = job.claimed.id
        closeSource(of: id)
        jobs[id] = nil
        places.end(job.lane)
        duplicates.endTurn(job.summary)
        recent.add(job.identity)
    }

    /// What names a job in feedback that is over, unless it is over for long.
    func recentIdentity(of id: JobID) -> JobIdentity? { recent[id] }

    /// The jobs whose time is up. They are told once: what is not over then has an ending.
    func late(at now: Moment) -> [ActiveJob] {
        guard let nextGiveUp, nextGiveUp <= now else { return [] }
        let active = jobs.values.filter { !$0.machine.isOver && $0.flying == nil }
        self.nextGiveUp = active.map(\.summary.header.giveUpAt).min()
        return active.filter { $0.summary.header.giveUpAt <= now }
    }

    // MARK: Turns

    /// Whether no job can be read on, and nothing is to be handed out again.
    var hasNothingToHandOut: Bool { readable.isEmpty && freed.isEmpty }

    /// Whether no job of a lane can be read on.
    func isResting(_ lane: Lane) -> Bool { readable.isEmpty(lane) }

    /// Lets a job's recipients be handed out, behind those of others.
    func makeReadable(_ job: ActiveJob) {
        askAgain(job)
        ring(job.lane)
    }

    /// The same of a job that has just had its turn.
    func askAgain(_ job: ActiveJob) { readable.ask(job.claimed.id, in: job.lane) }

    /// The job of a lane whose turn it is; it has none any more.
    func next(of lane: Lane) -> ActiveJob? {
        while let id = readable.next(of: lane) {
            if let job = jobs[id] { return job }
        }
        return nil
    }

    /// Has a job read no further.
    func rest(_ id: JobID) { readable.removeAll { $0 == id } }

    /// Has no job read any further.
    func restAll() { readable.removeAll() }

    /// Takes how many notifications of jobs pause: jobs with too many rest, and some may have rested long enough.
    func note(paused counts: [JobID: Int]) {
        for (id, count) in counts {
            let woken = readable.note(count, of: id)
            for lane in Lane.allCases where woken.contains(lane) { ring(lane) }
        }
    }

    // MARK: What was taken back

    /// Hands out once more what was taken back from the gateway.
    func handOutAgain(_ batches: [Batch]) {
        guard !batches.isEmpty else { return }
        freed.prepend(batches)
        ringAll()
    }

    /// Keeps what could not be handed over because the app ends.
    func keep(_ batches: [Batch]) { freed.prepend(batches) }

    /// Takes what is to be handed out again of a lane, so many notifications or a batch more.
    func takeFreed(_ lane: Lane, until limit: Int) -> [Batch] { freed.take(lane, until: limit) }

    /// Whether something of a lane is to be handed out again.
    func hasFreed(_ lane: Lane) -> Bool { !freed.isEmpty(lane) }

    /// What is to be handed out again of a job. Costs O(*n*) in all that there is.
    func freedBatches(of id: JobID) -> [Batch] { freed.batches(of: id) }

    /// Removes what is to be handed out again of a job, and returns it. Costs as much.
    func removeFreed(_ id: JobID) -> [Batch] { freed.remove(id) }

    // MARK: Bells

    /// The bell that is rung when a job of a lane can be read on.
    func bell(_ lane: Lane) -> Bell { bells[lane.rank] }

    private func ring(_ lane: Lane) { bells[lane.rank].ring() }

    /// Has those go on who wait to read.
    func ringAll() {
        for bell in bells { bell.ring() }
    }
}
