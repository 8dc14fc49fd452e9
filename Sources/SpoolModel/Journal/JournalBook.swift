package import APNSModel

/// Why a record cannot be written.
package enum JournalFull: Error, Hashable, Sendable {
    /// No region is free: carry jobs forward, or wait until some are cleaned.
    case noRegion
    /// The record is longer than any may be: a job of over 31 GiB.
    case recordTooLong
}

/// Bytes to write to the journal's file.
package struct JournalWrite: Hashable, Sendable {
    /// Where.
    package let offset: Int64
    /// What.
    package let bytes: [UInt8]
    /// Whether everything before it must be durable before it is written: it begins a region, and may overwrite what was
    /// carried forward out of it.
    package let needsSyncBefore: Bool
}

/// The writing side of a journal: turns records into bytes for the file, and knows what is live.
///
/// Holds no bytes of jobs, only records that were not taken for writing yet. Regions are used in turn; one is free when
/// no live job and nothing else that still counts is in it or in one before it.
package struct JournalBook: Sendable {
    /// How many free regions new jobs leave to those that are live, and those to what makes room: publishing, carrying
    /// forward and cleaning.
    static let reserve = 2
    static let liveReserve = 1

    /// How the file is divided.
    package let layout: JournalLayout
    private(set) var state: JournalState
    /// Which app may take how much of it.
    package private(set) var shares: JournalShares
    /// The regions in use.
    private(set) var window: JournalWindow
    private var output: JournalOutput
    private var scratch: [UInt8] = []
    /// Up to where it is known to be durable, if no record says so yet.
    private var durableEnd: JournalPosition?

    /// Goes on where the records of the newest region end, or begins one if it was ended or there is none.
    ///
    /// A start takes no region, however often the daemon dies. What a crash may have left behind the last record is not
    /// read again: the checksums of all that follows start from `salt` too.
    ///
    /// - Parameters:
    ///   - layout: How the file is divided.
    ///   - replay: What was read of it, finished; `nil` if it is new.
    ///   - salt: A random number, so that neither a region nor what follows in one is ever taken for what was lost there in
    ///     a crash.
    /// - Throws: `JournalFull` when the newest region was ended and no other is free, as only damage does: use a new file.
    package init(layout: JournalLayout, after replay: JournalReplay?, salt: UInt32) throws(JournalFull) {
        let state = replay?.state ?? JournalState(layout)
        var window = JournalWindow(regions: replay?.regions ?? [], regionCount: layout.regionCount)
        for job in state.jobs.values { window.add(1, at: job.position.epoch) }
        if let resumption = replay?.resumption {
            output = JournalOutput(resumption.head, at: resumption.end, layout: layout)
            if resumption.isHeadDamaged { output.repairHead() }
        } else {
            while window.hasIdle, state.records(of: window.regions[0].epoch).isEmpty { window.dropOldest() }
            guard window.freeCount > 0 else { throw .noRegion }
            let newest = window.regions.last?.epoch ?? 0
            let head = window.begin(epoch: newest + 2 + UInt64(salt), isFirstOfRun: true)
            output = JournalOutput(head, layout: layout)
        }
        (self.layout, self.state, self.window) = (layout, state, window)
        shares = JournalShares(byteLimit: layout.liveByteLimit)
        self.state.apply(output.begin(salt: salt))
        // Else nobody would know of what was lost, once this daemon has gone on in its place or come round to it.
        let hasLostEnd = replay?.hasLostEnd == true
        if hasLostEnd || state.hasLost && state.lossPosition == nil {
            if output.room < JournalEntry.shortestByteCount { tidy() }
            try write(.distrusted, isCarried: !hasLostEnd, keeping: 0)
        }
        tidy()
    }

    /// Where the next record goes, unless that begins a region.
    package var position: JournalPosition { output.position }

    /// Notes that all records before this position are durable; the next record is preceded by a proof of it.
    package mutating func noteDurable(through position: JournalPosition) {
        durableEnd = position
    }

    /// Gives each of these apps a share of the room that no other app can take.
    package mutating func share(among apps: Set<String>) {
        shares.apps = apps
    }

    /// How many bytes more an app's live jobs may take for a use; may be negative.
    package func room(of app: String, for use: JournalUse) -> Int {
        shares.room(of: app, for: use, usage: state.usage)
    }

    /// Whether an app's live jobs may take so many bytes more for a use. Costs nothing as long as the journal is not well filled.
    package func hasRoom(_ byteCount: Int, of app: String, for use: JournalUse) -> Bool {
        let (wanted, margin) = use == .claims ? (byteCount + Self.claimByteCount, Self.reserve) : (byteCount, -1)
        guard window.freeCount > margin else { return false }
        return shares.leastRoom(for: use, liveByteCount: state.liveByteCount) >= wanted
            || room(of: app, for: use) >= wanted
    }

    /// How many bytes an app's live jobs leave of its own share; negative if they take more.
    package func ownRoom(of app: String) -> Int {
        shares.ownByteCount - (state.usage[app]?.byteCount ?? 0)
    }

    /// What is known of a live job.
    package func job(_ id: JobID) -> JournalJob? {
        state.jobs[id]
    }

    /// The live jobs.
    package var liveJobs: [JobID] { Array(state.jobs.keys) }

    /// How the live jobs of an app ended that have. Costs a look at each live job.
    package func finals(of app: String) -> [JournalFinal] {
        state.jobs.values.compactMap { $0.facts.app == app ? $0.final : nil }
    }

    /// Writes a record. Of a job that is not live it says nothing, and is not written.
    ///
    /// - Returns: The position of the record, of the last one if it was split.
    /// - Throws: `JournalFull`; nothing was written then. Carry forward what `jobsToCarry` says and try again.
    @discardableResult
    package mutating func append(_ record: JournalRecord) throws(JournalFull) -> JournalPosition {
        defer { if window.hasIdle { tidy() } }
        switch record {
        case .header(let header): return try write(record, of: header.facts.id, keeping: Self.reserve)
        case .claimed(let id), .final(let id, _): return try write(record, of: id)
        case .intent(let id, let ranges): return try write(ranges, of: id) { .intent(id, $0) }
        case .reopened(let id, let ranges): return try write(ranges, of: id) { .reopened(id, $0) }
        case .result(let id, let result):
            guard result.ranges.count > rangeLimit else { return try write(record, of: id) }
            return try write(result.ranges, of: id) { part in
                .result(id, JournalResult(result.outcome, part, at: result.at, isCorrection: result.isCorrection))
            }
        case .cleaned(let id): return try write(record, of: id, keeping: 0)
        case .start, .ended, .suspect: return try write(record)
        case .published, .stopped: return try write(record, keeping: 0)
        case .runs, .untold, .checkpoint, .synced, .distrusted, .end, .begun: return output.position
        }
    }

    /// Takes what must be written to the file, in this order.
    package mutating func takeWrites() -> [JournalWrite] {
        output.take()
    }

    /// Where a record is in the file; `nil` if its region is not in use any more.
    package func fileOffset(of position: JournalPosition) -> Int64? {
        guard let region = window.regions.first(where: { $0.epoch == position.epoch }) else { return nil }
        return layout.offset(ofRegion: region.index) + Int64(position.offset)
    }

    /// How many ranges go into one record: as many as surely fit.
    private var rangeLimit: Int { max(1, layout.recordByteLimit / 16) }

    /// How many bytes of records still go into the region that is written.
    var room: Int { output.room }

    /// Makes sure that so much can be written.
    func check(byteCount: Int, keeping reserve: Int) throws(JournalFull) {
        guard output.room + max(0, window.freeCount - reserve) * layout.usableByteCount >= byteCount else {
            throw .noRegion
        }
    }

    /// Writes a record of a job with many ranges, in parts if they are too many.
    private mutating func write(
        _ ranges: [Range<Int>], of id: JobID, _ record: ([Range<Int>]) -> JournalRecord
    ) throws(JournalFull) -> JournalPosition {
        guard ranges.count > rangeLimit else { return try write(record(ranges), of: id) }
        guard state.jobs[id] != nil else { return output.position }
        try check(byteCount: ranges.count * 16 + layout.recordByteLimit, keeping: Self.liveReserve)
        var position = output.position
        for part in parts(of: ranges) { position = try write(record(part), of: id) }
        return position
    }

    /// The ranges, as many at a time as go into one record.
    func parts(of ranges: [Range<Int>]) -> [[Range<Int>]] {
        stride(from: 0, to: ranges.count, by: rangeLimit).map { start in
            Array(ranges[start..<min(ranges.count, start + rangeLimit)])
        }
    }

    /// Writes a record of a live job, or the header of one that comes to life.
    @discardableResult
    mutating func write(
        _ record: JournalRecord, of id: JobID, isCarried: Bool = false, keeping reserve: Int = liveReserve
    ) throws(JournalFull) -> JournalPosition {
        switch record {
        case .header, .cleaned, .checkpoint:
            let before = state.jobs[id]?.position.epoch
            guard before != nil || record.type == JournalRecord.headerType else { return output.position }
            let position = try write(record, isCarried: isCarried, keeping: reserve)
            if let before { window.add(-1, at: before) }
            if let after = state.jobs[id]?.position.epoch { window.add(1, at: after) }
            return position
        case .claimed, .intent, .result, .reopened, .final, .published, .runs, .untold, .start, .ended, .suspect,
            .stopped, .synced, .distrusted, .end, .begun:
            guard state.jobs.index(forKey: id) != nil else { return output.position }
            return try write(record, isCarried: isCarried, keeping: reserve)
        }
    }

    /// Encodes a record behind the last one, in the next region if it does not fit, and applies it.
    @discardableResult
    mutating func write(
        _ record: JournalRecord, isCarried: Bool = false, keeping reserve: Int = liveReserve
    ) throws(JournalFull) -> JournalPosition {
        scratch.removeAll(keepingCapacity: true)
        JournalEntry.append(record, isCarried: isCarried, to: &scratch)
        guard scratch.count <= layout.recordByteLimit else { throw .recordTooLong }
        if scratch.count > output.room {
            guard window.freeCount > reserve else { throw .noRegion }
            output.begin(window.begin(epoch: output.position.epoch + 1, isFirstOfRun: false))
        }
        proveDurability(before: scratch.count)
        let place = output.append(&scratch)
        state.apply(JournalEntry(record: record, isCarried: isCarried, place: place))
        return place.position
    }

    /// Writes what is known to be durable of the region, if it is not written yet and leaves room for a record.
    private mutating func proveDurability(before byteCount: Int) {
        guard let end = durableEnd else { return }
        durableEnd = nil
        guard end.epoch == output.position.epoch, output.room >= byteCount + JournalOutput.markByteCount else { return }
        output.mark(through: end.offset)
    }

    /// Counts a job that has come to life by what is written of one that is carried forward.
    mutating func noteAdopted(_ id: JobID) {
        if let job = state.jobs[id] { window.add(1, at: job.position.epoch) }
    }

    /// Lets go of the oldest regions in which nothing counts any more; what does and is no job's is written once more.
    mutating func tidy() {
        while window.hasIdle {
            let epoch = window.regions[0].epoch
            do throws(JournalFull) {
                for record in state.records(of: epoch) { try write(record, isCarried: true, keeping: 0) }
            } catch {
                return  // It stays in use until there is room.
            }
            window.dropOldest()
        }
    }
}
