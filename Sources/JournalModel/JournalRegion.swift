/// The head of a region, which determines the valid records after it.
package struct JournalRegionHead: Hashable {
    static let byteCount = 32
    private static let magic = Array("psregion".utf8)
    /// Far above any real epoch, so that adding to it cannot overflow.
    private static let epochLimit: UInt64 = 1 << 62

    /// The number of the region, which grows by one from region to region.
    package let epoch: UInt64
    let index: Int
    /// Whether a starting daemon began the region. Its epoch need not follow the previous one.
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

    /// Reads the head of a region.
    ///
    /// - Returns: `nil` if the region has no valid head, or that of another index.
    package init?(bytes: [UInt8], index: Int) {
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

/// The records of a region in order, up to its END or the first invalid one.
package struct JournalRegionReader {
    private let bytes: [UInt8]
    private let epoch: UInt64
    private var seed: UInt32
    /// The salts of the daemons that wrote to this region, the latest last; 0 stands for the one that began it.
    private var salts: [UInt32] = [0]
    /// The offset of the next record, or where reading stopped.
    private(set) var offset = JournalRegionHead.byteCount
    /// Whether reading reached the region's END.
    private(set) var isComplete = false
    /// Where the next daemon continues: after the last record, overwriting a BEGUN that has no record after it.
    private(set) var end: JournalPlace

    /// Creates a reader of a region with this epoch.
    package init(_ bytes: [UInt8], epoch: UInt64) {
        (self.bytes, self.epoch, self.seed) = (bytes, epoch, JournalEntry.seed(epoch: epoch))
        end = JournalPlace(position: JournalPosition(epoch: epoch, offset: offset), seed: seed)
    }

    /// Returns the next record; `nil` at the end, or at the first invalid record.
    package mutating func next() -> JournalEntry? {
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

    /// Whether the data where reading stopped had been durable: it was damaged later, not lost in a crash.
    ///
    /// A crash may leave complete records after a torn one. But it leaves no proof that the torn one was synced, and no
    /// proof by a daemon whose BEGUN was not. Costs a look at every eighth byte of the rest.
    var hasLost: Bool {
        guard !isComplete else { return false }
        let last = bytes.count - JournalOutput.markByteCount
        var place = offset
        // Most of the rest was never written, so check only the type bytes first.
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

    /// Returns the record at an offset, if the latest daemon there wrote it.
    private func entry(at place: Int) -> JournalEntry? {
        if let entry = mark(at: place) {
            guard case .synced(let mark) = entry.record, mark.salt == salts.last else { return nil }
            return entry
        }
        return JournalEntry(bytes, at: place, seed: seed, position: JournalPosition(epoch: epoch, offset: place))
    }

    /// Returns the sync mark at an offset, whichever daemon wrote it.
    private func mark(at place: Int) -> JournalEntry? {
        guard place + JournalEntry.headByteCount < bytes.count, bytes[place + 8] == JournalRecord.syncedType else {
            return nil
        }
        let position = JournalPosition(epoch: epoch, offset: place)
        return JournalEntry(bytes, at: place, seed: JournalEntry.seed(epoch: epoch), position: position)
    }
}
