import APNSModel

/// What a journal's records say, one after another: the same for who writes and who reads them.
struct JournalState: Sendable {
    /// A job on its way forward, whole once its checkpoint has come.
    private struct Carry: Sendable {
        var job: JournalJob
        var recordCount = 0
    }

    /// Whether results are kept whose lines are not known to be out.
    private(set) var keepsLines: Bool
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
    private var carries: [JobID: Carry] = [:]

    init(keepsLines: Bool) {
        self.keepsLines = keepsLines
    }

    mutating func apply(_ entry: JournalEntry) {
        let position = entry.position
        if case .begun = entry.record { return beginRun() }
        isStopped = entry.record == .stopped
        switch entry.record {
        case .header(let header): announce(header, entry)
        case .claimed(let id): update(id) { $0.isClaimed = true }
        case .intent(let id, let ranges): update(id) { $0.intend(ranges) }
        case .result(let id, let result):
            let keepsLines = keepsLines
            update(id) { $0.apply(result, at: position, keepingLine: keepsLines) }
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
        case .checkpoint(let id, let checkpoint): commit(id, checkpoint)
        case .start(let subject): starts[subject] = position
        case .ended(let subject):
            starts[subject] = nil
            suspects[subject] = nil
        case .suspect(let subject, let suspicion): suspects[subject] = (suspicion, position)
        case .begun, .stopped, .end: break
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

    /// Part of the journal is lost: every job that it may have told of is in doubt.
    mutating func distrust() {
        for index in jobs.indices { jobs.values[index].isDamaged = true }
    }

    /// The same for one who goes on writing: without the lines that were not told.
    var withoutLines: JournalState {
        var copy = self
        copy.keepsLines = false
        for index in copy.jobs.indices { copy.jobs.values[index].untoldResults = [] }
        return copy
    }

    /// What the records of a region say that still counts and is no job's.
    func records(of epoch: UInt64) -> [JournalRecord] {
        suspects.filter { $0.value.position.epoch == epoch }.map { .suspect($0.key, $0.value.suspicion) }
            + starts.filter { $0.value.epoch == epoch }.map { .start($0.key) }
            + publications.values.filter { $0.position.epoch == epoch }.map { .published($0.publication) }
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
        liveByteCount += jobs.values[index].update(change)
    }

    private mutating func carry(_ id: JobID, _ change: (inout JournalJob) -> Void) {
        guard carries[id] != nil else {
            if jobs[id] == nil { orphans.insert(id) }
            return
        }
        _ = carries[id]?.job.update(change)
        carries[id]?.recordCount += 1
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
                jobs.values[index].markTold(through: publication.through)
            }
            jobs.formIndex(after: &index)
        }
    }

    private mutating func put(_ job: JournalJob) {
        remove(job.facts.id)
        jobs[job.facts.id] = job
        liveByteCount += job.carriedByteCount
    }

    private mutating func remove(_ id: JobID) {
        orphans.remove(id)
        guard let job = jobs.removeValue(forKey: id) else { return }
        liveByteCount -= job.carriedByteCount
    }
}

extension JournalJob {
    /// Changes it in place, and returns by how much longer it is to write once more.
    fileprivate mutating func update(_ change: (inout JournalJob) -> Void) -> Int {
        let before = carriedByteCount
        change(&self)
        return carriedByteCount - before
    }
}
