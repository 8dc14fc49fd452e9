/// Appends ids, times and tokens to a buffer digit by digit, without an intermediate string.
extension [UInt8] {
    /// Appends two lowercase hexadecimal digits for each byte.
    package mutating func appendHexadecimal(_ bytes: ArraySlice<UInt8>) {
        append(addingCapacity: 2 * bytes.count) { output in
            for byte in bytes {
                output.append(hexDigit(byte >> 4))
                output.append(hexDigit(byte & 15))
            }
        }
    }
}

extension OutputSpan where Element == UInt8 {
    /// Appends the last `width` decimal digits of a non-negative number, with leading zeros.
    package mutating func appendDigits(_ number: Int, width: Int) {
        // By constants, because most numbers are parts of times, and a division by a variable takes many times as long.
        if width > 3 { appendDigits(number / 1_000, width: width - 3) }
        if width > 2 { append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 100 % 10)) }
        if width > 1 { append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10)) }
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }
}

extension String {
    /// Creates a string from the UTF-8 bytes that `append` adds to an empty array.
    package init(spelledBy append: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        // Longer than most of these strings, so that one allocation suffices.
        bytes.reserveCapacity(64)
        append(&bytes)
        self.init(decoding: bytes, as: UTF8.self)
    }
}

/// Returns the lowercase digit of a nibble, as ASCII.
package func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? 0x30 + nibble : 0x57 + nibble
}

/// Returns the value of a hexadecimal digit of either case; `nil` for any other byte.
package func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
}
