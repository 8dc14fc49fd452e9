/// One scanned Swift file of the package.
struct SourceFile {
    /// The path relative to the top of the checkout, with slashes.
    let path: String
    /// The text as it stands on disk.
    let text: String
    /// The words of the code, strings and comments apart.
    let tokens: [Token]
    /// The comments by line.
    let comments: [Int: Comment]
    /// Which bracket closes which.
    let brackets: Brackets
    /// The declarations at file and type level.
    let declarations: [Declaration]

    /// Scans `text`, which need not be on disk.
    init(path: String, text: String) {
        let lexer = Lexer(text)
        self.path = path
        self.text = text
        tokens = lexer.tokens
        comments = lexer.comments
        brackets = Brackets(lexer.tokens)
        declarations =
            brackets.unbalancedLine == nil
            ? DeclarationScanner(tokens: tokens, brackets: brackets, comments: comments).declarations : []
    }

    /// The folder under `Sources` or `Tests`, which is the target's name.
    var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

    /// Whether this is part of the product and not of its tests.
    var isSource: Bool { path.hasPrefix("Sources/") }

    /// The finding that something is wrong at `line` of this file.
    func finding(_ line: Int, _ message: String) -> Finding {
        Finding(path: path, line: line, message: message)
    }

    /// The token `distance` places after the one at `index`, unless that is outside the file.
    func token(_ index: Int, _ distance: Int) -> Token? {
        tokens.indices.contains(index + distance) ? tokens[index + distance] : nil
    }
}
