extension Unicode.Scalar {
    /// Whether it is not to be shown as it is: a terminal obeys it, or it breaks or reorders the text around it.
    ///
    /// The controls, the separators of lines and paragraphs, and the marks that reorder text; all below U+10000.
    package var countsAsControl: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// Whether there is anything in it that is not to be shown as it is.
    package var hasControls: Bool { unicodeScalars.contains { $0.countsAsControl } }

    /// The text with U+FFFD for all that is not to be shown as it is: for what somebody else may have written.
    package var withoutControls: String {
        guard hasControls else { return self }
        let scalars = unicodeScalars.map { scalar -> Unicode.Scalar in scalar.countsAsControl ? "\u{FFFD}" : scalar }
        return String(String.UnicodeScalarView(scalars))
    }
}
