extension Span<UInt8> {
    /// Returns where a byte first occurs in a range; `nil` if it does not occur. Looks at eight bytes at a time.
    func firstOffset(of byte: UInt8, in range: Range<Int>) -> Int? {
        let pattern = UInt64(byte) * 0x0101_0101_0101_0101
        var offset = range.lowerBound
        while range.upperBound - offset >= 8 {
            let differences = word(at: offset) ^ pattern
            // The lowest bit that is set is the highest one of the first byte without a difference.
            let matches = (differences &- 0x0101_0101_0101_0101) & ~differences & 0x8080_8080_8080_8080
            if matches != 0 { return offset + matches.trailingZeroBitCount / 8 }
            offset += 8
        }
        return (offset..<range.upperBound).first { self[$0] == byte }
    }

    /// Returns eight bytes, the first one lowest.
    func word(at offset: Int) -> UInt64 {
        let eight = extracting(offset..<offset + 8)
        let low = UInt64(eight[0]) | UInt64(eight[1]) << 8 | UInt64(eight[2]) << 16 | UInt64(eight[3]) << 24
        let high = UInt64(eight[4]) | UInt64(eight[5]) << 8 | UInt64(eight[6]) << 16 | UInt64(eight[7]) << 24
        return low | high << 32
    }
}
