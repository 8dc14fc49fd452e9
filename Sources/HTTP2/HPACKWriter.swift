/// The representations of RFC 7541 that we send. Strings are never Huffman-coded.
extension [UInt8] {
    /// Adds an integer whose first byte shares its upper bits with `pattern` (RFC 7541 §5.1).
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

    /// Adds a string literal (§5.2).
    mutating func appendLiteral(_ text: [UInt8]) {
        appendInteger(text.count, prefixBits: 7, pattern: 0)
        append(contentsOf: text)
    }

    /// Adds a reference to a field of either table (§6.1).
    mutating func appendReference(_ index: Int) {
        appendInteger(index, prefixBits: 7, pattern: 0x80)
    }

    /// Adds the beginning of a literal field (§6.2.1, §6.2.2): its name, by reference if `nameIndex` is not `nil`.
    mutating func appendName(_ name: [UInt8], index nameIndex: Int?, isIndexed: Bool) {
        appendInteger(nameIndex ?? 0, prefixBits: isIndexed ? 6 : 4, pattern: isIndexed ? 0x40 : 0)
        if nameIndex == nil { appendLiteral(name) }
    }

    /// Adds a change of the table's size (§6.3).
    mutating func appendTableSize(_ byteCount: Int) {
        appendInteger(byteCount, prefixBits: 5, pattern: 0x20)
    }
}
