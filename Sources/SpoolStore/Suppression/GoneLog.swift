import LinuxIO
import SpoolModel

/// A log of gone tokens: its file, and the records that are not written yet.
///
/// Records are only appended. A torn end, or a record whose write failed, is overwritten.
final class GoneLog {
    /// A record and its place.
    struct Found {
        let record: GoneRecord
        let place: Int
    }

    /// How many bytes of the file are read at a time.
    static let stepByteCount = 256 << 10
    /// How many bytes may wait to be written at most.
    private static let pendingLimit = 64 << 10

    let file: GoneFile
    /// The offset of the next record, and the checksum of the one before.
    private(set) var end: Int
    private var sum = GoneRecord.headSum
    /// The end of the written part, and the checksum there.
    private var written: (end: Int, sum: UInt32)
    private var pending: [UInt8] = []
    /// Bytes read beyond the last complete record, while the file is read for the first time.
    private var unread: [UInt8] = []

    /// Takes over a file. An empty one gets a file header.
    ///
    /// - Throws: `SystemError`: it cannot be read or written.
    init(_ file: consuming OpenFile) throws(SystemError) {
        var head: [UInt8] = []
        _ = try file.read(GoneRecord.head.count, at: 0, appendingTo: &head)
        if head != GoneRecord.head { try file.write(GoneRecord.head, at: 0) }
        end = GoneRecord.head.count
        written = (GoneRecord.head.count, GoneRecord.headSum)
        self.file = GoneFile(file)
    }

    /// Whether any record waits to be written.
    var isPending: Bool { !pending.isEmpty }

    // MARK: First reading

    /// Reads the next part, and passes on complete records in order.
    ///
    /// - Returns: `nil` if there may be more; else how many unusable bytes follow the last record.
    /// - Throws: `SystemError`: for example EIO.
    func readOn(_ body: (Found) throws(SystemError) -> Void) throws(SystemError) -> Int? {
        let offset = Int64(end + unread.count)
        let count = try file.file.read(Self.stepByteCount, at: offset, appendingTo: &unread)
        let isEnd = count < Self.stepByteCount
        var start = 0
        var isOver = isEnd
        while isEnd || unread.count - start >= GoneRecord.byteLimit {
            guard let found = GoneRecord.read(unread, at: start, after: sum) else {
                isOver = true
                break
            }
            try body(Found(record: found.record, place: end / GoneRecord.unit))
            (end, sum) = (end + found.record.byteCount, found.sum)
            written = (end, sum)
            start += found.record.byteCount
        }
        unread.removeFirst(start)
        guard isOver else { return nil }
        unread = []
        return max(0, Int(try file.file.status().byteCount) - end)
    }

    // MARK: Reading and appending

    /// Reads written records, starting at `offset`.
    ///
    /// - Returns: The offset to continue at; the end of the written part after the last record.
    /// - Throws: `SystemError`: for example EIO; or an error of `body`.
    func read(from offset: Int, _ body: (Found) throws(SystemError) -> Void) throws(SystemError) -> Int {
        var bytes: [UInt8] = []
        let rest = min(Self.stepByteCount, written.end - offset)
        _ = try file.file.read(rest, at: Int64(offset), appendingTo: &bytes)
        var start = 0
        while let record = GoneRecord(bytes, at: start) {
            try body(Found(record: record, place: (offset + start) / GoneRecord.unit))
            start += record.byteCount
        }
        // Always advance, to skip a part that has become unreadable.
        return start == 0 ? written.end : offset + start
    }

    /// Returns the record at a place; `nil` if there is none that can be read, or one of an address with more than `byteCount`
    /// bytes.
    ///
    /// - Throws: `SystemError`: for example EIO.
    func record(at place: Int, ofAddressOf byteCount: Int) throws(SystemError) -> GoneRecord? {
        let offset = place * GoneRecord.unit
        if offset >= written.end { return GoneRecord(pending, at: offset - written.end) }
        var bytes: [UInt8] = []
        let limit = GoneRecord.byteCount(ofAddress: byteCount)
        _ = try file.file.read(limit, at: Int64(offset), appendingTo: &bytes)
        return GoneRecord(bytes)
    }

    /// Adds a record to those that wait to be written.
    ///
    /// - Returns: Its place; `nil` if the log has reached its maximum length.
    func append(_ record: GoneRecord) -> Int? {
        let place = end / GoneRecord.unit
        guard place < GoneIndex.placeLimit else { return nil }
        sum = record.append(to: &pending, after: sum)
        end += record.byteCount
        return place
    }

    /// Whether enough bytes wait that they should be written now.
    var isFull: Bool { pending.count >= Self.pendingLimit }

    /// Writes the waiting records.
    ///
    /// - Throws: `SystemError`: for example ENOSPC. The waiting records are then passed to `discard` and dropped. Only
    ///   those of tokens that were registered again stay for the next attempt, as far as there is room; without them
    ///   the next start would take these tokens for gone.
    func write(discarding discard: (Found) -> Void) throws(SystemError) {
        guard !pending.isEmpty else { return }
        let bytes = pending
        do {
            try file.file.write(bytes, at: Int64(written.end))
            pending = []
            written = (end, sum)
        } catch {
            (pending, end, sum) = ([], written.end, written.sum)
            var start = 0
            while let record = GoneRecord(bytes, at: start) {
                if record.kind == .gone || pending.count > Self.pendingLimit / 2 || append(record) == nil {
                    discard(Found(record: record, place: (written.end + start) / GoneRecord.unit))
                }
                start += record.byteCount
            }
            throw error
        }
    }
}
