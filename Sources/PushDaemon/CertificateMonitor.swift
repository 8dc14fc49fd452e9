import Configuration
import Logging
import PushModel
import ServiceProcess

/// Warns before certificates expire.
struct CertificateMonitor {
    private let logger: Logger
    private var expiries: [String: CertificateExpiry] = [:]
    private var watch = ExpiryWatch()

    init(_ logger: Logger) { self.logger = logger }

    /// Uses the certificates of a new configuration.
    mutating func follow(_ configuration: ConfigurationSet) {
        let folder = configuration.daemon.apps
        expiries = configuration.apps.compactMapValues { CertificateExpiry(of: $0, in: folder) }
        for (app, time) in configuration.certificateTimes.sorted(by: { $0.key < $1.key }) {
            guard time.wait(from: .now) != nil else { continue }
            logger.notice(
                "app waits until its certificate is valid",
                metadata: [LogKey.app: "\(app)", LogKey.until: "\(time.start.rfc3339)"])
        }
    }

    /// Logs certificates that are about to expire or have expired: once each at 30 days, 7 days, one day and none.
    mutating func warn() {
        let now = WallTime.now
        for (app, stage) in watch.note(expiries, at: now) {
            guard let expiry = expiries[app] else { continue }
            let metadata: Logger.Metadata = [
                LogKey.app: "\(app)", LogKey.path: "\(expiry.file)", LogKey.notAfter: "\(expiry.notAfter.rfc3339)",
                LogKey.daysLeft: "\(expiry.daysLeft(at: now))", LogKey.hint: "\(expiry.hint)",
            ]
            switch stage {
            case .month, .week: logger.warning("certificate expires soon", metadata: metadata)
            case .day: logger.error("certificate expires soon", metadata: metadata)
            case .expired: logger.error("certificate has expired", metadata: metadata)
            }
        }
    }
}
