/// Finds the declarations of a file at file and type level; what stands inside function bodies is left alone.
struct DeclarationScanner {
    private(set) var declarations: [Declaration] = []
    private let tokens: [Token]
    private let brackets: Brackets
    private let comments: [Int: Comment]
    private var scopes: [Declaration.Scope] = []

    private static let typeKeywords: Set = ["struct", "class", "enum", "actor", "protocol", "extension"]
    private static let memberKeywords: Set = ["func", "init", "deinit", "subscript", "var", "let"]
    private static let plainKeywords: Set = ["case", "typealias", "associatedtype", "import"]
    private static let accessLevels: Set = ["open", "public", "package", "internal", "fileprivate", "private"]
    private static let modifiers: Set = [
        "static", "final", "override", "mutating", "nonmutating", "nonisolated", "indirect", "lazy", "weak", "unowned",
        "convenience", "required", "consuming", "borrowing", "isolated", "distributed", "unsafe",
    ]

    /// The attributes and modifiers gathered before a keyword.
    private struct Prefix {
        var first: Int?
        var access: String?
        var isStatic = false
        var attributes: [String] = []
    }

    /// Scans the whole file.
    init(tokens: [Token], brackets: Brackets, comments: [Int: Comment]) {
        self.tokens = tokens
        self.brackets = brackets
        self.comments = comments
        scan(tokens.indices)
    }

    private mutating func scan(_ range: Range<Int>) {
        var prefix = Prefix()
        var index = range.lowerBound
        while index < range.upperBound {
            if let next = skipPrefix(at: index, into: &prefix) {
                index = next
            } else if isKeyword(at: index, range) {
                index = declare(at: index, prefix, range)
                prefix = Prefix()
            } else {
                prefix = Prefix()
                index = brackets.closing(index) + 1
            }
        }
    }

    /// Takes one attribute or modifier; returns the index after it, or `nil` when none stands here.
    private func skipPrefix(at index: Int, into prefix: inout Prefix) -> Int? {
        let token = tokens[index]
        var next = index + 1
        if token.isCode("@"), next < tokens.count {
            prefix.attributes.append(tokens[next].text)
            next += 1
        } else if isModifier(at: index) {
            let isSetter = next < tokens.count && tokens[next].isCode("(")
            if Self.accessLevels.contains(token.text), !isSetter { prefix.access = token.text }
            if token.text == "static" || token.text == "class" { prefix.isStatic = true }
        } else {
            return nil
        }
        prefix.first = prefix.first ?? index
        guard next < tokens.count, tokens[next].isCode("("), tokens[next].start == tokens[next - 1].end else {
            return next
        }
        return brackets.closing(next) + 1
    }

    private func isModifier(at index: Int) -> Bool {
        let token = tokens[index]
        guard token.kind == .word, !isName(index) else { return false }
        if Self.modifiers.contains(token.text) || Self.accessLevels.contains(token.text) { return true }
        return token.text == "class" && index + 1 < tokens.count && Self.memberKeywords.contains(tokens[index + 1].text)
    }

    private func isKeyword(at index: Int, _ range: Range<Int>) -> Bool {
        let token = tokens[index]
        guard token.kind == .word, !isName(index) else { return false }
        if token.text == "case" { return scopes.last?.keyword == "enum" }
        return Self.typeKeywords.contains(token.text) || Self.memberKeywords.contains(token.text)
            || Self.plainKeywords.contains(token.text)
    }

    /// Whether the word is the name of a member, or a further case in a list, and no keyword.
    private func isName(_ index: Int) -> Bool {
        index > 0 && (tokens[index - 1].isCode(".") || tokens[index - 1].isCode(","))
    }
}

// MARK: - One declaration

extension DeclarationScanner {
    /// Keeps the declaration whose keyword stands at `index`; returns the index after what was read of it.
    private mutating func declare(at index: Int, _ prefix: Prefix, _ range: Range<Int>) -> Int {
        let keyword = tokens[index].text
        let nameIndex = min(index + 1, range.upperBound - 1)
        var declaration = Declaration(
            keyword: keyword, name: name(at: index, keyword), access: prefix.access, scopes: scopes,
            attributes: prefix.attributes, isStatic: prefix.isStatic, line: tokens[index].line,
            documentation: documentation(from: tokens[prefix.first ?? index].line, to: tokens[index].line))
        if Self.typeKeywords.contains(keyword) {
            return declareType(&declaration, nameIndex, range)
        }
        if Self.memberKeywords.contains(keyword) {
            let signature = signatureStart(at: index, keyword)
            declaration.body = body(after: signature, keyword, range)
            declaration.isThrowing = isThrowing(declaration, signature, range)
            declaration.isStored = isStored(declaration, signature)
        }
        declarations.append(declaration)
        // Past the name too, which may be a word such as `open`.
        return (declaration.body?.upperBound ?? (keyword == declaration.name ? index : nameIndex)) + 1
    }

    private mutating func declareType(_ declaration: inout Declaration, _ nameIndex: Int, _ range: Range<Int>) -> Int {
        guard let open = firstBrace(from: nameIndex, range) else { return nameIndex }
        let header = tokens[nameIndex..<open]
        let clause = header.drop { !$0.isCode(":") }.prefix { !$0.isCode("where") }
        declaration.inherited = clause.filter { $0.kind == .word }.map(\.text)
        if declaration.keyword == "actor" { declaration.inherited.append("Actor") }
        let nameTokens = header.prefix { !$0.isCode(":") && !$0.isCode("where") && !$0.isCode("<") }
        declaration.name = nameTokens.map(\.text).joined()
        let close = brackets.closing(open)
        declaration.lineCount = tokens[close].line - declaration.line + 1
        declarations.append(declaration)
        scopes.append(
            .init(
                keyword: declaration.keyword, name: declaration.name, inherited: declaration.inherited,
                access: declaration.access))
        scan(open + 1..<max(close, open + 1))
        scopes.removeLast()
        return close + 1
    }

    private func name(at index: Int, _ keyword: String) -> String {
        guard !["init", "deinit", "subscript"].contains(keyword), index + 1 < tokens.count else { return keyword }
        guard tokens[index + 1].kind == .symbol else { return tokens[index + 1].text }
        return tokens[(index + 1)...].prefix { !$0.isCode("(") && $0.kind == .symbol }.map(\.text).joined()
    }

    /// The `///` lines that end above `first`, or stand between the attributes and the keyword.
    private func documentation(from first: Int, to last: Int) -> [String] {
        var start = first
        while let comment = comments[start - 1], comment.standsAlone { start -= 1 }
        return (start...last).compactMap { comments[$0] }.filter(\.isDocumentation).map(\.text)
    }
}

// MARK: - Signatures and bodies

extension DeclarationScanner {
    /// The index after the parameter list, or after the name when there is none.
    private func signatureStart(at index: Int, _ keyword: String) -> Int {
        guard keyword == "func" || keyword == "init" || keyword == "subscript" else { return index + 1 }
        guard let open = tokens[index...].firstIndex(where: { $0.isCode("(") }) else { return index + 1 }
        return brackets.closing(open) + 1
    }

    /// The braces of a function, an accessor block, or a closure that makes the first value.
    private func body(after start: Int, _ keyword: String, _ range: Range<Int>) -> ClosedRange<Int>? {
        let isProtocol = scopes.last?.keyword == "protocol"
        let mayBeMissing = isProtocol || keyword == "var" || keyword == "let"
        let end = mayBeMissing ? nextDeclaration(after: start, range) : range.upperBound
        guard !(isProtocol && (keyword == "func" || keyword == "init")) else { return nil }
        guard let open = firstBrace(from: start, range.lowerBound..<end) else { return nil }
        return open...brackets.closing(open)
    }

    private func isThrowing(_ declaration: Declaration, _ start: Int, _ range: Range<Int>) -> Bool {
        let end = declaration.body?.lowerBound ?? nextDeclaration(after: start, range)
        let isVariable = declaration.keyword == "var" || declaration.keyword == "subscript"
        if isVariable, let body = declaration.body {
            return tokens[body].dropFirst().prefix { $0.isCode("get") || $0.isCode("async") || $0.isCode("throws") }
                .contains { $0.isCode("throws") }
        }
        guard declaration.keyword != "var" && declaration.keyword != "let", start < end else { return false }
        return tokens[start..<end].prefix { !$0.isCode("->") }.contains { $0.isCode("throws") || $0.isCode("rethrows") }
    }

    /// Whether a variable of a type is neither static nor computed: braces after `=` make or watch its value.
    private func isStored(_ declaration: Declaration, _ start: Int) -> Bool {
        let isVariable = declaration.keyword == "var" || declaration.keyword == "let"
        let isPart = scopes.last.map { $0.keyword != "protocol" && $0.keyword != "extension" } ?? false
        guard isVariable, isPart, !declaration.isStatic else { return false }
        guard let body = declaration.body, declaration.keyword == "var" else { return true }
        let observers = tokens[body].dropFirst().prefix(1).contains { $0.isCode("didSet") || $0.isCode("willSet") }
        return observers || tokens[start..<body.lowerBound].contains { $0.isCode("=") }
    }

    /// The first `{` outside round and square brackets.
    private func firstBrace(from start: Int, _ range: Range<Int>) -> Int? {
        var index = start
        while index < range.upperBound {
            if tokens[index].isCode("{") { return index }
            index = brackets.closing(index) + 1
        }
        return nil
    }

    /// The index where the next declaration of the same scope begins, or the end of the scope.
    private func nextDeclaration(after start: Int, _ range: Range<Int>) -> Int {
        var index = start
        while index < range.upperBound {
            let beginsLine = index > 0 && tokens[index - 1].line < tokens[index].line
            let beginsDeclaration = tokens[index].isCode("@") || isModifier(at: index) || isKeyword(at: index, range)
            if beginsLine && beginsDeclaration { return index }
            index = brackets.closing(index) + 1
        }
        return index
    }
}
