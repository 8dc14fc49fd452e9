/// Where memory-unsafe and compiler-unchecked code may stand, and what may stand nowhere.
enum UnsafeCode {
    private static let uncheckedHomes: Set = ["LinuxIO", "OpenSSL"]

    /// Words of unsafe memory outside the islands.
    static func unsafeWords(in file: SourceFile) -> [Finding] {
        guard file.isSource, !Layering.islands.contains(file.target) else { return [] }
        return file.tokens.indices.filter { isUnsafe(at: $0, in: file) }
            .map { file.finding(file.tokens[$0].line, "`\(file.tokens[$0].text)` outside the islands") }
    }

    private static func isUnsafe(at index: Int, in file: SourceFile) -> Bool {
        let token = file.tokens[index]
        if token.isCode("safe") { return file.token(index, -1)?.isCode("@") == true }
        let beginnings = ["unsafe", "Unsafe", "withUnsafe", "Unmanaged", "OpaquePointer"]
        return token.kind == .word && beginnings.contains { token.text.hasPrefix($0) }
    }

    /// Promises the compiler does not check: outside their two homes, or without a word of proof.
    static func uncheckedPromises(in file: SourceFile) -> [Finding] {
        file.tokens.indices.compactMap { index -> Finding? in
            let token = file.tokens[index]
            let isUnchecked = token.isCode("unchecked") && file.token(index, -1)?.isCode("@") == true
            let isNonisolated = token.isCode("nonisolated") && file.token(index, 2)?.isCode("unsafe") == true
            guard isUnchecked || isNonisolated else { return nil }
            let promise = isUnchecked ? "@unchecked" : "nonisolated(unsafe)"
            guard file.isSource, uncheckedHomes.contains(file.target) else {
                return file.finding(token.line, "`\(promise)` outside LinuxIO and OpenSSL")
            }
            guard file.comments[token.line] == nil, file.comments[token.line - 1] == nil else { return nil }
            return file.finding(token.line, "`\(promise)` without a comment that proves it")
        }
    }

    /// Traps on failure and placeholders for code that is not there.
    static func unfinishedCode(in file: SourceFile) -> [Finding] {
        file.tokens.indices.compactMap { index -> Finding? in
            let token = file.tokens[index]
            if token.isCode("try"), let mark = file.token(index, 1), mark.isCode("!"), mark.start == token.end {
                return file.finding(token.line, "`try!`: throw, or prove it with a value that cannot fail")
            }
            guard token.isCode("fatalError"), let message = file.token(index, 2), message.kind == .string,
                message.text.hasPrefix("not") || message.text.hasPrefix("un")
            else { return nil }
            return file.finding(token.line, "code that is not there yet")
        }
    }

    /// Notes to oneself in a text file of any kind, comments included.
    static func looseEnds(in text: String, path: String) -> [Finding] {
        // In two pieces each, so that this file has no loose ends.
        let words: Set = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { number, line in
            let found = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.first { words.contains(String($0)) }
            return found.map { Finding(path: path, line: number + 1, message: "loose end: \($0)") }
        }
    }

    /// Tasks that no task tree owns. A program's main function and tests may begin one.
    static func looseTasks(in file: SourceFile) -> [Finding] {
        guard file.isSource, file.target != "CommandProgram" else { return [] }
        return file.tokens.indices.filter { startsTask(at: $0, in: file) }
            .map { file.finding(file.tokens[$0].line, "a task outside the tree: await it, or add it to a group") }
    }

    private static func startsTask(at index: Int, in file: SourceFile) -> Bool {
        guard file.tokens[index].isCode("Task"), file.token(index, -1)?.isCode("->") != true else { return false }
        if file.token(index, 1)?.isCode(".") == true {
            return ["detached", "immediate", "immediateDetached", "init"].contains(file.token(index, 2)?.text)
        }
        var next = index + 1
        if file.token(index, 1)?.isCode("<") == true {
            next = file.tokens[next...].firstIndex { $0.isCode(">") }.map { $0 + 1 } ?? next
        }
        guard let opening = file.token(next, 0) else { return false }
        return opening.isCode("{") || opening.isCode("(")
    }
}
