extension TokenSpelling {
    /// Appends what text spells that is made of hexadecimal digits alone, eight at a time: the usual case, made fast.
    ///
    /// - Returns: Whether it was such text, of a length that eight divides; if not, nothing was appended.
    static func appendDigits(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard text.count % 8 == 0 else { return false }
        let start = bytes.count
        bytes.append(addingCapacity: text.count / 2) { output in
            var place = 0
            while place < text.count, let pairs = pairs(of: text.extracting(place..<place + 8)) {
                for shift in stride(from: 0, to: 64, by: 16) {
                    output.append(UInt8(truncatingIfNeeded: pairs >> UInt64(shift)))
                }
                place += 8
            }
        }
        if bytes.count - start == text.count / 2 { return true }
        bytes.removeLast(bytes.count - start)
        return false
    }

    /// The bytes that eight digits spell, each in the lower half of 16 bits, the first one lowest; `nil` if one is no
    /// digit.
    @inline(__always)
    private static func pairs(of digits: Span<UInt8>) -> UInt64? {
        var word: UInt64 = 0
        for place in 0..<8 { word |= UInt64(digits[place]) &<< UInt64(8 * place) }
        let isLetter = word >> 6 & all(1)
        let values = (word & all(0x0F)) &+ 9 &* isLetter
        // Spells the values again, to see whether they came from digits: 0x27 lies between `9` and `a`.
        let isAboveNine = (values &+ all(0x76)) >> 7 & all(1)
        let lowercase = values &+ all(0x30) &+ 0x27 &* isAboveNine
        guard lowercase == word | isLetter << 5, values & all(0xF0) == 0 else { return nil }
        return (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
    }

    /// A word with the same value, less than 256, in each of its eight bytes.
    @inline(__always)
    private static func all(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }
}
