/// The result of one check by the doctor, with a hint if something is wrong.
package struct DoctorFinding: Hashable, Sendable {
    /// How serious a finding is.
    package enum Severity: String, CaseIterable, Comparable, Sendable {
        /// Something is not sent, or will not be.
        case fault
        /// It works, but not as intended, or not for long.
        case warn
        /// The check passed.
        case ok

        /// Returns whether the left severity is worse.
        package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The subject of a finding. The areas are ordered by how likely they are to be at fault.
    package enum Area: String, CaseIterable, Comparable, Sendable {
        /// The configuration files, and the credentials that they name.
        case configuration
        /// The spool, and the names of the apps in it and in the configuration.
        case names
        /// Owners and modes of folders.
        case permissions
        /// The connection to a gateway, and the gateway's answer to the app.
        case gateway
        /// The system clock.
        case clock
        /// The filesystem that stores the spool.
        case filesystem
        /// The other nodes of the cluster, and what they share.
        case cluster
        /// The kernel's limits.
        case limits
        /// The daemon and its journal.
        case daemon

        /// Returns whether the left area comes first.
        package static func < (left: Area, right: Area) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// How serious the finding is.
    package let severity: Severity
    /// The subject of the finding.
    package let area: Area
    /// The app, if the finding concerns one.
    package let app: String?
    /// The message.
    package let message: String
    /// How to fix it; `nil` if the check passed.
    package let hint: String?
}

/// Collects the findings in one area, for one app or for none.
package struct FindingBook {
    private let area: DoctorFinding.Area
    private let app: String?
    /// The findings in the order in which they were added.
    package private(set) var findings: [DoctorFinding] = []

    /// Creates an empty book.
    package init(_ area: DoctorFinding.Area, of app: String? = nil) {
        (self.area, self.app) = (area, app)
    }

    /// Adds a passed check.
    package mutating func ok(_ message: String) { add(.ok, message, nil) }

    /// Adds a warning: it works, but needs attention.
    package mutating func warn(_ message: String, hint: String) { add(.warn, message, hint) }

    /// Adds a fault: it prevents something from being sent.
    package mutating func fault(_ message: String, hint: String) { add(.fault, message, hint) }

    private mutating func add(_ severity: DoctorFinding.Severity, _ message: String, _ hint: String?) {
        findings.append(DoctorFinding(severity: severity, area: area, app: app, message: message, hint: hint))
    }
}
