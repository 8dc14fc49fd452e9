/// One word of a Swift file, with the place it stands at.
struct Token: Equatable {
    /// What kind of text a token is.
    enum Kind: Equatable {
        /// A keyword or an identifier, `#if` and `$0` included.
        case word
        /// An identifier in backticks; its text is what stands between them.
        case quotedWord
        /// A literal that begins with a digit.
        case number
        /// A string literal; its text is its content without the interpolations, which follow as tokens.
        case string
        /// One punctuation character, or the arrow `->`.
        case symbol
    }

    /// What kind of text this is.
    let kind: Kind
    /// The text as written.
    let text: String
    /// The line, from 1.
    let line: Int
    /// The byte offset of the first character.
    let start: Int
    /// The byte offset after the last character.
    let end: Int

    /// Says whether this is the word or the symbol `text`, and not a string or a quoted identifier of that text.
    func isCode(_ text: String) -> Bool {
        (kind == .word || kind == .symbol) && self.text == text
    }
}
