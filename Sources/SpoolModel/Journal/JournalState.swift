import APNSModel

/// What a journal's records say, one after another: the same for who writes and who reads them.
struct JournalState: Sendable {
    /// A job on its way forward, whole once its checkpoint has come.
    private struct Carry: Sendable {
        var job: JournalJob
        var recordCount = 0

        mutating func change(_ change: (inout JournalJob) -> Void) {
            change(&job)
            recordCount += 1
        }
    }

    /// What an app's live jobs take.
    struct Usage: Hashable, Sendable {
        /// An upper bound of what it takes to write all of them once more.
        var byteCount = 0
        var jobCount = 0
    }

    private(set) var jobs: [JobID: JournalJob] = [:]
    /// Jobs of which something is known, but no header.
    private(set) var orphans: Set<JobID> = []
    /// The newest publication of every app, and where it is recorded.
    private(set) var publications: [String: (publication: JournalPublication, position: JournalPosition)] = [:]
    /// What is known against files, and where it is recorded.
    private(set) var suspects: [JournalSubject: (suspicion: JournalSuspicion, position: JournalPosition)] = [:]
    /// The files that are being read, and where that is recorded.
    private(set) var starts: [JournalSubject: JournalPosition] = [:]
    private(set) var isStopped = true
    /// An upper bound of what it takes to write every live job once more.
    private(set) var liveByteCount = 0
    /// The same by app; those without live jobs are not there.
    private(set) var usage: [String: Usage] = [:]
    /// Where it is recorded that records were lost, if it is.
    private(set) var lossPosition: JournalPosition?
    private var isDistrusted = false
    private var carries: [JobID: Carry] = [:]
    /// How many bytes the runs of what was rejected of a job, and of what expired, may take.
    private let scatterByteLimit: Int

    init(_ layout: JournalLayout) {
        scatterByteLimit = layout.liveByteLimit / 8
    }

    mutating func apply(_ entry: JournalEntry) {
        let position = entry.position
        if case .begun = entry.record { return beginRun() }
        // A proof of a sync says nothing of how the daemon ended.
        if case .synced = entry.record { return }
        isStopped = entry.record == .stopped
        switch entry.record {
        case .header(let header): announce(header, entry)
        case .claimed(let id): update(id) { $0.isClaimed = true }
        case .intent(let id, let ranges): update(id) { $0.intend(ranges) }
        case .result(let id, let result):
            let limit = scatterByteLimit
            update(id) {
                $0.apply(result, at: position)
                $0.abridge(to: limit)
            }
        case .reopened(let id, let ranges): update(id) { $0.reopen(ranges) }
        case .final(let id, let final):
            if entry.isCarried {
                carry(id) { $0.end(final, at: position) }
            } else {
                update(id) { $0.end(final, at: position) }
            }
        case .published(let publication): publish(publication, at: position)
        case .cleaned(let id): remove(id)
        case .runs(let id, let runs): carry(id) { $0.apply(runs) }
        case .untold(let id, let untold): carry(id) { $0.add(untold) }
        case .checkpoint(let id, let checkpoint): commit(id, checkpoint)
        case .start(let subject): starts[subject] = position
        case .ended(let subject):
            starts[subject] = nil
            suspects[subject] = nil
        case .suspect(let subject, let suspicion): suspects[subject] = (suspicion, position)
        case .distrusted:
            if entry.isCarried { isDistrusted = true } else { distrust() }
            lossPosition = position
        case .begun, .stopped, .end, .synced: break
        }
    }

    /// A daemon began: whether the one before it died, and over what.
    mutating func beginRun() {
        if !isStopped {
            for (subject, position) in starts {
                let known = suspects[subject]?.suspicion ?? JournalSuspicion(deathCount: 0, wasAlone: false)
                let suspicion = JournalSuspicion(
                    deathCount: known.deathCount + 1, wasAlone: known.wasAlone || starts.count == 1)
                suspects[subject] = (suspicion, position)
            }
        }
        starts = [:]
        carries = [:]
        isStopped = false
    }

    /// Whether records were lost by damage, as a job without a header proves, too: of files in `work/` that have none it is not
    /// known what was sent.
    var hasLost: Bool { isDistrusted || !orphans.isEmpty }

    /// Part of the journal is lost: every job that it may have told of is in doubt.
    mutating func distrust() {
        isDistrusted = true
        for index in jobs.indices { jobs.values[index].isDamaged = true }
    }

    /// Nothing was lost after all, unless a record says so.
    mutating func trust() {
        isDistrusted = lossPosition != nil
    }

    /// What the records of a region say that still counts and is no job's.
    func records(of epoch: UInt64) -> [JournalRecord] {
        suspects.filter { $0.value.position.epoch == epoch }.map { .suspect($0.key, $0.value.suspicion) }
            + starts.filter { $0.value.epoch == epoch }.map { .start($0.key) }
            + publications.values.filter { $0.position.epoch == epoch }.map { .published($0.publication) }
            + (lossPosition?.epoch == epoch ? [.distrusted] : [])
    }

    private mutating func announce(_ header: JournalHeader, _ entry: JournalEntry) {
        let id = header.facts.id
        guard !entry.isCarried else {
            carries[id] = Carry(job: .carried(header, at: entry.place))
            return
        }
        put(JournalJob(header, at: entry.place))
        acquit(header.facts)
    }

    /// Whoever read this file lives.
    private mutating func acquit(_ facts: JournalHeader.Facts) {
        guard !starts.isEmpty || !suspects.isEmpty else { return }
        let isMeant = { (subject: JournalSubject) in
            subject.app == facts.app && subject.name == facts.name && subject.device == facts.device
                && subject.inode == facts.inode
        }
        starts = starts.filter { !isMeant($0.key) }
        suspects = suspects.filter { !isMeant($0.key) }
    }

    /// Changes a live job in place: this is what every result comes through, so nothing is copied.
    private mutating func update(_ id: JobID, _ change: (inout JournalJob) -> Void) {
        guard let index = jobs.index(forKey: id) else {
            orphans.insert(id)
            return
        }
        charge(jobs.values[index].facts.app, jobs.values[index].update(change))
    }

    /// Notes that what an app's live jobs take has changed.
    private mutating func charge(_ app: String, _ change: Usage) {
        guard change != Usage() else { return }
        liveByteCount += change.byteCount
        var usage = usage[app] ?? Usage()
        usage.byteCount += change.byteCount
        usage.jobCount += change.jobCount
        self.usage[app] = usage.jobCount == 0 ? nil : usage
    }

    private mutating func carry(_ id: JobID, _ change: (inout JournalJob) -> Void) {
        guard carries[id] != nil else {
            if jobs[id] == nil { orphans.insert(id) }
            return
        }
        carries[id]?.change(change)
    }

    private mutating func commit(_ id: JobID, _ checkpoint: JournalCheckpoint) {
        guard var carry = carries.removeValue(forKey: id), carry.recordCount == checkpoint.recordCount else {
            if jobs[id] == nil { orphans.insert(id) }
            return
        }
        carry.job.apply(checkpoint)
        put(carry.job)
    }

    private mutating func publish(_ publication: JournalPublication, at position: JournalPosition) {
        publications[publication.app] = (publication, position)
        // Index by index: a loop over `indices` would hold the table, and each change would copy all of it.
        var index = jobs.startIndex
        while index != jobs.endIndex {
            if jobs.values[index].facts.app == publication.app {
                charge(publication.app, jobs.values[index].update { $0.markTold(publication) })
            }
            jobs.formIndex(after: &index)
        }
    }

    private mutating func put(_ job: JournalJob) {
        remove(job.facts.id)
        jobs[job.facts.id] = job
        charge(job.facts.app, job.usage)
    }

    private mutating func remove(_ id: JobID) {
        orphans.remove(id)
        guard let job = jobs.removeValue(forKey: id) else { return }
        charge(job.facts.app, JournalState.Usage() - job.usage)
    }
}

extension JournalJob {
    /// What it takes.
    fileprivate var usage: JournalState.Usage {
        JournalState.Usage(byteCount: carriedByteCount, jobCount: 1)
    }

    /// Changes it in place, and returns by how much it takes more.
    fileprivate mutating func update(_ change: (inout JournalJob) -> Void) -> JournalState.Usage {
        let before = usage
        change(&self)
        return usage - before
    }
}

extension JournalState.Usage {
    fileprivate static func - (left: Self, right: Self) -> Self {
        JournalState.Usage(
            byteCount: left.byteCount - right.byteCount, jobCount: left.jobCount - right.jobCount)
    }
}
