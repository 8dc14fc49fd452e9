/// Records waiting to be written to the file.
struct JournalOutput: Sendable {
    private let layout: JournalLayout
    private var head: JournalRegionHead
    private var seed: UInt32
    /// The salt of the current daemon; 0 in regions that it began itself.
    private var salt: UInt32 = 0
    /// The position of the next record.
    private(set) var position: JournalPosition
    private var writes: [JournalWrite] = []
    private var pending: [UInt8]
    private var pendingOffset: Int64
    private var needsSyncBefore = true

    /// Begins a region.
    init(_ head: JournalRegionHead, layout: JournalLayout) {
        (self.layout, self.head) = (layout, head)
        self.seed = JournalEntry.seed(epoch: head.epoch)
        self.pending = head.bytes
        self.pendingOffset = layout.offset(ofRegion: head.index)
        self.position = JournalPosition(epoch: head.epoch, offset: JournalRegionHead.byteCount)
    }

    /// Continues in a region after its last record.
    init(_ head: JournalRegionHead, at end: JournalPlace, layout: JournalLayout) {
        self.init(head, layout: layout)
        (position, seed) = (end.position, end.seed)
        (pending, needsSyncBefore) = ([], false)
        pendingOffset += Int64(end.position.offset)
    }

    /// The remaining bytes for records in the region. Its end is reserved for an END and the BEGUN of another daemon.
    var room: Int { layout.regionByteCount - position.offset - 2 * JournalEntry.shortestByteCount }

    /// Writes the region's head again.
    mutating func repairHead() {
        let offset = layout.offset(ofRegion: head.index)
        writes.append(JournalWrite(offset: offset, bytes: head.bytes, needsSyncBefore: false))
    }

    /// Records that a daemon begins. From here on, only its own records are read.
    mutating func begin(salt: UInt32) -> JournalEntry {
        var bytes: [UInt8] = []
        JournalEntry.append(.begun(salt: salt), isCarried: false, to: &bytes)
        let place = append(&bytes)
        seed = JournalEntry.seed(seed, salt: salt)
        self.salt = salt
        return JournalEntry(record: .begun(salt: salt), isCarried: false, place: place)
    }

    /// The bytes of a sync mark.
    static let markByteCount = 24

    /// Records that the region is durable up to this offset.
    mutating func mark(through offset: Int) {
        var bytes: [UInt8] = []
        JournalEntry.append(.synced(JournalSyncMark(salt: salt, through: offset)), isCarried: false, to: &bytes)
        append(&bytes, seed: JournalEntry.seed(epoch: head.epoch))
    }

    /// Ends the region and continues in another.
    mutating func begin(_ head: JournalRegionHead) {
        var end: [UInt8] = []
        JournalEntry.append(.end, isCarried: false, to: &end)
        append(&end)
        flush()
        var next = JournalOutput(head, layout: layout)
        next.writes = writes
        self = next
    }

    /// Seals an encoded record and appends it.
    @discardableResult
    mutating func append(_ record: inout [UInt8]) -> JournalPlace {
        append(&record, seed: seed)
    }

    @discardableResult
    private mutating func append(_ record: inout [UInt8], seed: UInt32) -> JournalPlace {
        defer { position = JournalPosition(epoch: position.epoch, offset: position.offset + record.count) }
        JournalEntry.seal(&record, seed: seed)
        pending.append(contentsOf: record)
        return JournalPlace(position: position, seed: seed, byteCount: record.count)
    }

    /// Removes and returns the writes since the last call.
    mutating func take() -> [JournalWrite] {
        flush()
        defer { writes = [] }
        return writes
    }

    private mutating func flush() {
        guard !pending.isEmpty else { return }
        writes.append(JournalWrite(offset: pendingOffset, bytes: pending, needsSyncBefore: needsSyncBefore))
        pendingOffset += Int64(pending.count)
        (pending, needsSyncBefore) = ([], false)
    }
}
