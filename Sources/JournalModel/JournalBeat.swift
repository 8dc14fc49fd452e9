package import PushModel

/// A mark in the first page of a journal that a running node of a cluster renews: it shows that the node still works. A
/// daemon that works alone writes one at its start.
///
/// It has a sector of its own, so that a torn write of it damages nothing else. Only the holder of the journal's lock
/// writes it, and each writer counts on from what it found.
package struct JournalBeat: Hashable, Sendable {
    /// The offset of the mark in the file.
    package static let offset: Int64 = 1024
    /// The bytes of the mark.
    package static let byteCount = 36
    private static let magic = Array("psbeat01".utf8)

    /// How often the mark was written; it starts anywhere.
    package let number: UInt64
    /// When it was written, by the clock of the node that wrote it. Only for people: clocks differ.
    package let at: WallTime
    /// How long its writer may act after it, in whole milliseconds up to 2^32: so long whoever comes next has to wait.
    package let lease: Duration
    /// How its writer ended, if it is the last one: it does nothing more, and nobody has to wait for its lease.
    package let end: End?

    /// How the writer of a last mark ended.
    package enum End: UInt32, CaseIterable, Hashable, Sendable {
        /// It stopped, and may have left jobs.
        case stopped = 1
        /// It stood in for the node, and did what it could. Some jobs are left.
        case triedAll = 3
        /// It stood in for the node, and nothing is left.
        case finishedAll = 5
        /// It works without a cluster, and so without a lease, as long as the journal is locked.
        case alone = 7
    }

    /// Creates a mark.
    package init(number: UInt64, at time: WallTime, lease: Duration, end: End? = nil) {
        (self.number, at, self.lease, self.end) = (number, time, lease, end)
    }

    /// The bytes to write.
    package var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.appendInteger(number)
        bytes.appendInteger(at.nanoseconds)
        bytes.appendInteger(UInt32(clamping: Int64(lease / .milliseconds(1))))
        bytes.appendInteger(end?.rawValue ?? 0)
        bytes.appendInteger(CRC32C.checksum(bytes.span))
        return bytes
    }

    /// Reads a mark.
    ///
    /// - Returns: `nil` if the bytes are none: no daemon has marked the journal, or a crash tore the mark.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else { return nil }
        var decoder = JournalDecoder(bytes, Self.magic.count..<Self.byteCount)
        do throws(JournalMalformed) {
            let (number, time) = (try decoder.integer(UInt64.self), try decoder.integer(Int64.self))
            let (lease, end) = (try decoder.integer(UInt32.self), try decoder.integer(UInt32.self))
            let checksum = CRC32C.checksum(bytes.span.extracting(0..<Self.byteCount - 4))
            guard try decoder.integer(UInt32.self) == checksum else { return nil }
            self.init(
                number: number, at: WallTime(nanoseconds: time), lease: .milliseconds(lease), end: End(rawValue: end))
        } catch {
            return nil
        }
    }
}
