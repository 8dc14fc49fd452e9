import Document
import ServiceProcess

/// Prints the findings in the configuration.
package struct FindingList {
    private let findings: [ConfigurationSet.Finding]

    /// Creates the list of the findings in a configuration.
    package init(_ set: ConfigurationSet) {
        self.init(set.findings)
    }

    /// Creates the list of these findings.
    package init(_ findings: [ConfigurationSet.Finding]) {
        self.findings = findings
    }

    /// Prints all findings to standard error as warnings, for commands that do not need the faulty parts.
    package func warn() {
        for finding in findings {
            for var diagnostic in finding.diagnostics {
                diagnostic.severity = .warning
                Talk.note(diagnostic.rendered(file: finding.file))
            }
        }
    }

    /// Prints all findings to standard error, errors first.
    package func note() {
        let all = findings.flatMap { finding in finding.diagnostics.map { (file: finding.file, diagnostic: $0) } }
        let errors = all.filter { $0.diagnostic.severity == .error }
        let others = all.filter { $0.diagnostic.severity != .error }
        for (file, diagnostic) in errors + others { Talk.note(diagnostic.rendered(file: file)) }
    }
}
