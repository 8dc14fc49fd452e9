package import Configuration
import Document

/// Prints the findings in the configuration.
package struct FindingList {
    private let set: ConfigurationSet

    /// Creates the list of the findings in a configuration.
    package init(_ set: ConfigurationSet) {
        self.set = set
    }

    /// Prints all findings to standard error as warnings, for commands that do not need the faulty parts.
    package func warn() {
        for finding in set.findings {
            for var diagnostic in finding.diagnostics {
                diagnostic.severity = .warning
                Talk.note(diagnostic.rendered(file: finding.file))
            }
        }
    }

    /// Prints all findings to standard error, errors first.
    package func note() {
        let all = set.findings.flatMap { finding in finding.diagnostics.map { (file: finding.file, diagnostic: $0) } }
        let errors = all.filter { $0.diagnostic.severity == .error }
        let others = all.filter { $0.diagnostic.severity != .error }
        for (file, diagnostic) in errors + others { Talk.note(diagnostic.rendered(file: file)) }
    }
}
