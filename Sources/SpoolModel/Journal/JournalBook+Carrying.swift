package import APNSModel

extension JournalBook {
    /// How many regions all live jobs would fill.
    private var liveRegionCount: Int {
        (state.liveByteCount + layout.usableByteCount - 1) / layout.usableByteCount
    }

    /// How many bytes may be in the header of the next job that an app claims; may be negative.
    package func claimRoom(of app: String) -> Int {
        guard window.freeCount > Self.reserve else { return 0 }
        return room(of: app, for: .claims) - Self.claimByteCount
    }

    /// What a claim takes beside its header.
    static var claimByteCount: Int { 3 * JournalJob.fixedByteCount }

    /// The jobs that must be carried forward now, so that their region can be used again.
    ///
    /// Ask again after they are carried, until there are none. None are named when it would free nothing.
    package var jobsToCarry: [JobID] {
        let liveRegionCount = liveRegionCount
        guard window.freeCount < liveRegionCount + JournalLayout.margin, window.regions.count > liveRegionCount + 2,
            let oldest = window.regions.first
        else { return [] }
        return state.jobs.filter { $0.value.position.epoch == oldest.epoch }.map(\.key)
    }

    /// Writes all that is known of a job once more. Its old region is not overwritten before these writes are durable:
    /// the write that does so says that it needs a sync before.
    ///
    /// - Parameters:
    ///   - id: The job; nothing is done if it is not live.
    ///   - header: Its header, read from the journal.
    /// - Throws: `JournalFull`; the old records stand then.
    package mutating func carry(_ id: JobID, header: JournalHeader) throws(JournalFull) {
        guard let job = state.jobs[id] else { return }
        try check(byteCount: job.carriedByteCount, keeping: 0)
        let records = records(of: job)
        try write(.header(header), of: id, isCarried: true, keeping: 0)
        for record in records { try write(record, of: id, isCarried: true, keeping: 0) }
        var checkpoint = JournalCheckpoint(
            recordCount: records.count, isClaimed: job.isClaimed, isFinalTold: job.isFinalTold,
            isDamaged: job.isDamaged, tally: job.tally)
        (checkpoint.finalOrigin, checkpoint.isAbridged) = (job.finalPosition, job.isAbridged)
        try write(.checkpoint(id, checkpoint), of: id, isCarried: true, keeping: 0)
        if window.hasIdle { tidy() }
    }

    /// Writes a job of which something is known when it is claimed: it was parked, or is tried again.
    ///
    /// In the file it looks like one that is carried forward, and is none before its last record is there.
    ///
    /// - Parameters:
    ///   - header: Its header. The job must not be live.
    ///   - progress: What is left of it, and what became of the rest.
    /// - Returns: The position of its last record.
    /// - Throws: `JournalFull`; nothing was written then.
    @discardableResult
    package mutating func adopt(
        _ header: JournalHeader, _ progress: JournalProgress
    ) throws(JournalFull) -> JournalPosition {
        let id = header.facts.id
        precondition(state.jobs[id] == nil, "a live job is not adopted")
        var bytes: [UInt8] = []
        JournalEntry.append(.header(header), isCarried: true, to: &bytes)
        guard bytes.count <= layout.recordByteLimit else { throw .recordTooLong }
        let byteCount = bytes.count + 256 + JournalJob.byteCount(ofRuns: progress.runCount)
        try check(byteCount: byteCount, keeping: Self.reserve)
        let records = records(of: id, progress.sets)
        try write(.header(header), isCarried: true, keeping: 0)
        for record in records { try write(record, isCarried: true, keeping: 0) }
        let checkpoint = JournalCheckpoint(
            recordCount: records.count, isClaimed: false, isFinalTold: false, isDamaged: false, tally: progress.tally)
        let position = try write(.checkpoint(id, checkpoint), isCarried: true, keeping: 0)
        noteAdopted(id)
        if window.hasIdle { tidy() }
        return position
    }

    /// What stands between a carried header and its checkpoint.
    private func records(of job: JournalJob) -> [JournalRecord] {
        var sets = job.progress.sets
        sets.append((kind: .intended, runs: job.intents))
        var records = records(of: job.facts.id, sets)
        records += job.untoldResults.map { .untold(job.facts.id, $0) }
        if let final = job.final { records.append(.final(job.facts.id, final)) }
        return records
    }

    private func records(
        of id: JobID, _ sets: [(kind: JournalRuns.Kind, runs: IndexRuns)]
    ) -> [JournalRecord] {
        sets.flatMap { set in
            parts(of: set.runs.runs).map { JournalRecord.runs(id, JournalRuns(kind: set.kind, ranges: $0)) }
        }
    }
}
