/// Base64 (RFC 4648): bytes as text.
package struct Base64: Sendable {
    /// The usual alphabet, with padding (RFC 4648 §4).
    package static let standard = Base64("+/", isPadded: true)
    /// The alphabet for URLs, without padding (RFC 4648 §5, RFC 7515 §2).
    package static let url = Base64("-_", isPadded: false)

    private static let padding = UInt8(ascii: "=")

    private let alphabet: [UInt8]
    /// The value of each byte of text; 64 for those that are not in the alphabet.
    private let values: [UInt8]
    private let isPadded: Bool

    private init(_ lastTwo: String, isPadded: Bool) {
        self.isPadded = isPadded
        alphabet = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastTwo).utf8)
        var values = [UInt8](repeating: 64, count: 256)
        for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
        self.values = values
    }

    /// Appends the text of some bytes.
    package func append(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        var (bits, width) = (UInt32(0), UInt32(0))
        for byte in bytes {
            (bits, width) = ((bits << 8 | UInt32(byte)) & 0xFFFF, width + 8)
            while width >= 6 {
                width -= 6
                text.append(alphabet[Int(bits >> width) & 63])
            }
        }
        if width > 0 { text.append(alphabet[Int(bits << (6 - width)) & 63]) }
        if isPadded { for _ in 0..<(3 - bytes.count % 3) % 3 { text.append(Self.padding) } }
    }

    /// Returns the bytes of a text; `nil` for characters outside the alphabet, wrong padding and impossible lengths.
    package func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard isPadded ? text.count % 4 == 0 : text.count % 4 != 1 else { return nil }
        // At most two digits are padding.
        let paddingCount = isPadded ? text.suffix(2).reversed().prefix { $0 == Self.padding }.count : 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (bits, width) = (UInt32(0), UInt32(0))
        for digit in text.dropLast(paddingCount) {
            let value = values[Int(digit)]
            guard value < 64 else { return nil }
            (bits, width) = ((bits << 6 | UInt32(value)) & 0xFFFF, width + 6)
            guard width >= 8 else { continue }
            width -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> width))
        }
        return bytes
    }
}
