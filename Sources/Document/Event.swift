/// One value or key on a tape, in 20 bytes.
package struct Event: Sendable, Hashable {
    /// The start of the raw text in the source.
    package var rawOffset: UInt32
    /// The length of the raw text in bytes, including quotes and brackets.
    package var rawLength: UInt32
    /// The start of the decoded text: in the source, or in the arena if `arenaBit` is set. Unused for containers.
    package var textOffset: UInt32
    /// The length of the decoded text in bytes; for containers, the number of elements or members.
    package var textLength: UInt32
    /// The kind in the low four bits; above them, the index of the first event after this value.
    package var link: UInt32

    /// The bit of `textOffset` that places the text in the arena.
    package static let arenaBit: UInt32 = 1 << 31

    /// Creates an event. The lengths and the link of a container are set when it ends.
    package init(
        _ kind: Node.Kind, raw: Range<Int>, text: Range<Int> = 0..<0, isInArena: Bool = false, next: Int
    ) {
        rawOffset = UInt32(truncatingIfNeeded: raw.lowerBound)
        rawLength = UInt32(truncatingIfNeeded: raw.count)
        textOffset = UInt32(truncatingIfNeeded: text.lowerBound) | (isInArena ? Self.arenaBit : 0)
        textLength = UInt32(truncatingIfNeeded: text.count)
        link = UInt32(truncatingIfNeeded: next) << 4 | UInt32(kind.rawValue)
    }

    /// The kind of the value.
    package var kind: Node.Kind { Node.Kind(rawValue: UInt8(truncatingIfNeeded: link & 15)) ?? .null }

    /// The index of the first event after this value. A key is followed by its value.
    package var next: Int {
        get { Int(link >> 4) }
        set { link = UInt32(truncatingIfNeeded: newValue) << 4 | link & 15 }
    }

    /// The range of the raw text in the source.
    package var rawRange: Range<Int> { Int(rawOffset)..<Int(rawOffset) + Int(rawLength) }

    /// Whether the decoded text is in the arena, not in the source.
    package var isInArena: Bool { textOffset & Self.arenaBit != 0 }

    /// The range of the decoded text, in the arena or in the source.
    package var textRange: Range<Int> {
        let offset = Int(textOffset & ~Self.arenaBit)
        return offset..<offset + Int(textLength)
    }
}
