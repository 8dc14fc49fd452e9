import LinuxIO
import SpoolModel

/// A log of tokens that are gone: what it has of the file, and what is still to be written to it.
///
/// Records are only ever appended. A torn end, or one that could not be written, is written over.
final class GoneLog {
    /// One record, and where it is.
    struct Found {
        let record: GoneRecord
        let place: Int
    }

    /// How much of the file is read at a time.
    static let stepByteCount = 256 << 10
    /// How much waits to be written at most.
    private static let pendingLimit = 64 << 10

    let file: GoneFile
    /// Where the next record goes, and the checksum of the one before.
    private(set) var end: Int
    private var sum = GoneRecord.headSum
    /// Where what was written ends, and the checksum there.
    private var written: (end: Int, sum: UInt32)
    private var pending: [UInt8] = []
    /// Bytes that were read beyond the last whole record, while the file is read for the first time.
    private var unread: [UInt8] = []

    /// Takes a file; one that is empty gets its head.
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

    /// Whether anything waits to be written.
    var isPending: Bool { !pending.isEmpty }

    // MARK: Reading it for the first time

    /// Reads on, and hands over whole records in their order.
    ///
    /// - Returns: `nil` when there may be more; else how many bytes behind the last record are of no use.
    /// - Throws: `SystemError`: EIO and the like.
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

    // MARK: Later

    /// Reads records that were written, from `offset` on.
    ///
    /// - Returns: Where the next ones begin; the end of what was written after the last.
    /// - Throws: `SystemError`: EIO and the like; whatever `body` throws.
    func read(from offset: Int, _ body: (Found) throws(SystemError) -> Void) throws(SystemError) -> Int {
        var bytes: [UInt8] = []
        let rest = min(Self.stepByteCount, written.end - offset)
        _ = try file.file.read(rest, at: Int64(offset), appendingTo: &bytes)
        var start = 0
        while let record = GoneRecord(bytes, at: start) {
            try body(Found(record: record, place: (offset + start) / GoneRecord.unit))
            start += record.byteCount
        }
        // Never without a step forward: what cannot be read any more is left out.
        return start == 0 ? written.end : offset + start
    }

    /// The record at a place; `nil` when there is none that can be read.
    ///
    /// - Throws: `SystemError`: EIO and the like.
    func record(at place: Int) throws(SystemError) -> GoneRecord? {
        let offset = place * GoneRecord.unit
        if offset >= written.end { return GoneRecord(pending, at: offset - written.end) }
        var bytes: [UInt8] = []
        _ = try file.file.read(GoneRecord.byteLimit, at: Int64(offset), appendingTo: &bytes)
        return GoneRecord(bytes)
    }

    /// Adds a record to those that wait to be written.
    ///
    /// - Returns: Its place; `nil` when the log is as long as it may be.
    func append(_ record: GoneRecord) -> Int? {
        let place = end / GoneRecord.unit
        guard place < GoneIndex.placeLimit else { return nil }
        sum = record.append(to: &pending, after: sum)
        end += record.byteCount
        return place
    }

    /// Whether so much waits that it should be written now.
    var isFull: Bool { pending.count >= Self.pendingLimit }

    /// Writes what waits.
    ///
    /// - Throws: `SystemError`: ENOSPC and the like. What waited is given up, and `discard` says what that was; but that
    ///   tokens were registered waits for the next time, as far as there is room: the next start would take them for gone.
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
