/// Writes compact JSON: no whitespace, and only the required escapes.
///
/// The writer inserts commas. The caller balances the brackets and writes a key before each value of an object.
package struct JSONWriter: Sendable {
    /// The bytes written. To start again, empty it, keeping its capacity, and call `startLine()`.
    package var bytes: [UInt8]
    private var needsComma = false

    /// Creates a writer that appends to the given bytes.
    package init(appendingTo bytes: [UInt8] = []) { self.bytes = bytes }

    /// Suppresses the comma before the next value, as at the start of a new line.
    package mutating func startLine() { needsComma = false }

    /// Opens an object.
    package mutating func beginObject() { open(UInt8(ascii: "{")) }

    /// Closes an object.
    package mutating func endObject() { close(UInt8(ascii: "}")) }

    /// Opens an array.
    package mutating func beginArray() { open(UInt8(ascii: "[")) }

    /// Closes an array.
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes a member's key.
    package mutating func key(_ key: String) {
        string(key)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member's key, given as valid UTF-8.
    package mutating func key(utf8 key: ArraySlice<UInt8>) {
        string(utf8: key)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string.
    package mutating func string(_ text: String) {
        let start = openString()
        bytes.append(contentsOf: text.utf8)
        closeString(from: start)
    }

    /// Writes a string given as valid UTF-8.
    package mutating func string(utf8 text: ArraySlice<UInt8>) {
        string(spelledBy: { $0.append(contentsOf: text) })
    }

    /// Writes a string whose valid UTF-8 bytes `append` appends to the buffer.
    package mutating func string(spelledBy append: (inout [UInt8]) -> Void) {
        let start = openString()
        append(&bytes)
        closeString(from: start)
    }

    /// Writes an integer.
    package mutating func integer(_ value: Int) {
        separate()
        bytes.appendDecimal(value)
    }

    /// Writes `true` or `false`.
    package mutating func boolean(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes `null`.
    package mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a value that is already valid JSON.
    package mutating func raw(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    private mutating func openString() -> Int {
        separate()
        bytes.append(UInt8(ascii: "\""))
        return bytes.count
    }

    private mutating func closeString(from start: Int) {
        if Self.mustEscape(bytes.span.extracting(start...)) { escape(from: start) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    /// Escapes the bytes from `start` on.
    private mutating func escape(from start: Int) {
        let rest = Array(bytes[start...])
        bytes.removeLast(rest.count)
        for byte in rest { append(escaping: byte) }
    }

    /// Whether any of these bytes needs an escape. Usually none does, and without an exit in between this is fast.
    private static func mustEscape(_ text: Span<UInt8>) -> Bool {
        var found: UInt8 = 0
        for index in text.indices {
            let byte = text[index]
            found |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return found != 0
    }

    private mutating func append(escaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
        case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
        case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
        case 0..<0x20:
            bytes.append(contentsOf: (byte < 0x10 ? "\\u000" : "\\u001").utf8)
            bytes.append(contentsOf: String(byte & 15, radix: 16).utf8)
        default: bytes.append(byte)
        }
    }
}

extension JSONWriter {
    /// Writes a member; writes nothing for `nil`.
    package mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    /// Writes a member with a number.
    package mutating func member(_ name: String, _ value: Int) {
        key(name)
        integer(value)
    }
}
