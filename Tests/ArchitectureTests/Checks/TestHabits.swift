/// What tests must not do, and how they are named.
enum TestHabits {
    /// Test files that may sleep, each with the reason. An entry that is not needed is a finding too.
    static let sleepers: [String: String] = [
        "Tests/TestSupport/Waiting.swift": "polls what other processes do, and lets time go by before a kill"
    ]

    /// Sleeps in tests, which make them slow on a fast machine and wrong on a slow one.
    static func sleeps(in file: SourceFile) -> [Finding] {
        guard !file.isSource else { return [] }
        let lines = file.tokens.indices.filter { isSleep(at: $0, in: file) }.map { file.tokens[$0].line }
        if sleepers[file.path] != nil {
            return lines.isEmpty ? [file.finding(1, "does not sleep: delete its entry in TestHabits.sleepers")] : []
        }
        return lines.map { file.finding($0, "a sleep in a test: wait for the event, or use a manual clock") }
    }

    private static func isSleep(at index: Int, in file: SourceFile) -> Bool {
        guard file.tokens[index].kind == .word, file.token(index, 1)?.isCode("(") == true else { return false }
        let isMember = file.token(index, -1)?.isCode(".") == true
        switch file.tokens[index].text {
        case "usleep", "nanosleep", "clock_nanosleep": return true
        case "sleep" where isMember: return ["Task", "Thread"].contains(file.token(index, -2)?.text)
        case "sleep": return file.token(index, -1)?.isCode("func") != true
        default: return false
        }
    }

    /// Test functions whose name is not a sentence in backticks.
    static func names(in file: SourceFile) -> [Finding] {
        file.declarations.compactMap { declaration in
            guard declaration.keyword == "func", declaration.attributes.contains("Test"),
                !declaration.name.contains(" ")
            else { return nil }
            return file.finding(declaration.line, "`\(declaration.name)` is no sentence: name tests in backticks")
        }
    }
}
