/// An error from libyaml, reworded for the author of the file.
struct SyntaxFault {
    let message: String
    let hint: String?
    /// Whether to show the start of the unfinished construct instead of the place where its end was expected.
    let isAtStart: Bool

    private init(_ message: String, hint: String?, isAtStart: Bool = false) {
        self.message = message
        self.hint = hint
        self.isAtStart = isAtStart
    }

    /// Rewords an error from libyaml's description and the byte at its position.
    init(_ problem: String, byte: UInt8?) {
        if problem == "found character that cannot start any token" {
            self = Self.stray(byte)
        } else {
            self = Self.known[problem] ?? SyntaxFault(problem, hint: nil)
        }
    }

    /// Rewords a byte-level error: invalid UTF-8, or a character that YAML does not allow.
    static func reader(_ problem: String, byte: UInt8?) -> (message: String, hint: String) {
        if byte == 0 { return ("the file contains a NUL byte", "save the file as UTF-8 text") }
        if problem == "control characters are not allowed" {
            return ("a control character is not allowed here", "write it as an escape in double quotes, such as \\x07")
        }
        return ("a byte here is not valid UTF-8", "save the file as UTF-8")
    }

    private static func stray(_ byte: UInt8?) -> SyntaxFault {
        switch byte {
        case UInt8(ascii: "\t"): tab
        case .some(let byte) where byte < 0x7F && byte > 0x20:
            SyntaxFault(
                "a value cannot start with `\(Character(UnicodeScalar(byte)))`", hint: "put quotes around the value")
        default: SyntaxFault("a value cannot start here", hint: "put quotes around the value")
        }
    }

    private static let tab = SyntaxFault("a tab is used for indentation", hint: "indent with spaces")
    private static let openString = SyntaxFault(
        "unterminated string", hint: "close it with the quote that it starts with", isAtStart: true)
    private static let alignment = "check the indentation: align entries of one level"
    private static let escape = "write \\\\ for a backslash, or use single quotes"

    private static let known: [String: SyntaxFault] = [
        "found unexpected end of stream": openString,
        "found unexpected document indicator": openString,
        "found a tab character that violates indentation": tab,
        "found a tab character where an indentation space is expected": tab,
        "mapping values are not allowed in this context": SyntaxFault(
            "unexpected colon", hint: "put quotes around a value that contains `: `; \(alignment)"),
        "mapping keys are not allowed in this context": SyntaxFault("unexpected key", hint: alignment),
        "block sequence entries are not allowed in this context": SyntaxFault(
            "unexpected `-`", hint: "start each element on a line of its own; \(alignment)"),
        "could not find expected ':'": SyntaxFault(
            "the colon after a key is missing", hint: "write `key: value`; indent continuation lines", isAtStart: true),
        "did not find expected key": SyntaxFault("this is not aligned with the keys before it", hint: alignment),
        "did not find expected '-' indicator": SyntaxFault(
            "this is not aligned with the elements before it", hint: alignment),
        "did not find expected ',' or ']'": SyntaxFault(
            "a comma or `]` is missing", hint: "close the sequence, or put a comma between its elements"),
        "did not find expected ',' or '}'": SyntaxFault(
            "a comma or `}` is missing", hint: "close the mapping, or put a comma between its members"),
        "did not find expected node content": SyntaxFault("a value is missing", hint: "write one, or null"),
        "did not find expected <document start>": SyntaxFault(
            "unexpected text after the end of the document", hint: alignment),
        "found unknown escape character": SyntaxFault("unknown escape sequence", hint: escape),
        "did not find expected hexdecimal number": SyntaxFault(
            "hexadecimal digits are missing in an escape", hint: escape),
        "found invalid Unicode character escape code": SyntaxFault(
            "an escape sequence is not a Unicode character", hint: "write the character itself"),
    ]
}
