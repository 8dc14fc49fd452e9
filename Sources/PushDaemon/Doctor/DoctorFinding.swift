/// One thing that the doctor looked at: how it is, and what to do about it.
package struct DoctorFinding: Hashable, Sendable {
    /// How it is.
    package enum Severity: String, CaseIterable, Comparable, Sendable {
        /// Something is not sent, or will not be.
        case fault
        /// It works, but not as it was meant, or not for long.
        case warn
        /// It is as it should be.
        case ok

        /// Tells whether the left one is worse.
        package static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// What it is about; what is most likely to be at fault comes first.
    package enum Area: String, CaseIterable, Comparable, Sendable {
        /// The files of the configuration, and the credentials that they name.
        case configuration
        /// The spool, and the apps by their names there and in the configuration.
        case names
        /// Owners and modes of folders.
        case permissions
        /// The way to a gateway, and what it says of the app.
        case gateway
        /// The time of day.
        case clock
        /// What the spool is stored on.
        case filesystem
        /// What the kernel allows.
        case limits
        /// The daemon, and its journal.
        case daemon

        /// Tells whether the left one is looked at first.
        package static func < (left: Area, right: Area) -> Bool { left.rank < right.rank }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// How it is.
    package let severity: Severity
    /// What it is about.
    package let area: Area
    /// The app, if it is about one.
    package let app: String?
    /// What was found.
    package let message: String
    /// What to do; `nil` if it is as it should be.
    package let hint: String?
}

/// Gathers what is found in one area, of one app or of none.
struct FindingBook {
    private let area: DoctorFinding.Area
    private let app: String?
    /// What was found, in order.
    private(set) var findings: [DoctorFinding] = []

    init(_ area: DoctorFinding.Area, of app: String? = nil) {
        (self.area, self.app) = (area, app)
    }

    /// Notes what is as it should be.
    mutating func ok(_ message: String) { add(.ok, message, nil) }

    /// Notes what works, but should not stay so.
    mutating func warn(_ message: String, hint: String) { add(.warn, message, hint) }

    /// Notes what keeps something from being sent.
    mutating func fault(_ message: String, hint: String) { add(.fault, message, hint) }

    private mutating func add(_ severity: DoctorFinding.Severity, _ message: String, _ hint: String?) {
        findings.append(DoctorFinding(severity: severity, area: area, app: app, message: message, hint: hint))
    }
}
