/// The rule for text that becomes the value of a header field: one for job files, configuration and doors.
package enum FieldText {
    /// Returns why a gateway would refuse a request with this value (RFC 9113 §8.2.1, RFC 9110 §5.5).
    ///
    /// - Returns: The problem as a fragment, and the remedy; `nil` if a header field can carry the text.
    package static func fault(of text: String) -> (message: String, hint: String)? {
        let bytes = text.utf8
        if let control = bytes.first(where: { $0 < 0x20 || $0 == 0x7F }), control != UInt8(ascii: "\t") {
            return ("must not contain control characters", "remove the character \(name(of: Unicode.Scalar(control)))")
        }
        guard let first = bytes.first, let last = bytes.last else { return ("is empty", "omit it") }
        if isBlank(first) || isBlank(last) {
            return (
                "must not begin or end with a space or tab", "remove it: a header field cannot carry it (RFC 9113)"
            )
        }
        guard !bytes.contains(UInt8(ascii: "\t")) else {
            return ("must not contain control characters", "remove the tab")
        }
        return nil
    }

    /// Returns the character that begins at a byte; U+FFFD if none does.
    package static func scalar(in text: Span<UInt8>, at index: Int) -> Unicode.Scalar {
        var character: [UInt8] = []
        for next in index..<min(index + 4, text.count) { character.append(text[next]) }
        return String(decoding: character, as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
    }

    /// Returns which character of the text begins at a byte, counted from 1. Costs O(*n*).
    package static func place(in text: Span<UInt8>, of index: Int) -> Int {
        var place = 1
        for earlier in 0..<index where text[earlier] & 0xC0 != 0x80 { place += 1 }
        return place
    }

    /// Returns a character for a message: in backquotes, or its code point if it cannot be seen.
    package static func name(of scalar: Unicode.Scalar) -> String {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned, .privateUse,
            .surrogate, .nonspacingMark, .enclosingMark, .spacingMark:
            guard scalar != " " else { return "a space" }
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        default: return "`\(scalar)`"
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
