package import PushModel

/// Why a record cannot be written.
package enum JournalFull: Error, Hashable, Sendable {
    /// No region is free: carry jobs forward, or wait until jobs are cleaned.
    case noRegion
    /// The record exceeds the limit: the job has more than 31 GiB.
    case recordTooLong
}

/// Bytes to write to the journal's file.
package struct JournalWrite: Hashable, Sendable {
    /// The offset in the file.
    package let offset: Int64
    /// The bytes to write.
    package let bytes: [UInt8]
    /// Whether all earlier writes must be durable first. A new region may overwrite records that were carried.
    package let needsSyncBefore: Bool
}

/// The writing side of a journal: encodes records for the file, and tracks which jobs are live.
///
/// Does not store the bytes of jobs, only records that were not yet taken for writing. Regions are used in turn. A
/// region is free if neither it nor any older region contains a live job or another record that is still valid.
package struct JournalBook: Sendable {
    /// The number of free regions that new jobs leave to live jobs. `liveReserve` is the number that live jobs leave to
    /// records that make room: publishing, carrying forward and cleaning.
    static let reserve = 2
    static let liveReserve = 1

    /// The layout of the file.
    package let layout: JournalLayout
    private(set) var state: JournalState
    /// The apps' shares of the journal.
    package private(set) var shares: JournalShares
    /// The regions in use.
    private(set) var window: JournalWindow
    private var output: JournalOutput
    private var scratch: [UInt8] = []
    /// The end of the part known to be durable, if no record says so yet.
    private var durableEnd: JournalPosition?

    /// Continues after the last record of the newest region, or begins a region if that one was ended or there is none.
    ///
    /// A start does not use up a region, however often the daemon dies. Records that a crash left after the last valid
    /// one are not read again, because from here on checksums also start from `salt`.
    ///
    /// - Parameters:
    ///   - layout: The layout of the file.
    ///   - replay: The finished replay of the file; `nil` if the file is new.
    ///   - salt: A random number. It prevents a region, or later records in one, from being mistaken for data lost in a crash.
    /// - Throws: `JournalFull` if the newest region was ended and no other is free, which only damage causes: use a new file.
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
        // Record the loss. Once this daemon overwrites the damaged place, no other trace of it is left.
        let hasLostEnd = replay?.hasLostEnd == true
        if hasLostEnd || state.hasLost && state.lossPosition == nil {
            if output.room < JournalEntry.shortestByteCount { tidy() }
            try write(.distrusted, isCarried: !hasLostEnd, keeping: 0)
        }
        tidy()
    }

    /// The position of the next record, unless that record begins a region.
    package var position: JournalPosition { output.position }

    /// Records that all records before this position are durable. The next record is preceded by a mark of it.
    package mutating func noteDurable(through position: JournalPosition) {
        durableEnd = position
    }

    /// Gives each of these apps a share of the room that no other app can use.
    package mutating func share(among apps: Set<String>) {
        shares.apps = apps
    }

    /// Returns how many more bytes an app's live jobs may take for a use; may be negative.
    package func room(of app: String, for use: JournalUse) -> Int {
        shares.room(of: app, for: use, usage: state.usage)
    }

    /// Whether an app's live jobs may take this many more bytes for a use. Costs nothing while the journal has plenty of room.
    package func hasRoom(_ byteCount: Int, of app: String, for use: JournalUse) -> Bool {
        let (wanted, margin) = use == .claims ? (byteCount + Self.claimByteCount, Self.reserve) : (byteCount, -1)
        guard window.freeCount > margin else { return false }
        return shares.leastRoom(for: use, liveByteCount: state.liveByteCount) >= wanted
            || room(of: app, for: use) >= wanted
    }

    /// Returns how many bytes of the app's own share its live jobs leave unused; negative if they take more.
    package func ownRoom(of app: String) -> Int {
        shares.ownByteCount - (state.usage[app]?.byteCount ?? 0)
    }

    /// Returns the state of a live job.
    package func job(_ id: JobID) -> JournalJob? {
        state.jobs[id]
    }

    /// The suspicion against a file, if there is one.
    package func suspicion(of subject: JournalSubject) -> JournalSuspicion? { state.suspects[subject]?.suspicion }

    /// The live jobs.
    package var liveJobs: [JobID] { Array(state.jobs.keys) }

    /// Returns the conclusions of an app's live jobs that have ended. Costs O(*n*) in live jobs.
    package func finals(of app: String) -> [JournalFinal] {
        state.jobs.values.compactMap { $0.facts.app == app ? $0.final : nil }
    }

    /// Writes a record. Ignores a record of a job that is not live.
    ///
    /// - Returns: The position of the record; of its last part if it was split.
    /// - Throws: `JournalFull`; nothing was written then. Carry the `jobsToCarry` forward and try again.
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

    /// Removes and returns the writes to the file, in the order in which they must be made.
    package mutating func takeWrites() -> [JournalWrite] {
        output.take()
    }

    /// Returns the offset of a record in the file; `nil` if its region is no longer in use.
    package func fileOffset(of position: JournalPosition) -> Int64? {
        guard let region = window.regions.first(where: { $0.epoch == position.epoch }) else { return nil }
        return layout.offset(ofRegion: region.index) + Int64(position.offset)
    }

    /// The most ranges that are certain to fit into one record.
    private var rangeLimit: Int { max(1, layout.recordByteLimit / 16) }

    /// The remaining bytes for records in the current region.
    var room: Int { output.room }

    /// Checks that this many bytes can be written.
    func check(byteCount: Int, keeping reserve: Int) throws(JournalFull) {
        guard output.room + max(0, window.freeCount - reserve) * layout.usableByteCount >= byteCount else {
            throw .noRegion
        }
    }

    /// Writes a record of a job with many ranges, split into several records if necessary.
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

    /// Splits the ranges into groups that fit into one record.
    func parts(of ranges: [Range<Int>]) -> [[Range<Int>]] {
        stride(from: 0, to: ranges.count, by: rangeLimit).map { start in
            Array(ranges[start..<min(ranges.count, start + rangeLimit)])
        }
    }

    /// Writes a record of a live job, or the header of a new one.
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
            if case .cleaned = record { return position }
            if let after = state.jobs[id]?.position.epoch { window.add(1, at: after) }
            return position
        case .claimed, .intent, .result, .reopened, .final, .published, .runs, .untold, .start, .ended, .suspect,
            .stopped, .synced, .distrusted, .end, .begun:
            guard state.jobs.index(forKey: id) != nil else { return output.position }
            return try write(record, isCarried: isCarried, keeping: reserve)
        }
    }

    /// Encodes a record after the last one, in the next region if it does not fit, and applies it.
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
        state.apply(record, isCarried: isCarried, at: place)
        return place.position
    }

    /// Writes a mark of the durable part of the region, if there is a new one and the record still fits after it.
    private mutating func proveDurability(before byteCount: Int) {
        guard let end = durableEnd else { return }
        durableEnd = nil
        guard end.epoch == output.position.epoch, output.room >= byteCount + JournalOutput.markByteCount else { return }
        output.mark(through: end.offset)
    }

    /// Counts a job that became live through carried records.
    mutating func noteAdopted(_ id: JobID) {
        if let job = state.jobs[id] { window.add(1, at: job.position.epoch) }
    }

    /// Releases the oldest regions without live jobs. First writes their other records that are still valid again.
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
