/// The diagnostics of one file. All are counted, but only the first thousand are kept, with errors preferred to warnings.
package struct Report: Sendable {
    /// The maximum number of diagnostics kept; the others are only counted.
    package static let capacity = 1_000

    /// The kept diagnostics, in the order in which they were found.
    package private(set) var diagnostics: [Diagnostic] = []
    /// The number of errors found.
    package private(set) var errorCount = 0
    /// The number of warnings found.
    package private(set) var warningCount = 0

    /// Creates an empty report.
    package init() {}

    /// The kept diagnostics in file order; those without a place come first.
    package var inOrder: [Diagnostic] {
        let origin = Place(line: 0, column: 0)
        return diagnostics.sorted { ($0.place ?? origin) < ($1.place ?? origin) }
    }

    /// The number of diagnostics that can still be kept.
    package var room: Int { Self.capacity - diagnostics.count }

    /// Whether there are errors.
    package var hasErrors: Bool { errorCount > 0 }

    /// Adds a diagnostic.
    package mutating func add(_ diagnostic: Diagnostic) {
        switch diagnostic.severity {
        case .error: errorCount += 1
        case .warning: warningCount += 1
        }
        if diagnostics.count >= Self.capacity {
            // An error, for which a job fails, replaces a warning when the report is full.
            guard diagnostic.severity == .error,
                let last = diagnostics.lastIndex(where: { $0.severity == .warning })
            else { return }
            diagnostics.remove(at: last)
        }
        diagnostics.append(diagnostic)
    }

    /// Counts diagnostics without storing them, so that the caller need not create them when the report is full.
    package mutating func count(errors: Int, warnings: Int) {
        errorCount += errors
        warningCount += warnings
    }
}
