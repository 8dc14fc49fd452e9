/// The head of a region: which records after it count.
struct JournalRegionHead: Hashable {
    static let byteCount = 32
    private static let magic = Array("psregion".utf8)
    /// Far beyond what ever is counted to; so that counting on never overflows.
    private static let epochLimit: UInt64 = 1 << 62

    let epoch: UInt64
    let index: Int
    /// Whether a daemon that started began it: its epoch need not follow.
    let isFirstOfRun: Bool

    init(epoch: UInt64, index: Int, isFirstOfRun: Bool) {
        (self.epoch, self.index, self.isFirstOfRun) = (epoch, index, isFirstOfRun)
    }

    var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.appendInteger(epoch)
        bytes.appendInteger(UInt32(truncatingIfNeeded: index))
        bytes.appendInteger(UInt32(isFirstOfRun ? 1 : 0))
        bytes.appendInteger(UInt32(0))
        bytes.appendInteger(CRC32C.checksum(bytes.span))
        return bytes
    }

    init?(bytes: [UInt8], index: Int) {
        guard bytes.count >= Self.byteCount, bytes.starts(with: Self.magic) else { return nil }
        var decoder = JournalDecoder(bytes, 8..<Self.byteCount)
        do throws(JournalMalformed) {
            let (epoch, number) = (try decoder.integer(UInt64.self), try decoder.integer(UInt32.self))
            let (flags, zero) = (try decoder.integer(UInt32.self), try decoder.integer(UInt32.self))
            let checksum = CRC32C.checksum(bytes.span.extracting(0..<Self.byteCount - 4))
            guard try decoder.integer(UInt32.self) == checksum, epoch > 0, epoch < Self.epochLimit, number == index,
                flags < 2, zero == 0
            else { return nil }
            self.init(epoch: epoch, index: index, isFirstOfRun: flags == 1)
        } catch {
            return nil
        }
    }
}

/// The records of a region, one after another, up to its end or its first bad one.
struct JournalRegionReader {
    private let bytes: [UInt8]
    private let epoch: UInt64
    private var seed: UInt32
    /// The salts of the daemons that went on in this region, the last one's at the end; 0 is who began it.
    private var salts: [UInt32] = [0]
    /// Where the next record begins, or the reading ended.
    private(set) var offset = JournalRegionHead.byteCount
    /// Whether all that was written into the region was read.
    private(set) var isComplete = false
    /// Where the next daemon goes on: behind the last record, in place of a BEGUN that nothing follows.
    private(set) var end: JournalPlace

    init(_ bytes: [UInt8], epoch: UInt64) {
        (self.bytes, self.epoch, self.seed) = (bytes, epoch, JournalEntry.seed(epoch: epoch))
        end = JournalPlace(position: JournalPosition(epoch: epoch, offset: offset), seed: seed)
    }

    mutating func next() -> JournalEntry? {
        guard !isComplete else { return nil }
        guard let entry = entry(at: offset) else { return nil }
        guard entry.record != .end else {
            isComplete = true
            return nil
        }
        offset += entry.byteCount
        if case .begun(let salt) = entry.record {
            seed = JournalEntry.seed(seed, salt: salt)
            salts.append(salt)
        } else {
            end = JournalPlace(position: JournalPosition(epoch: epoch, offset: offset), seed: seed)
        }
        return entry
    }

    /// Whether what should follow where the reading ended was durable once: it was not lost in a crash, but damaged since.
    ///
    /// A crash may leave whole records behind a torn one, but no proof that the torn one had been synced, nor one of a daemon
    /// whose beginning had not. Costs a look at every eighth byte of the rest.
    var hasLost: Bool {
        guard !isComplete else { return false }
        let last = bytes.count - JournalOutput.markByteCount
        var place = offset
        // Most of the rest was never written: only its types are looked at.
        while place <= last {
            if bytes[place + 8] == JournalRecord.syncedType, case .synced(let mark)? = mark(at: place)?.record,
                mark.salt == salts.last ? mark.through > offset : !salts.contains(mark.salt)
            {
                return true
            }
            place += 8
        }
        return false
    }

    /// The record at a place, if it is of the daemon that wrote there last.
    private func entry(at place: Int) -> JournalEntry? {
        if let entry = mark(at: place) {
            guard case .synced(let mark) = entry.record, mark.salt == salts.last else { return nil }
            return entry
        }
        return JournalEntry(bytes, at: place, seed: seed, position: JournalPosition(epoch: epoch, offset: place))
    }

    /// The proof of durability at a place, whichever daemon's it is.
    private func mark(at place: Int) -> JournalEntry? {
        guard place + JournalEntry.headByteCount < bytes.count, bytes[place + 8] == JournalRecord.syncedType else {
            return nil
        }
        let position = JournalPosition(epoch: epoch, offset: place)
        return JournalEntry(bytes, at: place, seed: JournalEntry.seed(epoch: epoch), position: position)
    }
}
