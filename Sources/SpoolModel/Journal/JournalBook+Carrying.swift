package import APNSModel

extension JournalBook {
    /// How many regions are kept free beyond what carrying every live job forward would take.
    private static let margin = 3

    /// How many regions all live jobs would fill.
    private var liveRegionCount: Int {
        (state.liveByteCount + usableByteCount - 1) / usableByteCount
    }

    /// How many bytes live jobs may have: so much less than half that there is always room to carry all of them forward.
    var liveByteLimit: Int {
        (layout.regionCount - Self.margin - 2) / 2 * usableByteCount
    }

    /// Whether another small job may be claimed.
    package var canAdmit: Bool { canAdmit(headerByteCount: JournalHeader.byteLimit) }

    /// Whether a job with that many bytes of content in its header may be claimed: live jobs fill less than half.
    package func canAdmit(headerByteCount: Int) -> Bool {
        window.freeCount > Self.reserve
            && state.liveByteCount + headerByteCount + 2 * JournalJob.fixedByteCount <= liveByteLimit
    }

    /// The jobs that must be carried forward now, so that their region can be used again; publish their lines before.
    ///
    /// Ask again after they are carried, until there are none. None are named when it would free nothing.
    package var jobsToCarry: [JobID] {
        let liveRegionCount = liveRegionCount
        guard window.freeCount < liveRegionCount + Self.margin, window.regions.count > liveRegionCount + 2,
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
        guard job.untoldThrough == nil else { throw .untold(id) }
        try check(byteCount: job.carriedByteCount, keeping: 0)
        let records = records(of: job)
        try write(.header(header), of: id, isCarried: true, keeping: 0)
        for record in records { try write(record, of: id, isCarried: true, keeping: 0) }
        let checkpoint = JournalCheckpoint(
            recordCount: records.count, isClaimed: job.isClaimed, isFinalTold: job.isFinalTold,
            isDamaged: job.isDamaged, tally: job.tally)
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
        let byteCount = bytes.count + JournalJob.byteCount(ofRuns: progress.runCount)
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
