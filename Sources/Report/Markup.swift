import Document

/// Writes HTML that is also well-formed XML, element by element. Closes each element, and escapes text.
struct Markup {
    /// The markup written so far.
    private(set) var text = ""

    /// Creates empty markup.
    init() {}

    /// Writes an element with the content that `body` writes.
    mutating func element(
        _ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ body: (inout Markup) -> Void
    ) {
        begin(name, attributes)
        text += ">"
        body(&self)
        text += "</\(name)>"
    }

    /// Writes an element that contains text.
    mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text words: String) {
        element(name, attributes) { $0.write(words) }
    }

    /// Writes an empty element.
    mutating func void(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        begin(name, attributes)
        text += "/>"
    }

    /// Writes text.
    mutating func write(_ words: String) {
        text += Self.escaped(words)
    }

    /// Writes existing markup, or a style sheet of the program, unchanged.
    mutating func writeRaw(_ markup: String) {
        text += markup
    }

    private mutating func begin(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        text += "<\(name)"
        for (key, value) in attributes { text += " \(key)=\"\(Self.escaped(value))\"" }
    }

    /// Escapes text for any place in a page, including quoted attributes. Markup characters become entities. Characters
    /// that are not allowed in a page, or that change the direction of text, become U+FFFD.
    static func escaped(_ words: String) -> String {
        var escaped = ""
        for scalar in words.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case "\t", "\n": escaped += " "
            default: escaped.unicodeScalars.append(isPrintable(scalar) ? scalar : "\u{FFFD}")
            }
        }
        return escaped
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.countsAsControl && scalar.value & 0xFFFE != 0xFFFE
    }
}
