package import PushModel

extension JournalBook {
    /// The number of regions that all live jobs would fill.
    private var liveRegionCount: Int {
        (state.liveByteCount + layout.usableByteCount - 1) / layout.usableByteCount
    }

    /// Returns the most bytes for the header of the next job that an app claims; may be negative.
    package func claimRoom(of app: String) -> Int {
        guard window.freeCount > Self.reserve else { return 0 }
        return room(of: app, for: .claims) - Self.claimByteCount
    }

    /// The bytes of a claim other than its header.
    static var claimByteCount: Int { 3 * JournalJob.fixedByteCount }

    /// The jobs to carry forward now, so that their region can be reused.
    ///
    /// After carrying them, ask again until the list is empty. It is empty if carrying would free nothing.
    package var jobsToCarry: [JobID] {
        let liveRegionCount = liveRegionCount
        guard window.freeCount < liveRegionCount + JournalLayout.margin, window.regions.count > liveRegionCount + 2,
            let oldest = window.regions.first
        else { return [] }
        return state.jobs.filter { $0.value.position.epoch == oldest.epoch }.map(\.key)
    }

    /// Writes the full state of a job again. Its old region is not overwritten before these writes are durable: the
    /// write that overwrites it requires a sync first.
    ///
    /// - Parameters:
    ///   - id: The job; does nothing if it is not live.
    ///   - header: Its header, read from the journal.
    /// - Throws: `JournalFull`; the old records remain valid.
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

    /// Writes a job whose state is known when it is claimed: it was held, or is retried.
    ///
    /// In the file it looks like a carried job, and does not exist until its last record is there.
    ///
    /// - Parameters:
    ///   - header: Its header. The job must not be live.
    ///   - progress: Its remaining notifications, and the outcomes of the others.
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

    /// Returns the records between a carried header and its checkpoint.
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
