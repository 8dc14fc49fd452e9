import Document
import PushDaemon

/// What was found in the configuration, for people.
struct FindingList {
    private let set: ConfigurationSet

    init(_ set: ConfigurationSet) {
        self.set = set
    }

    /// Prints everything to standard error.
    func note() {
        for finding in set.findings {
            for diagnostic in finding.diagnostics { Talk.note(diagnostic.rendered(file: finding.file)) }
        }
    }
}
