/// The diagnostics found in one file: all of them counted, the first thousand kept, errors rather than warnings.
package struct Report: Sendable {
    /// How many diagnostics are kept; the rest is only counted.
    package static let capacity = 1_000

    /// The diagnostics kept, in the order they were found.
    package private(set) var diagnostics: [Diagnostic] = []
    /// How many errors were found.
    package private(set) var errorCount = 0
    /// How many warnings were found.
    package private(set) var warningCount = 0

    /// Starts with nothing found.
    package init() {}

    /// The diagnostics kept, in the order of the file; those without a place come first.
    package var inOrder: [Diagnostic] {
        let origin = Place(line: 0, column: 0)
        return diagnostics.sorted { ($0.place ?? origin) < ($1.place ?? origin) }
    }

    /// How many more diagnostics are kept.
    package var room: Int { Self.capacity - diagnostics.count }

    /// Whether an error was found.
    package var hasErrors: Bool { errorCount > 0 }

    /// Adds one diagnostic.
    package mutating func add(_ diagnostic: Diagnostic) {
        switch diagnostic.severity {
        case .error: errorCount += 1
        case .warning: warningCount += 1
        }
        if diagnostics.count >= Self.capacity {
            // What a job fails for is not lost behind a thousand warnings.
            guard diagnostic.severity == .error,
                let last = diagnostics.lastIndex(where: { $0.severity == .warning })
            else { return }
            diagnostics.remove(at: last)
        }
        diagnostics.append(diagnostic)
    }

    /// Counts diagnostics for which there was no room, so that nobody had to put them together.
    package mutating func count(errors: Int, warnings: Int) {
        errorCount += errors
        warningCount += warnings
    }
}
