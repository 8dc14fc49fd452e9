/// A set of notification indices as a bit for each: shorter than runs where outcomes alternate.
struct IndexBitmap: Hashable {
    /// The index that the first bit stands for.
    let first: Int
    /// The bits, the lowest of a byte first.
    let bits: [UInt8]

    init(first: Int, bits: [UInt8]) {
        (self.first, self.bits) = (first, bits)
    }

    /// The bits of runs in ascending order; `nil` where the runs themselves are surely shorter, or there are none.
    init?(ifSmaller runs: [Range<Int>]) {
        guard let first = runs.first?.lowerBound, let end = runs.last?.upperBound else { return nil }
        // A run takes two bytes at least.
        guard runs.count > 16, (end - first) / 8 < 2 * runs.count else { return nil }
        var bits = [UInt8](repeating: 0, count: (end - first + 7) / 8)
        for index in runs.joined() { bits[(index - first) / 8] |= 1 << UInt8((index - first) % 8) }
        self.init(first: first, bits: bits)
    }

    /// The indices whose bits are set, as runs in ascending order.
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
