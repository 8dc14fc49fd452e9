/// The diagnostics found in one file: all of them counted, the first thousand kept.
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

    /// Whether an error was found.
    package var hasErrors: Bool { errorCount > 0 }

    /// Adds one diagnostic.
    package mutating func add(_ diagnostic: Diagnostic) {
        switch diagnostic.severity {
        case .error: errorCount += 1
        case .warning: warningCount += 1
        }
        if diagnostics.count < Self.capacity { diagnostics.append(diagnostic) }
    }
}
