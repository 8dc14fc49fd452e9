import Document

/// Escapes text from others for terminals and tables.
package enum VisibleText {
    /// Returns the text with the characters that a terminal would interpret as `%XX`, in UTF-8. A `%` is unchanged.
    package static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends `escaped`, in UTF-8.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        // The fast path for nearly all text.
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return bytes.append(contentsOf: text.utf8) }
        for scalar in text.unicodeScalars {
            let isHarmful = scalar.countsAsControl
            for byte in String(scalar).utf8 {
                if isHarmful { appendEscape(of: byte, to: &bytes) } else { bytes.append(byte) }
            }
        }
    }

    /// Appends a byte as `%XX`.
    static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(upperCaseDigit(byte >> 4))
        bytes.append(upperCaseDigit(byte & 15))
    }
}
