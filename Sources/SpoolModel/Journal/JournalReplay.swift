package import APNSModel

/// Something in a journal that is not as it was written.
package struct JournalDamage: Hashable, Sendable {
    /// Which region.
    package let region: Int
    /// Where in it, in bytes.
    package let offset: Int
    /// What is wrong, for a person.
    package let why: String
}

/// Reads a journal: what was going on when the last daemon ended.
///
/// First every region's head (`addHead`), then the regions in `readingOrder` (`addRegion`), then `finish`. Any bytes may
/// be given; what is not a record ends its region.
package struct JournalReplay: Sendable {
    /// How many bytes at the beginning of a region `addHead` wants.
    package static let headByteCount = JournalRegionHead.byteCount

    /// How the file is divided.
    package let layout: JournalLayout
    /// What is not as it was written. The torn end of the last region is not among it: that is how a crash looks.
    package private(set) var damage: [JournalDamage] = []
    /// Whether the last daemon ended as it should; true of an empty journal.
    package private(set) var endedCleanly = true

    private(set) var state: JournalState
    /// Whether the end of what was recorded is lost, which the next daemon must record.
    private(set) var hasLostEnd = false
    /// The regions in use, in the order of their epochs.
    private(set) var regions: [JournalRegionHead] = []
    /// Whether nothing was ever recorded: what earlier daemons did is not known then.
    package var isBlank: Bool { regions.isEmpty }
    /// Those whose head is damaged.
    private var headless: [(index: Int, isBlank: Bool)] = []
    /// Those of them of which not even an epoch can be guessed.
    private var unknown: [Int] = []
    /// Epochs that were guessed for the others.
    private var guesses: Set<UInt64> = []
    /// The region that was read last.
    private var last: Ending?

    /// How the reading of a region ended.
    private struct Ending {
        let head: JournalRegionHead
        /// Where, if that was too early.
        let tornAt: Int?
        /// Where its records end.
        let end: JournalPlace
        /// Whether what should follow there was durable once.
        let hasLost: Bool
    }

    /// Starts reading.
    package init(layout: JournalLayout) {
        self.layout = layout
        state = JournalState(layout)
    }

    /// The live jobs.
    package var jobs: [JobID: JournalJob] { state.jobs }
    /// The jobs of which there are records but no header.
    package var orphans: Set<JobID> { state.orphans }
    /// Whether records were lost by damage, since this journal was made: what was sent of a job of which there is no record is not
    /// known then, and whoever has such a file moves it to `hold/`.
    package var hasLost: Bool { state.hasLost }
    /// The newest name given to a feedback file, by app.
    package var newestFeedback: [String: FileName] { state.publications.mapValues(\.publication.feedback) }
    /// The files over which the daemon may have died.
    package var suspects: [JournalSubject: JournalSuspicion] { state.suspects.mapValues(\.suspicion) }

    /// Takes a region's first 32 bytes.
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
            damage.append(JournalDamage(region: head.index, offset: 0, why: "its epoch is another region's"))
            return
        }
        regions.insert(head, at: place)
    }

    /// In which order the regions are to be read: only those in use. All heads must be known.
    package var readingOrder: [Int] {
        mutating get {
            let newest = regions.last?.index
            for (index, isBlank) in headless.sorted(by: { $0.index < $1.index }) {
                // One that was never used has no head. Of those that lost it, the newest is not missed by another, nor is
                // the first of a new file.
                let mayBeLost = index == 0 || newest.map { ($0 + 1) % layout.regionCount == index } == true
                if !isBlank || mayBeLost { guess(index) }
            }
            headless = []
            return unknown + regions.map(\.index)
        }
    }

    /// A region whose head is damaged is read as the one after its neighbour; records of other epochs will not fit.
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

    /// Takes a whole region.
    package mutating func addRegion(_ bytes: [UInt8], index: Int) {
        guard let head = regions.first(where: { $0.index == index }) else { return judgeUnknown(bytes, index) }
        var reader = JournalRegionReader(bytes, epoch: head.epoch)
        let first = reader.next()
        if guesses.contains(head.epoch) {
            guard first != nil else {
                // Its beginning was torn, and nothing in it was ever synced; or it is lost, and its successor tells, or
                // what follows in it.
                regions.removeAll { $0 == head }
                if reader.hasLost { loseEnd(JournalDamage(region: index, offset: 0, why: "its beginning is lost")) }
                return
            }
            damage.append(JournalDamage(region: index, offset: 0, why: "its head is damaged; its records are not"))
        }
        connect(head)
        if let first { state.apply(first) }
        while let entry = reader.next() { state.apply(entry) }
        last = Ending(
            head: head, tornAt: reader.isComplete ? nil : reader.offset, end: reader.end, hasLost: reader.hasLost)
    }

    /// A region of which not even the epoch is known: whatever is in it is lost.
    private mutating func judgeUnknown(_ bytes: [UInt8], _ index: Int) {
        guard bytes.dropFirst(Self.headByteCount).contains(where: { $0 != 0 }) else { return }
        loseEnd(JournalDamage(region: index, offset: 0, why: "its head is damaged; its records cannot be read"))
    }

    /// Notes that the file has fewer bytes than its label says: what is missing may have told of any job.
    package mutating func noteCut(toByteCount count: Int64) {
        let offset = max(0, Int(count) - JournalLayout.labelByteCount)
        loseEnd(
            JournalDamage(
                region: offset / layout.regionByteCount, offset: offset % layout.regionByteCount,
                why: "the file was cut to \(count) bytes, its label says \(layout.byteCount)"))
    }

    /// Looks for what is missing between the last region and this one.
    private mutating func connect(_ head: JournalRegionHead) {
        guard let last else { return }
        if last.head.epoch + 1 != head.epoch, !head.isFirstOfRun {
            lose(JournalDamage(region: head.index, offset: 0, why: "the region before it is missing"))
        } else if let offset = last.tornAt {
            lose(JournalDamage(region: last.head.index, offset: offset, why: "a damaged record; what follows is lost"))
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

    /// Says that all regions were read.
    package mutating func finish() {
        if let last, let offset = last.tornAt, last.hasLost {
            loseEnd(
                JournalDamage(
                    region: last.head.index, offset: offset,
                    why: "a damaged record, behind which others were safe; what follows is lost"))
        }
        endedCleanly = state.isStopped && !hasLostEnd
        state.beginRun()
        guard let last, last.tornAt == nil, let oldest = regions.first else { return }
        // The last region was ended, and the next one is not there: its beginning went over what was no longer needed.
        let next = (last.head.index + 1) % max(1, layout.regionCount)
        guard next == oldest.index else { return }
        damage.removeAll { $0.region == next }
        if damage.isEmpty { state.trust() }
    }

    /// The newest region, and where the next daemon goes on in it; `nil` when it was ended, or there is none.
    var resumption: (head: JournalRegionHead, end: JournalPlace, isHeadDamaged: Bool)? {
        guard let last, last.tornAt != nil, last.head == regions.last,
            last.end.position.offset + 2 * JournalEntry.shortestByteCount <= layout.regionByteCount
        else { return nil }
        return (last.head, last.end, guesses.contains(last.head.epoch))
    }

    /// Where a record is in the file; `nil` if its region is not in use any more.
    package func fileOffset(of position: JournalPosition) -> Int64? {
        guard let head = regions.first(where: { $0.epoch == position.epoch }) else { return nil }
        return layout.offset(ofRegion: head.index) + Int64(position.offset)
    }

    /// Reads the header at the beginning of `bytes`, which were read from its place in the file.
    ///
    /// - Returns: `nil` when they are not the job's header, whole and undamaged.
    package static func header(of job: JournalJob, in bytes: [UInt8]) -> JournalHeader? {
        guard let entry = JournalEntry(bytes, at: 0, seed: job.place.seed, position: job.position),
            case .header(let header) = entry.record, header.facts == job.facts
        else { return nil }
        return header
    }
}
