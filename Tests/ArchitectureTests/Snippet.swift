extension SourceFile {
    /// Scans a piece of code as if it were a file of the product's target `target`.
    static func source(_ text: String, target: String = "PushDaemon") -> SourceFile {
        SourceFile(path: "Sources/\(target)/Snippet.swift", text: text)
    }

    /// Scans a piece of code as if it were a test file.
    static func test(_ text: String) -> SourceFile {
        SourceFile(path: "Tests/PushDaemonTests/SnippetTests.swift", text: text)
    }
}

/// A run of `count` lines of code.
func lines(_ count: Int) -> String {
    String(repeating: "count += 1\n", count: count)
}
