/// Writes the RFC 7541 representations that this side sends. Strings are never Huffman-coded.
extension [UInt8] {
    /// Appends an integer whose first byte shares its upper bits with `pattern` (RFC 7541 §5.1).
    mutating func appendInteger(_ value: Int, prefixBits: Int, pattern: UInt8) {
        let limit = 1 << prefixBits - 1
        guard value >= limit else {
            append(pattern | UInt8(truncatingIfNeeded: value))
            return
        }
        append(pattern | UInt8(truncatingIfNeeded: limit))
        var rest = value - limit
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a string literal (§5.2).
    mutating func appendLiteral(_ text: [UInt8]) {
        appendInteger(text.count, prefixBits: 7, pattern: 0)
        append(contentsOf: text)
    }

    /// Appends a reference to a field of the static or the dynamic table (§6.1).
    mutating func appendReference(_ index: Int) {
        appendInteger(index, prefixBits: 7, pattern: 0x80)
    }

    /// Appends the name of a literal field (§6.2.1, §6.2.2), as a reference unless `nameIndex` is `nil`. The value must
    /// follow.
    mutating func appendName(_ name: [UInt8], index nameIndex: Int?, isIndexed: Bool) {
        appendInteger(nameIndex ?? 0, prefixBits: isIndexed ? 6 : 4, pattern: isIndexed ? 0x40 : 0)
        if nameIndex == nil { appendLiteral(name) }
    }

    /// Appends a change of the table size (§6.3).
    mutating func appendTableSize(_ byteCount: Int) {
        appendInteger(byteCount, prefixBits: 5, pattern: 0x20)
    }
}
