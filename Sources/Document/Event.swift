/// One value or key of a tape, in 20 bytes.
package struct Event: Sendable, Hashable {
    /// Where its notation starts in the source.
    package var rawOffset: UInt32
    /// How many bytes its notation has, quotes and brackets included.
    package var rawLength: UInt32
    /// Where its text starts: in the source, or with `arenaBit` in the arena. Unused for containers.
    package var textOffset: UInt32
    /// How many bytes its text has; for containers how many elements or members.
    package var textLength: UInt32
    /// The kind in the low four bits, above them the index of the event after this value's last.
    package var link: UInt32

    /// The bit of `textOffset` that says the text is in the arena.
    package static let arenaBit: UInt32 = 1 << 31

    /// Describes a value; the lengths and links of a container are set when it ends.
    package init(
        _ kind: Node.Kind, raw: Range<Int>, text: Range<Int> = 0..<0, isInArena: Bool = false, next: Int
    ) {
        rawOffset = UInt32(truncatingIfNeeded: raw.lowerBound)
        rawLength = UInt32(truncatingIfNeeded: raw.count)
        textOffset = UInt32(truncatingIfNeeded: text.lowerBound) | (isInArena ? Self.arenaBit : 0)
        textLength = UInt32(truncatingIfNeeded: text.count)
        link = UInt32(truncatingIfNeeded: next) << 4 | UInt32(kind.rawValue)
    }

    /// What it is.
    package var kind: Node.Kind { Node.Kind(rawValue: UInt8(truncatingIfNeeded: link & 15)) ?? .null }

    /// The index of the event after this value's last; a key's value follows the key.
    package var next: Int {
        get { Int(link >> 4) }
        set { link = UInt32(truncatingIfNeeded: newValue) << 4 | link & 15 }
    }

    /// Where its notation is in the source.
    package var rawRange: Range<Int> { Int(rawOffset)..<Int(rawOffset) + Int(rawLength) }

    /// Whether the text is in the arena, not in the source.
    package var isInArena: Bool { textOffset & Self.arenaBit != 0 }

    /// Where its text is, in the arena or in the source.
    package var textRange: Range<Int> {
        let offset = Int(textOffset & ~Self.arenaBit)
        return offset..<offset + Int(textLength)
    }
}
