/// Base64 in the alphabet for URLs, without padding (RFC 4648 §5, RFC 7515 §2).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Appends `bytes`, encoded.
    static func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        var (bits, width) = (UInt32(0), UInt32(0))
        for byte in bytes {
            bits = (bits << 8 | UInt32(byte)) & 0xFFFF
            width += 8
            while width >= 6 {
                width -= 6
                text.append(alphabet[Int(bits >> width) & 63])
            }
        }
        if width > 0 { text.append(alphabet[Int(bits << (6 - width)) & 63]) }
    }

    /// Decodes `text`; `nil` for padding, characters outside the alphabet, and impossible lengths.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (bits, width) = (UInt32(0), UInt32(0))
        for sign in text {
            guard let value = value(of: sign) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            width += 6
            guard width >= 8 else { continue }
            width -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> width))
        }
        return bytes
    }

    private static func value(of sign: UInt8) -> UInt32? {
        switch sign {
        case 0x41...0x5A: UInt32(sign) - 0x41
        case 0x61...0x7A: UInt32(sign) - 0x61 + 26
        case 0x30...0x39: UInt32(sign) - 0x30 + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
