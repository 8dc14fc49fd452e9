/// The rules of RFC 9113 §8.2 for every field that is not a pseudo-header field.
enum FieldRules {
    /// Connection-specific fields, which HTTP/2 forbids (§8.2.2).
    private static let forbidden: [[UInt8]] = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
    ].map { [UInt8]($0.utf8) }

    /// Whether the name and the value of the field at `index` are valid.
    static func isValid(_ fields: HeaderFields, at index: Int) -> Bool {
        let bytes = fields.bytes.span
        let name = bytes.extracting(fields.nameRange(at: index))
        return isName(name) && isValue(bytes.extracting(fields.valueRange(at: index))) && !isForbidden(name)
    }

    /// Whether the name has no capitals, no spaces, no colon and nothing outside printable ASCII.
    private static func isName(_ name: Span<UInt8>) -> Bool {
        for place in name.indices {
            let byte = name[place]
            if byte &- 0x61 < 26 || byte == 0x2d { continue }
            guard byte > 0x20, byte < 0x7f, byte &- 0x41 >= 26, byte != 0x3a else { return false }
        }
        return !name.isEmpty
    }

    /// Whether the value has no NUL, CR or LF, and no space or tab at either end.
    ///
    /// Checks the lowest byte first, because very few values contain a byte of 0x0d or below.
    private static func isValue(_ value: Span<UInt8>) -> Bool {
        guard !value.isEmpty else { return true }
        if isSpace(value[0]) || isSpace(value[value.count - 1]) { return false }
        var lowest = UInt8.max
        for place in value.indices { lowest = min(lowest, value[place]) }
        return lowest > 0x0d || value.indices.allSatisfy { ![0, 0x0a, 0x0d].contains(value[$0]) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isForbidden(_ name: Span<UInt8>) -> Bool {
        // All forbidden names begin with one of these letters.
        switch name[0] {
        case UInt8(ascii: "c"), UInt8(ascii: "k"), UInt8(ascii: "p"), UInt8(ascii: "t"), UInt8(ascii: "u"):
            forbidden.contains { name.holds($0) }
        default: false
        }
    }
}

extension Span where Element == UInt8 {
    /// Whether these are the bytes of `word`.
    func holds(_ word: [UInt8]) -> Bool {
        guard count == word.count else { return false }
        for place in indices where self[place] != word[place] { return false }
        return true
    }
}
