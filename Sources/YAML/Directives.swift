import Document

/// The directives before a document: lines that begin with `%`.
///
/// libyaml compares each with all earlier ones in a single step that cannot be interrupted, so their number is limited first.
enum Directives {
    /// The maximum number of directives in a document. YAML 1.2 defines two, one of which may occur only once.
    static let limit = 16

    /// Rejects a document with too many directives.
    ///
    /// - Throws: A diagnostic at the first directive beyond the limit.
    static func refuseExcess(in tape: Tape, _ body: Range<Int>) throws(Diagnostic) {
        let found = find(in: tape.source[body], most: limit + 1)
        guard found.count > limit, let last = found.last else { return }
        throw Diagnostic(
            "the document has more than \(limit) directives",
            hint: "remove the lines that begin with `%`; a job needs none", at: tape.place(at: last))
    }

    /// Whether a directive follows a document, after nothing but comments and blank lines.
    static func isNext(in rest: ArraySlice<UInt8>) -> Bool { !find(in: rest, most: 1).isEmpty }

    /// Returns the offsets of the lines that begin with `%`, up to other content or to `most` lines.
    private static func find(in text: ArraySlice<UInt8>, most: Int) -> [Int] {
        var found: [Int] = []
        var position = text.startIndex
        while position < text.endIndex, found.count < most {
            if text[position] == UInt8(ascii: "%") {
                found.append(position)
            } else {
                while position < text.endIndex, isBlank(text[position]) { position += 1 }
                guard position < text.endIndex else { break }
                if breakLength(in: text, at: position) == 0, text[position] != UInt8(ascii: "#") { break }
            }
            skipLine(in: text, &position)
        }
        return found
    }

    private static func skipLine(in text: ArraySlice<UInt8>, _ position: inout Int) {
        while position < text.endIndex {
            let length = breakLength(in: text, at: position)
            position += max(1, length)
            if length > 0 { return }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Returns the length of the line break at the position, or 0 if there is none. Like libyaml, accepts CR, LF, NEL,
    /// LS and PS.
    private static func breakLength(in text: ArraySlice<UInt8>, at position: Int) -> Int {
        switch text[position] {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): 1
        case 0xC2 where text[position...].starts(with: [0xC2, 0x85]): 2
        case 0xE2 where text[position...].starts(with: [0xE2, 0x80, 0xA8]): 3
        case 0xE2 where text[position...].starts(with: [0xE2, 0x80, 0xA9]): 3
        default: 0
        }
    }
}
