/// Converts libyaml's positions, which count characters, into offsets in the source.
///
/// Positions rarely go back, so converting all of a document's positions costs about one pass over it.
struct MarkCursor {
    private let start: Int
    private let end: Int
    private let isASCII: Bool
    private var index = 0
    private var offset: Int

    init(_ source: [UInt8], range: Range<Int>) {
        start = range.lowerBound
        end = range.upperBound
        offset = start
        isASCII = source[range].allSatisfy { $0 < 0x80 }
    }

    /// Returns the offset of the character with this index.
    mutating func offset(of wanted: Int, in source: [UInt8]) -> Int {
        if isASCII { return min(start + wanted, end) }
        while index < wanted, offset < end {
            offset += 1
            while offset < end, Self.isContinuation(source[offset]) { offset += 1 }
            index += 1
        }
        while index > wanted, offset > start {
            offset -= 1
            while offset > start, Self.isContinuation(source[offset]) { offset -= 1 }
            index -= 1
        }
        return offset
    }

    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
