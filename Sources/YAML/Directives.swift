import Document

/// The directives before a document: lines that begin with `%`.
///
/// libyaml compares each with all earlier ones in a single step that cannot be interrupted, so their number is limited first.
enum Directives {
    /// The maximum number of directives in a document. YAML 1.2 defines two, one of which may occur only once.
    static let limit = 16

    /// Rejects a document with too many directives, or one of another version of YAML: `yes` and `017` have other values there.
    ///
    /// - Throws: A diagnostic at the first directive beyond the limit, or at the directive with the version.
    static func check(in tape: Tape, _ body: Range<Int>) throws(Diagnostic) {
        let found = find(in: tape.source[body], most: limit + 1)
        if found.count > limit, let last = found.last {
            throw Diagnostic(
                "the document has more than \(limit) directives",
                hint: "remove the lines that begin with `%`; a job needs none", at: tape.place(at: last))
        }
        for start in found where tape.source[start..<body.upperBound].starts(with: "%YAML".utf8) {
            let line = tape.source[start..<body.upperBound].prefix { $0 != 0x0A && $0 != 0x0D }
            let words = String(decoding: line.prefix(80), as: UTF8.self).split { $0 == " " || $0 == "\t" }
            guard words.count < 2 || words[1] != "1.2" else { continue }
            throw Diagnostic(
                "\(Diagnostic.quoted(words.prefix(2).joined(separator: " "))) is not supported: files are read as YAML 1.2",
                hint: "remove the line", at: tape.place(at: start))
        }
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
                if !isBreak(text[position]), text[position] != UInt8(ascii: "#") { break }
            }
            skipLine(in: text, &position)
        }
        return found
    }

    private static func skipLine(in text: ArraySlice<UInt8>, _ position: inout Int) {
        while position < text.endIndex {
            position += 1
            if isBreak(text[position - 1]) { return }
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func isBreak(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
}
