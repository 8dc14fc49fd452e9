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

    /// What stands between a carried header and its checkpoint.
    private func records(of job: JournalJob) -> [JournalRecord] {
        let all: [(JournalRuns.Kind, IndexRuns)] = [
            (.remaining, job.remaining), (.rejected, job.rejected), (.expired, job.expired), (.unsent, job.unsent),
            (.unknown, job.unknown), (.intended, job.intents),
        ]
        let id = job.facts.id
        var records = all.flatMap { kind, runs in
            parts(of: runs.runs).map { JournalRecord.runs(id, JournalRuns(kind: kind, ranges: $0)) }
        }
        if let final = job.final { records.append(.final(id, final)) }
        return records
    }
}
