/// The first page of a journal's file: its format, layout and node.
package struct JournalLabel: Hashable, Sendable {
    private static let magic = Array("pushspool journal\n".utf8)
    private static let version: UInt16 = 4
    /// The previous version lacks only the records that this version added. Such a file is read, and its label replaced.
    private static let earlierVersion: UInt16 = 3
    /// The offset of the checksum. It is in the first sector, so that one atomic sector write replaces an earlier label.
    private static let checkedByteCount = 508
    private static let earlierCheckedByteCount = JournalLayout.labelByteCount - 4

    /// The layout of the file.
    package let layout: JournalLayout
    /// The node that writes the file; at most 255 bytes.
    package let node: String
    /// Whether an earlier version wrote the label. It must be replaced before anything is recorded.
    package let isOfEarlierVersion: Bool

    /// Creates a label.
    package init(layout: JournalLayout, node: String) {
        self.init(layout: layout, node: node, isOfEarlierVersion: false)
    }

    private init(layout: JournalLayout, node: String, isOfEarlierVersion: Bool) {
        self.layout = layout
        self.node = node.prefix(utf8Count: 255)
        self.isOfEarlierVersion = isOfEarlierVersion
    }

    /// The first 512 bytes of the label. The rest of its page is zeros, or an earlier version's.
    package var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.appendInteger(Self.version)
        bytes.appendInteger(UInt32(truncatingIfNeeded: layout.regionByteCount))
        bytes.appendInteger(UInt64(layout.byteCount))
        bytes.appendText(node)
        bytes += [UInt8](repeating: 0, count: Self.checkedByteCount - bytes.count)
        bytes.appendInteger(CRC32C.checksum(bytes.span))
        return bytes
    }

    /// Whether the bytes may be a label whose writing a crash interrupted: each byte of the magic is correct or zero.
    package static func isUnfinished(_ bytes: [UInt8]) -> Bool {
        zip(bytes, magic).allSatisfy { $0 == 0 || $0 == $1 }
    }

    /// Reads a label.
    ///
    /// - Returns: `nil` if the bytes are not the undamaged label of a journal of a known version.
    package init?(bytes: [UInt8]) {
        guard bytes.count == JournalLayout.labelByteCount, bytes.starts(with: Self.magic) else { return nil }
        var decoder = JournalDecoder(bytes, Self.magic.count..<Self.checkedByteCount)
        do throws(JournalMalformed) {
            let (version, region) = (try decoder.integer(UInt16.self), Int(try decoder.integer(UInt32.self)))
            let byteCount = try decoder.integer(UInt64.self)
            let isEarlier = version == Self.earlierVersion
            let checkedByteCount = isEarlier ? Self.earlierCheckedByteCount : Self.checkedByteCount
            var end = JournalDecoder(bytes, checkedByteCount..<checkedByteCount + 4)
            let checksum = CRC32C.checksum(bytes.span.extracting(0..<checkedByteCount))
            guard try end.integer(UInt32.self) == checksum, isEarlier || version == Self.version,
                byteCount <= UInt64(JournalDecoder.numberLimit), region >= 4096, region % 8 == 0
            else { return nil }
            let layout = JournalLayout(byteCount: Int(byteCount), regionByteCount: region)
            self.init(layout: layout, node: try decoder.text(), isOfEarlierVersion: isEarlier)
        } catch {
            return nil
        }
    }
}
