/// How a journal's file is divided: a label of one page, then regions of one size.
///
/// Region *i* begins at `4096 + i * regionByteCount`. What is left over at the end of the file is not used.
package struct JournalLayout: Hashable, Sendable {
    /// How many bytes the label at the beginning of the file has.
    package static let labelByteCount = 4096

    /// How many bytes the file has, label and unused rest included.
    package let byteCount: Int
    /// How many bytes one region has, its head included.
    package let regionByteCount: Int
    /// How many regions there are.
    package let regionCount: Int

    /// Divides a file of that many bytes into regions of 1 MiB. At least 8 MiB make a usable journal.
    package init(byteCount: Int) {
        self.init(byteCount: byteCount, regionByteCount: 1 << 20)
    }

    /// Divides a file into regions of another size, as its label says.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the file.
    ///   - regionByteCount: The size of a region: at least 4096 and a multiple of 8.
    package init(byteCount: Int, regionByteCount: Int) {
        self.byteCount = byteCount
        self.regionByteCount = regionByteCount
        self.regionCount = max(0, byteCount - Self.labelByteCount) / regionByteCount
    }

    /// The longest record, its head and padding included: 128 KiB in regions of 1 MiB.
    package var recordByteLimit: Int { regionByteCount / 8 }

    /// Whether a HEADER has room for so many checksums: those of 31 GiB in regions of 1 MiB.
    package func canHold(checkCount: Int) -> Bool { checkCount <= (recordByteLimit - 2048) / 4 }

    /// How many bytes of records surely go into a region.
    package var usableByteCount: Int {
        regionByteCount - JournalRegionHead.byteCount - 2 * JournalEntry.shortestByteCount - recordByteLimit
    }

    /// How many regions are kept free beyond what carrying every live job forward would take.
    static let margin = 3

    /// How many bytes live jobs may take: so much less than half that there is always room to carry all of them forward.
    package var liveByteLimit: Int {
        max(0, regionCount - Self.margin - 2) / 2 * usableByteCount
    }

    /// Where a region begins in the file.
    package func offset(ofRegion index: Int) -> Int64 {
        Int64(Self.labelByteCount) + Int64(index) * Int64(regionByteCount)
    }
}

/// The place of a record: the epoch of its region, and its first byte there.
///
/// A later record has a greater position, whichever region of the file it is in.
package struct JournalPosition: Comparable, Hashable, Sendable {
    /// The region's epoch; no two regions ever had the same.
    package let epoch: UInt64
    /// From the beginning of the region, in bytes.
    package let offset: Int

    /// Creates a position.
    package init(epoch: UInt64, offset: Int) {
        self.epoch = epoch
        self.offset = offset
    }

    /// Returns whether the left record was written first.
    package static func < (left: JournalPosition, right: JournalPosition) -> Bool {
        (left.epoch, left.offset) < (right.epoch, right.offset)
    }
}
