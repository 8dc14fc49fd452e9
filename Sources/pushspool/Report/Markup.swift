import Document

/// HTML that is well-formed XML too, written element by element: what is opened is closed, and text is escaped.
struct Markup {
    /// What has been written.
    private(set) var text = ""

    /// Nothing is written yet.
    init() {}

    /// Writes an element with what `body` writes in it.
    mutating func element(
        _ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ body: (inout Markup) -> Void
    ) {
        begin(name, attributes)
        text += ">"
        body(&self)
        text += "</\(name)>"
    }

    /// Writes an element with text in it.
    mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String> = [:], text words: String) {
        element(name, attributes) { $0.write(words) }
    }

    /// Writes an element without content.
    mutating func void(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        begin(name, attributes)
        text += "/>"
    }

    /// Writes text.
    mutating func write(_ words: String) {
        text += Self.escaped(words)
    }

    /// Writes what is markup already, or a style sheet of ours.
    mutating func writeRaw(_ markup: String) {
        text += markup
    }

    private mutating func begin(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        text += "<\(name)"
        for (key, value) in attributes { text += " \(key)=\"\(Self.escaped(value))\"" }
    }

    /// Text as it may stand anywhere, in quotes too: characters of markup as entities, those that have no place in a page, or
    /// turn the text around them, as a mark in their stead.
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
