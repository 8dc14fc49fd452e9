import Document
import PushModel

extension FileName: CustomStringConvertible {
    /// The name for JSON, logs and terminals: UTF-8 unchanged; other bytes, control characters and `%` as `%XX`.
    ///
    /// Different names have different escapes. Line separators and bidirectional marks count as control characters.
    package var escaped: String { String(spelledBy: { appendEscaped(to: &$0) }) }

    /// Appends `escaped`, in UTF-8.
    package func appendEscaped(to text: inout [UInt8]) {
        // The fast path for nearly all names.
        guard !bytes.allSatisfy(isPlain) else { return text.append(contentsOf: bytes) }
        var rest = bytes[...]
        while let byte = rest.first {
            if let scalar = leadingScalar(of: rest), !mustEscape(scalar) {
                let width = UTF8.width(scalar)
                text.append(contentsOf: rest.prefix(width))
                rest = rest.dropFirst(width)
            } else {
                VisibleText.appendEscape(of: byte, to: &text)
                rest = rest.dropFirst()
            }
        }
    }

    /// Reads the output of `escaped`.
    ///
    /// - Returns: `nil` if a `%` is not followed by two hexadecimal digits, or the result is not a valid file name.
    package init?(escaped text: String) {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(nibble), let low = rest.popFirst().flatMap(nibble)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        self.init(bytes: bytes)
    }

    /// The same as `escaped`.
    package var description: String { escaped }
}

/// Returns the Unicode scalar that the bytes start with; `nil` if they do not start with valid UTF-8.
private func leadingScalar(of bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
    var iterator = bytes.prefix(4).makeIterator()
    var decoder = UTF8()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
    return scalar
}

/// Whether a byte is an ASCII character that needs no escape.
private func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "%")
}

private func mustEscape(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "%" || scalar.countsAsControl
}

/// Returns the uppercase hexadecimal digit of a nibble, as ASCII.
package func upperCaseDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? 0x30 + nibble : 0x37 + nibble
}

private func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
}
