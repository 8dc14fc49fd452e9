/// Bearer tokens as text (RFC 6750 §2.1).
package enum BearerText {
    /// Whether the text is a token: one or more letters, digits and `-._~+/`, and then any number of `=`.
    package static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
        let end = text.lastIndex { $0 != UInt8(ascii: "=") }
        guard let end else { return false }
        return text[...end].allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: Self.signs.contains(byte)
            }
        }
    }

    private static let signs = Array("-._~+/".utf8)

    /// Returns a file's content without a byte order mark, and without line ends, spaces and tabs around it.
    package static func trimmed(_ content: [UInt8]) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x0A || byte == 0x0D || byte == 0x20 || byte == 0x09 }
        guard let last = content.lastIndex(where: { !isBlank($0) }) else { return [] }
        let text = content[...last]
        return (text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text).drop(while: isBlank)
    }

    /// Returns the token in an `Authorization` field: `Bearer <token>`.
    package static func token(in field: String) -> ArraySlice<UInt8>? {
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        let token = Array(parts[1].utf8)[...]
        return isValid(token) ? token : nil
    }
}
