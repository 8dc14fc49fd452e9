/// Cores are told the time and handed their bytes: nothing in them waits, locks or reads a clock.
enum CorePurity {
    private static let words: Set = [
        "actor", "async", "await", "Atomic", "Clock", "ContinuousClock", "Date", "Mutex", "SuspendingClock",
        "SystemRandomNumberGenerator", "Task",
    ]

    /// Words that have no business in a core.
    static func findings(in file: SourceFile) -> [Finding] {
        guard file.isSource, Layering.cores.contains(file.target) else { return [] }
        return file.tokens.filter { $0.kind == .word && words.contains($0.text) }
            .map { file.finding($0.line, "`\($0.text)` in a core: take it as an argument, or move this to a shell") }
    }
}
