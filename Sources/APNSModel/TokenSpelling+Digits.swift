extension TokenSpelling {
    /// The number of digits of a 32-byte token, the usual length.
    package static let usualDigitCount = 64

    /// Decodes exactly 64 hexadecimal digits: the common case, optimized.
    ///
    /// One loop without branches over a fixed number of digits, and one over their values, so that the compiler can
    /// vectorize both.
    ///
    /// - Returns: Whether the text had this form. If not, nothing was appended.
    package static func appendUsualDigits(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard text.count == usualDigitCount else { return false }
        var values = InlineArray<64, UInt8>(repeating: 0)
        var faults: UInt8 = 0
        for index in 0..<64 {
            let numeral = text[index] &- UInt8(ascii: "0")
            let letter = (text[index] | 0x20) &- UInt8(ascii: "a")
            values[index] = numeral < 10 ? numeral : letter &+ 10
            faults |= (numeral < 10 ? 0 : 1) & (letter < 6 ? 0 : 1)
        }
        guard faults == 0 else { return false }
        bytes.append(addingCapacity: 32) { output in
            for pair in 0..<32 { output.append(values[2 * pair] << 4 | values[2 * pair + 1]) }
        }
        return true
    }
}
