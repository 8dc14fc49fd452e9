import Document

/// Characters that libyaml, by YAML 1.1, takes for line breaks or for nothing, and YAML 1.2 for text (YAML 1.2.2, section 5.4).
///
/// In quotes libyaml would drop or fold them; elsewhere the rest of the line would become keys of the document.
enum OldBreaks {
    /// Rejects a document that has one: NEL, LS or PS anywhere, or a byte order mark that begins a line.
    ///
    /// - Throws: A diagnostic at the first.
    static func refuse(in tape: Tape, _ body: Range<Int>) throws(Diagnostic) {
        guard let (offset, name, escape) = find(in: tape.source.span.extracting(body)) else { return }
        throw Diagnostic(
            "the character \(name) is not supported here",
            hint: "remove it; to send it, write it as \(escape) in double quotes, or write the file as JSON",
            at: tape.place(at: body.lowerBound + offset))
    }

    private static func find(in text: Span<UInt8>) -> (offset: Int, name: String, escape: String)? {
        for index in text.indices where text[index] >= 0xC2 {
            switch (text[index], byte(index + 1, of: text), byte(index + 2, of: text)) {
            case (0xC2, 0x85, _): return (index, "U+0085 (next line)", "\\N")
            case (0xE2, 0x80, 0xA8): return (index, "U+2028 (line separator)", "\\L")
            case (0xE2, 0x80, 0xA9): return (index, "U+2029 (paragraph separator)", "\\P")
            case (0xEF, 0xBB, 0xBF) where index == 0 || text[index - 1] == 0x0A || text[index - 1] == 0x0D:
                return (index, "U+FEFF (byte order mark)", "\\uFEFF")
            default: continue
            }
        }
        return nil
    }

    private static func byte(_ index: Int, of text: Span<UInt8>) -> UInt8 { index < text.count ? text[index] : 0 }
}
