/// The layout of a journal's file: a label of one page, then regions of equal size.
///
/// Region *i* begins at `4096 + i * regionByteCount`. A remainder at the end of the file is unused.
package struct JournalLayout: Hashable, Sendable {
    /// The bytes of the label at the start of the file.
    package static let labelByteCount = 4096

    /// The bytes of the file, including the label and the unused remainder.
    package let byteCount: Int
    /// The bytes of one region, including its head.
    package let regionByteCount: Int
    /// The number of regions.
    package let regionCount: Int

    /// Divides a file of this size into regions of 1 MiB. A usable journal has at least 8 MiB.
    package init(byteCount: Int) {
        self.init(byteCount: byteCount, regionByteCount: 1 << 20)
    }

    /// Divides a file into regions of another size, given by its label.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the file.
    ///   - regionByteCount: The size of a region: at least 4096 and a multiple of 8.
    package init(byteCount: Int, regionByteCount: Int) {
        self.byteCount = byteCount
        self.regionByteCount = regionByteCount
        self.regionCount = max(0, byteCount - Self.labelByteCount) / regionByteCount
    }

    /// The most bytes in a record, including head and padding: 128 KiB in regions of 1 MiB.
    package var recordByteLimit: Int { regionByteCount / 8 }

    /// Whether a HEADER has room for this many checksums: those of 31 GiB in regions of 1 MiB.
    package func canHold(checkCount: Int) -> Bool { checkCount <= (recordByteLimit - 2048) / 4 }

    /// The number of bytes of records that are certain to fit into a region.
    package var usableByteCount: Int {
        regionByteCount - JournalRegionHead.byteCount - 2 * JournalEntry.shortestByteCount - recordByteLimit
    }

    /// The number of regions kept free in addition to those needed to carry every live job forward.
    static let margin = 3

    /// The most bytes of all live jobs. It is enough below half that all of them can always be carried forward.
    package var liveByteLimit: Int {
        max(0, regionCount - Self.margin - 2) / 2 * usableByteCount
    }

    /// Returns the offset of a region in the file.
    package func offset(ofRegion index: Int) -> Int64 {
        Int64(Self.labelByteCount) + Int64(index) * Int64(regionByteCount)
    }
}

/// The position of a record: the epoch of its region, and its offset there.
///
/// A later record has a greater position, in whichever region of the file it is.
package struct JournalPosition: Comparable, Hashable, Sendable {
    /// The region's epoch, which is never reused.
    package let epoch: UInt64
    /// The offset from the start of the region, in bytes.
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
