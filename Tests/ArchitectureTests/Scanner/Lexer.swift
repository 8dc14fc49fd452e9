/// Splits Swift source into tokens and comments.
///
/// It knows strings of every form (raw, multi-line, interpolated to any depth), nested comments and identifiers in
/// backticks. It knows no regular expression literals: one that holds a quote or a brace unbalances the file,
/// which is a finding of its own, so nothing is overlooked silently.
struct Lexer {
    private(set) var tokens: [Token] = []
    private(set) var comments: [Int: Comment] = [:]
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    /// Reads all of `source`.
    init(_ source: String) {
        bytes = Array(source.utf8)
        readCode(isInterpolation: false)
    }

    /// Reads up to the end, or, within a string, up to the parenthesis that closes the interpolation.
    private mutating func readCode(isInterpolation: Bool) {
        var depth = 0
        while position < bytes.count {
            if isInterpolation, bytes[position] == UInt8(ascii: ")"), depth == 0 {
                position += 1
                return
            }
            if bytes[position] == UInt8(ascii: "(") { depth += 1 }
            if bytes[position] == UInt8(ascii: ")") { depth -= 1 }
            readOne()
        }
    }

    private mutating func readOne() {
        let byte = bytes[position]
        if byte == UInt8(ascii: "\n") {
            line += 1
            position += 1
        } else if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") {
            position += 1
        } else if startsWith("//") {
            readLineComment()
        } else if startsWith("/*") {
            readBlockComment()
        } else if let hashes = stringOpening() {
            readString(hashes: hashes)
        } else if byte == UInt8(ascii: "`") {
            readQuotedWord()
        } else {
            readWordOrSymbol()
        }
    }
}

// MARK: - Comments

extension Lexer {
    private mutating func readLineComment() {
        let isDocumentation = startsWith("///")
        let start = position + (isDocumentation ? 3 : 2)
        position = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        note(isDocumentation: isDocumentation, from: start)
    }

    private mutating func readBlockComment() {
        var depth = 0
        var lineStart = position
        repeat {
            if startsWith("/*") {
                depth += 1
                position += 2
            } else if startsWith("*/") {
                depth -= 1
                position += 2
            } else {
                if bytes[position] == UInt8(ascii: "\n") {
                    note(isDocumentation: false, from: lineStart)
                    line += 1
                    lineStart = position + 1
                }
                position += 1
            }
        } while depth > 0 && position < bytes.count
        note(isDocumentation: false, from: lineStart)
    }

    /// Keeps the comment that ends at the position on the present line.
    private mutating func note(isDocumentation: Bool, from start: Int) {
        comments[line] = Comment(
            isDocumentation: isDocumentation, standsAlone: tokens.last?.line != line,
            text: String(text(start..<max(start, position)).drop { $0 == " " }))
    }
}

// MARK: - Strings

extension Lexer {
    /// The number of `#` before the quote of a string that begins here; `nil` when none does.
    private func stringOpening() -> Int? {
        var end = position
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
        return end - position
    }

    private mutating func readString(hashes: Int) {
        let start = position
        let firstLine = line
        position += hashes
        let quotes = startsWith("\"\"\"") ? "\"\"\"" : "\""
        let pounds = String(repeating: "#", count: hashes)
        position += quotes.utf8.count
        let place = tokens.count
        let content = readContent(closing: quotes + pounds, escape: "\\" + pounds, isOneLine: quotes.count == 1)
        let token = Token(kind: .string, text: content, line: firstLine, start: start, end: position)
        tokens.insert(token, at: place)
    }

    /// Reads to the closing quotes and returns the content; the tokens of interpolations are kept as they come.
    private mutating func readContent(closing: String, escape: String, isOneLine: Bool) -> String {
        var content: [UInt8] = []
        while position < bytes.count, !startsWith(closing) {
            if startsWith(escape) {
                position += escape.utf8.count
                guard position < bytes.count else { break }
                if bytes[position] == UInt8(ascii: "(") {
                    position += 1
                    readCode(isInterpolation: true)
                    continue
                }
            } else if bytes[position] == UInt8(ascii: "\n"), isOneLine {
                return String(decoding: content, as: UTF8.self)
            }
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            content.append(bytes[position])
            position += 1
        }
        position = min(position + closing.utf8.count, bytes.count)
        return String(decoding: content, as: UTF8.self)
    }
}

// MARK: - Words and symbols

extension Lexer {
    private mutating func readQuotedWord() {
        let start = position + 1
        let close = bytes[start...].firstIndex(of: UInt8(ascii: "`")) ?? bytes.count
        position = min(close + 1, bytes.count)
        append(.quotedWord, text(start..<close), from: start - 1)
    }

    private mutating func readWordOrSymbol() {
        let start = position
        if startsWith("->") {
            position += 2
            return append(.symbol, "->", from: start)
        }
        position += 1
        guard Self.isWordByte(bytes[start]) || bytes[start] == UInt8(ascii: "#") else {
            return append(.symbol, text(start..<position), from: start)
        }
        while position < bytes.count, Self.isWordByte(bytes[position]) { position += 1 }
        let isNumber = bytes[start] >= UInt8(ascii: "0") && bytes[start] <= UInt8(ascii: "9")
        append(isNumber ? .number : .word, text(start..<position), from: start)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    private mutating func append(_ kind: Token.Kind, _ text: String, from start: Int) {
        tokens.append(Token(kind: kind, text: text, line: line, start: start, end: position))
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private func startsWith(_ text: String) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }
}
