extension TokenSpelling {
    /// The value of each byte as a hexadecimal digit; of all others one that no digit has.
    private static let values: [UInt8] = (0...UInt8.max).map { nibble($0) ?? notDigit }
    private static let notDigit: UInt8 = 0xFF

    /// Appends what text spells that is made of hexadecimal digits alone, of a length that eight divides: the usual case,
    /// made fast.
    ///
    /// - Returns: Whether it was such text; if not, nothing was appended.
    static func appendDigits(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard text.count % 8 == 0 else { return false }
        let start = bytes.count
        let values = values
        let table = values.span
        // With this known, no look-up below is checked.
        precondition(table.count == 256)
        var all: UInt8 = 0
        bytes.append(addingCapacity: text.count / 2) { output in
            var place = 0
            while place < text.count {
                let eight = text.extracting(place..<place + 8)
                for pair in 0..<4 {
                    let (high, low) = (table[Int(eight[2 * pair])], table[Int(eight[2 * pair + 1])])
                    all |= high | low
                    output.append(high << 4 | low)
                }
                place += 8
            }
        }
        if all <= 0x0F { return true }
        bytes.removeLast(bytes.count - start)
        return false
    }
}
