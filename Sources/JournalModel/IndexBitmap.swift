/// A set of notification indices with one bit per index: shorter than runs if outcomes alternate.
struct IndexBitmap: Hashable {
    /// The index of the first bit.
    let first: Int
    /// The bits, least significant first.
    let bits: [UInt8]

    init(first: Int, bits: [UInt8]) {
        (self.first, self.bits) = (first, bits)
    }

    /// Creates the bitmap of runs in ascending order; `nil` if the runs may be shorter, or there are none.
    init?(ifSmaller runs: [Range<Int>]) {
        guard let first = runs.first?.lowerBound, let end = runs.last?.upperBound else { return nil }
        // A run takes at least two bytes.
        guard runs.count > 16, (end - first) / 8 < 2 * runs.count else { return nil }
        var bits = [UInt8](repeating: 0, count: (end - first + 7) / 8)
        for index in runs.joined() { bits[(index - first) / 8] |= 1 << UInt8((index - first) % 8) }
        self.init(first: first, bits: bits)
    }

    /// The indices in the set, as runs in ascending order.
    var ranges: [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start: Int?
        for offset in 0..<bits.count * 8 {
            let isSet = bits[offset / 8] >> UInt8(offset % 8) & 1 == 1
            if isSet, start == nil { start = first + offset }
            if !isSet, let begin = start {
                ranges.append(begin..<first + offset)
                start = nil
            }
        }
        if let start { ranges.append(start..<first + bits.count * 8) }
        return ranges
    }
}
