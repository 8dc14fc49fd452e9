extension Unicode.Scalar {
    /// Whether the scalar is unsafe to print: a terminal interprets it, or it breaks or reorders the surrounding text.
    ///
    /// These are the controls, the line and paragraph separators, and the marks that reorder text, all below U+10000.
    package var countsAsControl: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// Whether the text contains scalars that are unsafe to print.
    package var hasControls: Bool { unicodeScalars.contains { $0.countsAsControl } }

    /// The text with U+FFFD in place of each scalar that is unsafe to print, for text from untrusted sources.
    package var withoutControls: String {
        guard hasControls else { return self }
        let scalars = unicodeScalars.map { scalar -> Unicode.Scalar in scalar.countsAsControl ? "\u{FFFD}" : scalar }
        return String(String.UnicodeScalarView(scalars))
    }
}
