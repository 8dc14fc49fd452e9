package import JobFormat
package import PushModel

/// Damage found in a journal.
package struct JournalDamage: Hashable, Sendable {
    /// The index of the region.
    package let region: Int
    /// The offset in the region, in bytes.
    package let offset: Int
    /// A description for people.
    package let why: String
}

/// Reads a journal and rebuilds the state when the last daemon ended.
///
/// First call `addHead` for every region, then `addRegion` in `readingOrder`, then `finish`. Any bytes are allowed;
/// invalid data ends its region.
package struct JournalReplay: Sendable {
    /// The bytes at the start of a region that `addHead` needs.
    package static let headByteCount = JournalRegionHead.byteCount

    /// The layout of the file.
    package let layout: JournalLayout
    /// The damage found. The torn end of the last region does not count: a crash leaves that.
    package private(set) var damage: [JournalDamage] = []
    /// Whether the last daemon shut down cleanly; true for an empty journal.
    package private(set) var endedCleanly = true

    private(set) var state: JournalState
    /// Whether the latest records are lost. The next daemon must record that.
    private(set) var hasLostEnd = false
    /// The regions in use, by epoch.
    private(set) var regions: [JournalRegionHead] = []
    /// Whether nothing was ever recorded. Then the work of earlier daemons is unknown.
    package var isBlank: Bool { regions.isEmpty }
    /// The regions whose head is damaged.
    private var headless: [(index: Int, isBlank: Bool)] = []
    /// Those of them whose epoch cannot be guessed.
    private var unknown: [Int] = []
    /// The epochs guessed for the others.
    private var guesses: Set<UInt64> = []
    /// The last region read.
    private var last: Ending?

    /// How the reading of a region ended.
    private struct Ending {
        let head: JournalRegionHead
        /// The offset where reading stopped, if that was before the region's END.
        let tornAt: Int?
        /// The end of its records.
        let end: JournalPlace
        /// Whether the data there had been durable.
        let hasLost: Bool
    }

    /// Starts reading.
    package init(layout: JournalLayout) {
        self.layout = layout
        state = JournalState(layout)
    }

    /// The live jobs.
    package var jobs: [JobID: JournalJob] { state.jobs }
    /// The jobs that have records but no header.
    package var orphans: Set<JobID> { state.orphans }
    /// Whether damage has lost records since this journal was created. If so, a job without records may have been sent
    /// in part, and the daemon moves its file to `hold/`.
    package var hasLost: Bool { state.hasLost }
    /// The newest name of a feedback file, by app.
    package var newestFeedback: [String: FileName] { state.publications.mapValues(\.publication.feedback) }
    /// The files that may have killed the daemon.
    package var suspects: [JournalSubject: JournalSuspicion] { state.suspects.mapValues(\.suspicion) }

    /// Adds the first 32 bytes of a region.
    package mutating func addHead(_ bytes: [UInt8], index: Int) {
        if let head = JournalRegionHead(bytes: bytes, index: index) {
            insert(head)
        } else {
            headless.append((index, isBlank: !bytes.contains { $0 != 0 }))
        }
    }

    private mutating func insert(_ head: JournalRegionHead) {
        let place = regions.firstIndex { $0.epoch >= head.epoch } ?? regions.count
        if place < regions.count, regions[place].epoch == head.epoch {
            damage.append(JournalDamage(region: head.index, offset: 0, why: "its epoch belongs to another region"))
            return
        }
        regions.insert(head, at: place)
    }

    /// The order in which to read the regions, which includes only those in use. All heads must have been added.
    package var readingOrder: [Int] {
        mutating get {
            let newest = regions.last?.index
            for (index, isBlank) in headless.sorted(by: { $0.index < $1.index }) {
                // A region that was never used has no head. If the newest region, or the first region of a new file,
                // lost its head, no later region shows that it is missing.
                let mayBeLost = index == 0 || newest.map { ($0 + 1) % layout.regionCount == index } == true
                if !isBlank || mayBeLost { guess(index) }
            }
            headless = []
            return unknown + regions.map(\.index)
        }
    }

    /// Assumes that a region with a damaged head follows its neighbor. Records of other epochs will not match.
    private mutating func guess(_ index: Int) {
        let before = (index + layout.regionCount - 1) % max(1, layout.regionCount)
        guard let epoch = regions.first(where: { $0.index == before })?.epoch else {
            unknown.append(index)
            return
        }
        guard !regions.contains(where: { $0.epoch == epoch + 1 }) else { return }
        guesses.insert(epoch + 1)
        insert(JournalRegionHead(epoch: epoch + 1, index: index, isFirstOfRun: false))
    }

    /// Adds a whole region.
    package mutating func addRegion(_ bytes: [UInt8], index: Int) {
        guard let head = regions.first(where: { $0.index == index }) else { return judgeUnknown(bytes, index) }
        var reader = JournalRegionReader(bytes, epoch: head.epoch)
        let first = reader.next()
        if guesses.contains(head.epoch) {
            guard first != nil else {
                // Either its first write was torn and nothing in it was ever synced, or its data is lost; in that case
                // its successor or a later mark in it shows so.
                regions.removeAll { $0 == head }
                if reader.hasLost { loseEnd(JournalDamage(region: index, offset: 0, why: "its beginning is lost")) }
                return
            }
            damage.append(JournalDamage(region: index, offset: 0, why: "its head is damaged, its records are intact"))
        }
        connect(head)
        if let first { state.apply(first) }
        while let entry = reader.next() { state.apply(entry) }
        last = Ending(
            head: head, tornAt: reader.isComplete ? nil : reader.offset, end: reader.end, hasLost: reader.hasLost)
    }

    /// Judges a region whose epoch is unknown: any data in it is lost.
    private mutating func judgeUnknown(_ bytes: [UInt8], _ index: Int) {
        guard bytes.dropFirst(Self.headByteCount).contains(where: { $0 != 0 }) else { return }
        loseEnd(JournalDamage(region: index, offset: 0, why: "its head is damaged, so its records cannot be read"))
    }

    /// Records that the file is shorter than its label says. The missing part may have concerned any job.
    package mutating func noteCut(toByteCount count: Int64) {
        let offset = max(0, Int(count) - JournalLayout.labelByteCount)
        loseEnd(
            JournalDamage(
                region: offset / layout.regionByteCount, offset: offset % layout.regionByteCount,
                why: "the file was cut to \(count) bytes (its label says \(layout.byteCount))"))
    }

    /// Checks for records missing between the last region and this one.
    private mutating func connect(_ head: JournalRegionHead) {
        guard let last else { return }
        if last.head.epoch + 1 != head.epoch, !head.isFirstOfRun {
            lose(JournalDamage(region: head.index, offset: 0, why: "the region before it is missing"))
        } else if let offset = last.tornAt {
            lose(JournalDamage(region: last.head.index, offset: offset, why: "a damaged record; the rest is lost"))
        }
    }

    private mutating func loseEnd(_ found: JournalDamage) {
        hasLostEnd = true
        lose(found)
    }

    private mutating func lose(_ found: JournalDamage) {
        damage.append(found)
        state.distrust()
    }

    /// Marks the end of reading.
    package mutating func finish() {
        if let last, let offset = last.tornAt, last.hasLost {
            loseEnd(
                JournalDamage(
                    region: last.head.index, offset: offset,
                    why: "a damaged record; synced records after it are lost"))
        }
        endedCleanly = state.isStopped && !hasLostEnd
        state.beginRun()
        guard let last, last.tornAt == nil, let oldest = regions.first else { return }
        // The last region was ended, but the next one has no valid beginning. Writing it overwrote only records that
        // were no longer needed.
        let next = (last.head.index + 1) % max(1, layout.regionCount)
        guard next == oldest.index else { return }
        damage.removeAll { $0.region == next }
        if damage.isEmpty { state.trust() }
    }

    /// The newest region, and where the next daemon continues in it; `nil` if it was ended, or there is none.
    var resumption: (head: JournalRegionHead, end: JournalPlace, isHeadDamaged: Bool)? {
        guard let last, last.tornAt != nil, last.head == regions.last,
            last.end.position.offset + 2 * JournalEntry.shortestByteCount <= layout.regionByteCount
        else { return nil }
        return (last.head, last.end, guesses.contains(last.head.epoch))
    }

    /// Returns the offset of a record in the file; `nil` if its region is no longer in use.
    package func fileOffset(of position: JournalPosition) -> Int64? {
        guard let head = regions.first(where: { $0.epoch == position.epoch }) else { return nil }
        return layout.offset(ofRegion: head.index) + Int64(position.offset)
    }

    /// Reads the header of a job from bytes read at its place in the file.
    ///
    /// - Returns: `nil` if they are not the job's complete, undamaged header.
    package static func header(of job: JournalJob, in bytes: [UInt8]) -> JournalHeader? {
        guard let entry = JournalEntry(bytes, at: 0, seed: job.place.seed, position: job.position),
            case .header(let header) = entry.record, header.facts == job.facts
        else { return nil }
        return header
    }
}
