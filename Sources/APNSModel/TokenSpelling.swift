import Document

/// Parses device tokens in the forms that people write.
///
/// Accepts hexadecimal in any case, with the `<`, `>` and spaces of old `NSData` descriptions, or base64 (either
/// alphabet, with or without padding). Text of only hexadecimal digits is read as hexadecimal, at any length. Text that is
/// mostly hexadecimal digits is a mistake: read as base64, it would be the token of another device.
package enum TokenSpelling {
    /// The reason why a spelling is not a token.
    package enum Fault: Error, Hashable, Sendable {
        /// Nothing but brackets and spaces, or nothing at all.
        case empty
        /// An odd number of hexadecimal digits.
        case oddDigitCount(Int)
        /// Hexadecimal but for this character, the first such; its place counts characters from 1.
        case stray(Unicode.Scalar, place: Int)
        /// Neither hexadecimal nor base64.
        case unreadable
        /// More than 100 bytes.
        case tooLong(Int)
    }

    /// Appends the token's bytes to `bytes`, which stay unchanged on a fault.
    ///
    /// - Returns: The length of the token in bytes, or the fault of the spelling.
    /// - Complexity: O(*n*) in the length of the spelling. Allocates only the growth of `bytes`.
    package static func append(_ spelling: Span<UInt8>, to bytes: inout [UInt8]) -> Result<Int, Fault> {
        let start = bytes.count
        if appendUsualDigits(spelling, to: &bytes) { return .success(bytes.count - start) }
        let result =
            appendHexadecimal(spelling, to: &bytes) ?? nearlyHexadecimal(spelling).map(Result.failure)
            ?? appendBase64(spelling, to: &bytes)
        let count = bytes.count - start
        let checked = result.flatMap { () -> Result<Int, Fault> in
            count == 0
                ? .failure(.empty) : count > DeviceToken.maximumByteCount ? .failure(.tooLong(count)) : .success(count)
        }
        if case .failure = checked { bytes.removeLast(bytes.count - start) }
        return checked
    }

    /// Appends the bytes of hexadecimal text. At the first other character, undoes this and returns `nil`.
    private static func appendHexadecimal(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Result<Void, Fault>? {
        let start = bytes.count
        var pending: UInt8?
        for index in text.indices {
            let byte = text[index]
            guard let nibble = hexValue(byte) else {
                if isIgnored(byte) { continue }
                bytes.removeLast(bytes.count - start)
                return nil
            }
            if let high = pending {
                bytes.append(high << 4 | nibble)
                pending = nil
            } else {
                pending = nibble
            }
        }
        return pending == nil ? .success(()) : .failure(.oddDigitCount((bytes.count - start) * 2 + 1))
    }

    /// Returns the fault of text that was meant as hexadecimal: at least five of six characters are such digits, apart from
    /// characters that people put between groups of digits; or it is `0x` and such digits.
    ///
    /// Fewer than one in 10⁹ random tokens of 32 bytes in base64 without padding have so many. Padding, which hexadecimal does
    /// not have, shows base64.
    private static func nearlyHexadecimal(_ text: Span<UInt8>) -> Fault? {
        var (digitCount, otherCount, separatorCount) = (0, 0, 0)
        var first: Int?
        for index in text.indices where !isIgnored(text[index]) && text[index] & 0xC0 != 0x80 {
            if hexValue(text[index]) != nil {
                digitCount += 1
                continue
            }
            first = first ?? index
            if isSeparator(text[index]) { separatorCount += 1 } else { otherCount += 1 }
        }
        guard let first, text[text.count - 1] != UInt8(ascii: "="), digitCount >= otherCount + separatorCount else {
            return nil
        }
        let isPrefixed = first == 1 && otherCount == 1 && text[0] == UInt8(ascii: "0") && text[1] | 0x20 == 0x78
        guard isPrefixed || digitCount >= 5 * otherCount else { return nil }
        return .stray(FieldText.scalar(in: text, at: first), place: FieldText.place(in: text, of: first))
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: ":"), UInt8(ascii: "."),
            UInt8(ascii: ","), UInt8(ascii: "/"):
            true
        default: false
        }
    }

    private static func appendBase64(_ text: Span<UInt8>, to bytes: inout [UInt8]) -> Result<Void, Fault> {
        var buffer: UInt32 = 0
        var (digitCount, paddingCount) = (0, 0)
        for index in text.indices where !isIgnored(text[index]) {
            if text[index] == UInt8(ascii: "=") {
                paddingCount += 1
                continue
            }
            guard paddingCount == 0, let sextet = sextet(text[index]) else { return .failure(.unreadable) }
            buffer = buffer << 6 | UInt32(sextet)
            digitCount += 1
            if digitCount % 4 != 1 { bytes.append(UInt8(truncatingIfNeeded: buffer >> shift(after: digitCount))) }
        }
        let isWhole =
            digitCount % 4 != 1 && (paddingCount == 0 || (digitCount + paddingCount) % 4 == 0 && paddingCount < 3)
        return isWhole ? .success(()) : .failure(.unreadable)
    }

    /// Returns the number of low bits in the buffer that do not belong to the byte that this digit completes.
    private static func shift(after digitCount: Int) -> UInt32 {
        switch digitCount % 4 {
        case 2: 4
        case 3: 2
        default: 0
        }
    }

    private static func isIgnored(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
    }

    private static func sextet(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
