import PushModel

/// The state that a journal's records describe, applied one after another; the same for writing and reading.
struct JournalState: Sendable {
    /// A job being carried forward, complete once its checkpoint has been applied.
    private struct CarriedJob: Sendable {
        var job: JournalJob
        var recordCount = 0

        mutating func change(_ change: (inout JournalJob) -> Void) {
            change(&job)
            recordCount += 1
        }
    }

    /// The journal space of an app's live jobs.
    struct Usage: Hashable, Sendable {
        /// An upper bound of the bytes for writing all of them again.
        var byteCount = 0
        var jobCount = 0
    }

    private(set) var jobs: [JobID: JournalJob] = [:]
    /// Jobs that have records but no header.
    private(set) var orphans: Set<JobID> = []
    /// The newest publication of each app, with the position of its record.
    private(set) var publications: [String: (publication: JournalPublication, position: JournalPosition)] = [:]
    /// The suspicions against files, with the positions of their records.
    private(set) var suspects: [JournalSubject: (suspicion: JournalSuspicion, position: JournalPosition)] = [:]
    /// The files being read, with the positions of their records.
    private(set) var starts: [JournalSubject: JournalPosition] = [:]
    private(set) var isStopped = true
    /// An upper bound of the bytes for writing every live job again.
    private(set) var liveByteCount = 0
    /// The same by app. Contains only apps with live jobs.
    private(set) var usage: [String: Usage] = [:]
    /// The position of the record of a loss, if there is one.
    private(set) var lossPosition: JournalPosition?
    private var isDistrusted = false
    private var carries: [JobID: CarriedJob] = [:]
    /// The most bytes for the runs of a job's rejected and expired notifications.
    private let scatterByteLimit: Int

    init(_ layout: JournalLayout) {
        scatterByteLimit = layout.liveByteLimit / 8
    }

    mutating func apply(_ entry: JournalEntry) {
        apply(entry.record, isCarried: entry.isCarried, at: entry.place)
    }

    /// Applies a record at its place. The writer has no entry, which would be another copy of the record.
    mutating func apply(_ record: JournalRecord, isCarried: Bool, at place: JournalPlace) {
        let position = place.position
        if case .begun = record { return beginRun() }
        // A sync mark does not show how the daemon ended.
        if case .synced = record { return }
        isStopped = if case .stopped = record { true } else { false }
        switch record {
        case .header(let header): announce(header, isCarried: isCarried, at: place)
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
            if isCarried {
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
            if !suspects.isEmpty { suspects[subject] = nil }
        case .suspect(let subject, let suspicion): suspects[subject] = (suspicion, position)
        case .distrusted:
            if isCarried { isDistrusted = true } else { distrust() }
            lossPosition = position
        case .begun, .stopped, .end, .synced: break
        }
    }

    /// Applies the beginning of a daemon: if the previous one died, each file it was reading becomes suspect.
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

    /// Whether damage lost records. A job without a header is evidence of that, too. If so, it is unknown how much was
    /// sent of a file in `work/` that has no records.
    var hasLost: Bool { isDistrusted || !orphans.isEmpty }

    /// Marks part of the journal as lost: every live job may be missing records.
    mutating func distrust() {
        isDistrusted = true
        for index in jobs.indices { jobs.values[index].isDamaged = true }
    }

    /// Withdraws `distrust()`, unless a record confirms the loss.
    mutating func trust() {
        isDistrusted = lossPosition != nil
    }

    /// Returns the records of a region that are still valid and belong to no job.
    func records(of epoch: UInt64) -> [JournalRecord] {
        suspects.filter { $0.value.position.epoch == epoch }.map { .suspect($0.key, $0.value.suspicion) }
            + starts.filter { $0.value.epoch == epoch }.map { .start($0.key) }
            + publications.values.filter { $0.position.epoch == epoch }.map { .published($0.publication) }
            + (lossPosition?.epoch == epoch ? [.distrusted] : [])
    }

    private mutating func announce(_ header: JournalHeader, isCarried: Bool, at place: JournalPlace) {
        let id = header.facts.id
        guard !isCarried else {
            carries[id] = CarriedJob(job: .carried(header, at: place))
            return
        }
        insert(JournalJob(header, at: place))
        acquit(header.facts)
    }

    /// Clears the suspicion against a file: the daemon survived reading it.
    private mutating func acquit(_ facts: JournalHeader.Facts) {
        guard !starts.isEmpty || !suspects.isEmpty else { return }
        let isMeant = { (subject: JournalSubject) in
            subject.app == facts.app && subject.name == facts.name && subject.device == facts.device
                && subject.inode == facts.inode
        }
        while let subject = starts.keys.first(where: isMeant) { starts[subject] = nil }
        while let subject = suspects.keys.first(where: isMeant) { suspects[subject] = nil }
    }

    /// Changes a live job in place. Every result passes through here, so nothing is copied.
    private mutating func update(_ id: JobID, _ change: (inout JournalJob) -> Void) {
        guard let index = jobs.index(forKey: id) else {
            orphans.insert(id)
            return
        }
        // The job tells its app while it is changed: to read it would copy the whole job.
        let (app, usage) = jobs.values[index].update(change)
        charge(app, usage)
    }

    /// Records a change in the journal space of an app's live jobs.
    private mutating func charge(_ app: String, _ change: Usage) {
        guard change != Usage() else { return }
        liveByteCount += change.byteCount
        guard let place = usage.index(forKey: app) else { return usage[app] = change }
        usage.values[place].byteCount += change.byteCount
        usage.values[place].jobCount += change.jobCount
        if usage.values[place].jobCount == 0 { usage.remove(at: place) }
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
        insert(carry.job)
    }

    private mutating func publish(_ publication: JournalPublication, at position: JournalPosition) {
        publications[publication.app] = (publication, position)
        // Advance the index by hand: a loop over `indices` would retain the table, and each change would copy all of it.
        var index = jobs.startIndex
        while index != jobs.endIndex {
            if jobs.values[index].facts.app == publication.app {
                charge(publication.app, jobs.values[index].update { $0.markTold(publication) }.usage)
            }
            jobs.formIndex(after: &index)
        }
    }

    private mutating func insert(_ job: JournalJob) {
        remove(job.facts.id)
        jobs[job.facts.id] = job
        charge(job.facts.app, job.usage)
    }

    private mutating func remove(_ id: JobID) {
        if !orphans.isEmpty { orphans.remove(id) }
        guard let job = jobs.removeValue(forKey: id) else { return }
        charge(job.facts.app, JournalState.Usage() - job.usage)
    }
}

extension JournalJob {
    /// The job's space in the journal.
    fileprivate var usage: JournalState.Usage {
        JournalState.Usage(byteCount: carriedByteCount, jobCount: 1)
    }

    /// Changes the job in place.
    ///
    /// - Returns: Its app, and the increase in its journal space.
    fileprivate mutating func update(
        _ change: (inout JournalJob) -> Void
    ) -> (app: String, usage: JournalState.Usage) {
        let before = usage
        change(&self)
        return (facts.app, usage - before)
    }
}

extension JournalState.Usage {
    fileprivate static func - (left: Self, right: Self) -> Self {
        JournalState.Usage(
            byteCount: left.byteCount - right.byteCount, jobCount: left.jobCount - right.jobCount)
    }
}
