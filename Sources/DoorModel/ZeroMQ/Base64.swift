/// Base64 in the usual alphabet, with padding (RFC 4648 §4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// Appends the text of some bytes.
    static func append(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        var (bits, width) = (UInt32(0), UInt32(0))
        for byte in bytes {
            (bits, width) = ((bits << 8 | UInt32(byte)) & 0xFFFF, width + 8)
            while width >= 6 {
                width -= 6
                text.append(alphabet[Int(bits >> width) & 63])
            }
        }
        if width > 0 { text.append(alphabet[Int(bits << (6 - width)) & 63]) }
        for _ in 0..<(3 - bytes.count % 3) % 3 { text.append(padding) }
    }

    /// Appends the bytes of a text. Returns whether it was one; if not, appends nothing.
    static func append(decoding text: ArraySlice<UInt8>, to bytes: inout [UInt8]) -> Bool {
        let start = bytes.count
        guard text.count % 4 == 0 else { return false }
        // At most two digits are padding.
        let paddingCount = text.suffix(2).reversed().prefix { $0 == padding }.count
        var (bits, width) = (UInt32(0), UInt32(0))
        for digit in text.dropLast(paddingCount) {
            guard let value = value(of: digit) else {
                bytes.removeLast(bytes.count - start)
                return false
            }
            (bits, width) = ((bits << 6 | value) & 0xFFFF, width + 6)
            guard width >= 8 else { continue }
            width -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> width))
        }
        return true
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit) - 0x41
        case 0x61...0x7A: UInt32(digit) - 0x61 + 26
        case 0x30...0x39: UInt32(digit) - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
