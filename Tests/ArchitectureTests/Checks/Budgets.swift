/// The sizes a reader can take in.
enum Budgets {
    static let fileLines = 500
    static let bodyLines = 40
    static let switchLines = 60
    static let parameters = 4

    /// Files, bodies and parameter lists over budget, and files whose brackets the scanner cannot pair.
    static func findings(in file: SourceFile) -> [Finding] {
        if let line = file.brackets.unbalancedLine {
            return [file.finding(line, "the scanner cannot pair this bracket, so it cannot check this file")]
        }
        return fileLength(of: file.text, path: file.path) + bodies(in: file) + parameterLists(in: file)
    }

    /// A finding when a file of any language is too long.
    static func fileLength(of text: String, path: String) -> [Finding] {
        let count = text.utf8.count { $0 == UInt8(ascii: "\n") }
        guard count > fileLines else { return [] }
        return [Finding(path: path, line: fileLines + 1, message: "file of \(count) lines, at most \(fileLines)")]
    }

    private static func bodies(in file: SourceFile) -> [Finding] {
        file.declarations.compactMap { declaration in
            guard let body = declaration.body else { return nil }
            let count = file.tokens[body.upperBound].line - file.tokens[body.lowerBound].line + 1
            let limit = isOneSwitch(body, in: file) ? switchLines : bodyLines
            guard count > limit else { return nil }
            return file.finding(declaration.line, "body of `\(declaration.name)` has \(count) lines, at most \(limit)")
        }
    }

    private static func isOneSwitch(_ body: ClosedRange<Int>, in file: SourceFile) -> Bool {
        let first = (body.lowerBound + 1..<body.upperBound).first {
            !["return", "try", "await"].contains(file.tokens[$0].text)
        }
        guard let first, file.tokens[first].isCode("switch") else { return false }
        var index = first + 1
        while index < body.upperBound, !file.tokens[index].isCode("{") { index = file.brackets.closing(index) + 1 }
        return file.brackets.closing(index) == body.upperBound - 1
    }

    private static func parameterLists(in file: SourceFile) -> [Finding] {
        file.tokens.indices.compactMap { index in
            guard isParameterized(at: index, in: file),
                let open = file.tokens[index...].firstIndex(where: { $0.isCode("(") })
            else { return nil }
            if isCallback(open, in: file) { return nil }
            let count = parameterCount(open, in: file)
            guard count > parameters else { return nil }
            let line = file.tokens[index].line
            return file.finding(
                line, "\(count) parameters, at most \(parameters): make a type of what belongs together")
        }
    }

    private static func isParameterized(at index: Int, in file: SourceFile) -> Bool {
        guard file.tokens[index].kind == .word, file.token(index, -1)?.isCode(".") != true else { return false }
        return ["func", "init", "subscript"].contains(file.tokens[index].text)
            && file.token(index, 1)?.isCode(":") != true
    }

    /// Whether this list takes pointers in an island: then it is C that decides its length.
    private static func isCallback(_ open: Int, in file: SourceFile) -> Bool {
        guard file.isSource, Layering.islands.contains(file.target) else { return false }
        return file.tokens[open...file.brackets.closing(open)].contains {
            $0.kind == .word && ($0.text.hasPrefix("Unsafe") || $0.text == "OpaquePointer")
        }
    }

    /// The number of commas at the level of the list, a last one left out, plus one.
    private static func parameterCount(_ open: Int, in file: SourceFile) -> Int {
        let close = file.brackets.closing(open)
        guard close > open + 1 else { return 0 }
        var count = 1
        var angles = 0
        var index = open + 1
        while index < close {
            if file.tokens[index].isCode("<") { angles += 1 }
            if file.tokens[index].isCode(">") { angles -= 1 }
            if file.tokens[index].isCode(","), angles == 0, index + 1 < close { count += 1 }
            index = file.brackets.closing(index) + 1
        }
        return count
    }
}
