import Document

extension TokenSpelling {
    /// The number of digits of a 32-byte token, the usual length.
    package static let usualDigitCount = 64

    /// Decodes exactly 64 hexadecimal digits: the common case, optimized.
    ///
    /// - Returns: Whether the text had this form. If not, nothing was appended.
    package static func appendUsualDigits(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Bool {
        guard text.count == usualDigitCount else { return false }
        var decoded = InlineArray<32, UInt8>(repeating: 0)
        var areDigits = true
        for index in 0..<8 {
            let digits = EightDigits(text.word(at: 8 * index))
            for place in 0..<4 {
                decoded[4 * index + place] = UInt8(truncatingIfNeeded: digits.value >> (8 * UInt32(place)))
            }
            areDigits = areDigits && digits.areDigits
        }
        guard areDigits else { return false }
        bytes.append(addingCapacity: 32) { output in
            for index in 0..<32 { output.append(decoded[index]) }
        }
        return true
    }
}

/// Eight hexadecimal digits, decoded all at once: without branches, in the bytes of one word.
private struct EightDigits {
    /// Their four bytes, the first one lowest.
    let value: UInt32
    /// Whether all eight are digits; if not, the value says nothing.
    let areDigits: Bool

    /// - Parameter text: Their ASCII codes, the first one lowest.
    @inline(__always) init(_ text: UInt64) {
        let small = text | Self.each(0x20)
        // Added to a code below 0x80, this sets its top bit if the code is at least that.
        let numerals = (text &+ Self.each(0x80 - 0x30)) & ~(text &+ Self.each(0x80 - 0x3A)) & Self.each(0x80)
        let letters = (small &+ Self.each(0x80 - 0x61)) & ~(small &+ Self.each(0x80 - 0x67)) & Self.each(0x80)
        areDigits = (numerals | letters) & ~text == Self.each(0x80)
        let values = (text & Self.each(0x0F)) &+ (letters >> 7) &* 9
        var pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        pairs = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        value = UInt32(truncatingIfNeeded: pairs | pairs >> 16)
    }

    private static func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }
}
