import Document
import PushDaemon

/// What was found in the configuration, for people.
struct FindingList {
    private let set: ConfigurationSet

    init(_ set: ConfigurationSet) {
        self.set = set
    }

    /// Prints everything to standard error as warnings, for those who can do without what is at fault.
    func warn() {
        for finding in set.findings {
            for var diagnostic in finding.diagnostics {
                diagnostic.severity = .warning
                Talk.note(diagnostic.rendered(file: finding.file))
            }
        }
    }

    /// Prints everything to standard error, what is an error before what is only a warning.
    func note() {
        let all = set.findings.flatMap { finding in finding.diagnostics.map { (file: finding.file, diagnostic: $0) } }
        let errors = all.filter { $0.diagnostic.severity == .error }
        let others = all.filter { $0.diagnostic.severity != .error }
        for (file, diagnostic) in errors + others { Talk.note(diagnostic.rendered(file: file)) }
    }
}
