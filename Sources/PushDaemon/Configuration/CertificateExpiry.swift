package import APNSModel
package import Document
import OpenSSL

/// Until when an app's certificate is good, and which file to replace then.
package struct CertificateExpiry: Hashable, Sendable {
    /// How near the end is.
    package enum Stage: Int, CaseIterable, Comparable, Sendable {
        /// 30 days at most are left.
        case month
        /// 7 days at most.
        case week
        /// A day at most.
        case day
        /// It is over.
        case expired

        /// The most seconds that are left.
        fileprivate var seconds: Int64 {
            switch self {
            case .month: 30 * 86_400
            case .week: 7 * 86_400
            case .day: 86_400
            case .expired: -1
            }
        }

        /// Tells whether the left one comes first.
        package static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    /// The certificate's name.
    package let name: String
    /// The file that it is in.
    package let file: String
    /// The last second of its time.
    package let notAfter: WallTime

    /// Creates the expiry of a certificate.
    package init(name: String, file: String, notAfter: WallTime) {
        self.name = name
        self.file = file
        self.notAfter = notAfter
    }

    /// The expiry of an app's certificate; `nil` for an app with a provider token, whose key has none.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - folder: Where the apps' files are.
    package init?(of app: ConfigurationSet.App, in folder: String) {
        guard case .certificate(let facts) = app.identity.credentials else { return nil }
        let own = ConfigurationFile.resolve(app.configuration.name + ".yaml", in: folder)
        self.init(
            name: facts.displayName, file: app.configuration.certificateFile(in: folder) ?? own,
            notAfter: WallTime(epochSeconds: facts.notAfter))
    }

    /// How many whole days are left; negative when it is over.
    package func daysLeft(at now: WallTime) -> Int { notAfter.days(after: now) }

    /// How near the end is; `nil` while it is far.
    package func stage(at now: WallTime) -> Stage? { Self.stage(of: notAfter, at: now) }

    /// What there is to say of it, as a warning; `nil` while the end is far.
    package func diagnostic(at now: WallTime) -> Diagnostic? {
        guard let words = Self.words(of: notAfter, at: now) else { return nil }
        return Diagnostic("certificate \"\(name)\" \(words)", hint: hint, severity: .warning).about("credentials")
    }

    /// What to do about it.
    package var hint: String {
        "create a new push certificate at the developer account and replace \(file): it is used without a restart"
    }

    /// What there is to say of a certificate whose last second that is: `expires on 2026-12-04, in 12 days`; `nil` while the
    /// end is far.
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
    /// How many whole days it is after another time; negative when it is before it.
    func days(after other: WallTime) -> Int {
        let (days, rest) = (epochSeconds - other.epochSeconds).quotientAndRemainder(dividingBy: 86_400)
        return Int(days) - (rest < 0 ? 1 : 0)
    }
}

extension Duration {
    fileprivate var hours: Int { Int(components.seconds / 3600) }
}
