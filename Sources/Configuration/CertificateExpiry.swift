package import Document
import OpenSSL
package import PushModel

/// The date on which an app's certificate expires, and the file to replace by then.
package struct CertificateExpiry: Hashable, Sendable {
    /// How close the expiry is.
    package enum Stage: Int, CaseIterable, Comparable, Sendable {
        /// At most 30 days are left.
        case month
        /// At most 7 days are left.
        case week
        /// At most one day is left.
        case day
        /// The certificate has expired.
        case expired

        /// The most seconds left in this stage.
        fileprivate var seconds: Int64 {
            switch self {
            case .month: 30 * 86_400
            case .week: 7 * 86_400
            case .day: 86_400
            case .expired: -1
            }
        }

        /// Returns whether the left stage comes first.
        package static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    /// The certificate's name.
    package let name: String
    /// The file that contains the certificate.
    package let file: String
    /// The last second at which the certificate is valid.
    package let notAfter: WallTime

    /// Creates the expiry of a certificate.
    package init(name: String, file: String, notAfter: WallTime) {
        self.name = name
        self.file = file
        self.notAfter = notAfter
    }

    /// Creates the expiry of an app's certificate; `nil` for an app with a provider token, whose key does not expire.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - folder: The folder of the apps' files.
    package init?(of app: ConfiguredApp, in folder: String) {
        guard case .certificate(let facts) = app.credentials else { return nil }
        let own = ConfigurationFile.resolve(app.configuration.name + ".yaml", in: folder)
        self.init(
            name: facts.displayName, file: app.configuration.certificateFile(in: folder) ?? own,
            notAfter: WallTime(epochSeconds: facts.notAfter))
    }

    /// The number of whole days left; negative after the expiry.
    package func daysLeft(at now: WallTime) -> Int { notAfter.days(after: now) }

    /// How close the expiry is; `nil` if more than 30 days are left.
    package func stage(at now: WallTime) -> Stage? { Self.stage(of: notAfter, at: now) }

    /// A warning about the expiry; `nil` if more than 30 days are left.
    package func diagnostic(at now: WallTime) -> Diagnostic? {
        guard let words = Self.words(of: notAfter, at: now) else { return nil }
        return Diagnostic("certificate \"\(name)\" \(words)", hint: hint, severity: .warning).about("credentials")
    }

    /// How to replace the certificate.
    package var hint: String {
        "create a new push certificate in your developer account and replace \(file); no restart is needed"
    }

    /// The text for a certificate with this last second, such as `expires on 2026-12-04, in 12 days`; `nil` if more
    /// than 30 days are left.
    package static func words(of notAfter: WallTime, at now: WallTime) -> String? {
        switch stage(of: notAfter, at: now) {
        case nil: return nil
        case .month?, .week?:
            let days = notAfter.days(after: now)
            return "expires on \(notAfter.day), in \(days) day\(days == 1 ? "" : "s")"
        case .day?: return "expires at \(notAfter.rfc3339), in less than \((notAfter - now).hours + 1) h"
        case .expired?: return "expired on \(notAfter.day)"
        }
    }

    private static func stage(of notAfter: WallTime, at now: WallTime) -> Stage? {
        let left = notAfter.epochSeconds - now.epochSeconds
        return Stage.allCases.last { left <= $0.seconds }
    }
}

extension WallTime {
    /// The number of whole days from another time to this one; negative if this one is earlier.
    package func days(after other: WallTime) -> Int {
        let (days, rest) = (epochSeconds - other.epochSeconds).quotientAndRemainder(dividingBy: 86_400)
        return Int(days) - (rest < 0 ? 1 : 0)
    }
}

extension Duration {
    fileprivate var hours: Int { Int(components.seconds / 3600) }
}
