import APNSGateway
import APNSModel
import Logging
import OpenSSL
import SpoolModel

extension Daemon {
    /// How often is looked around at most: when the status is written.
    private static let lookPause = Duration.seconds(30)

    /// Takes the certificates of a configuration that comes into force.
    func noteExpiries() {
        let folder = configuration.daemon.apps
        expiries = configuration.apps.compactMapValues { CertificateExpiry(of: $0, in: folder) }
        nextLook = .zero
        for (app, time) in configuration.certificateTimes.sorted(by: { $0.key < $1.key }) {
            guard time.wait(from: .now) != nil else { continue }
            logger.notice(
                "app waits until its certificate is valid",
                metadata: [LogKey.app: "\(app)", LogKey.until: "\(time.start.rfc3339)"])
        }
    }

    /// Looks at what no event tells of: certificates that expire or become valid, and folders of the configuration that are
    /// there again.
    func lookAround() {
        clock.look()
        guard Moment.now >= nextLook else { return }
        lookAtCertificates()
        if hasTimelyCertificate || configurationWatch?.followAgain() == true { reload() }
        nextLook = .now + min(Self.lookPause, certificateWait ?? Self.lookPause)
    }

    /// How long until the first app may start whose certificate is not valid yet; `nil` if there is none.
    var certificateWait: Duration? {
        configuration.certificateTimes.values.compactMap { $0.wait(from: .now) }.min()
    }

    /// Whether the certificate of an app that was refused for it is valid now: its time has come, or the clock was set.
    private var hasTimelyCertificate: Bool {
        configuration.certificateTimes.values.contains { $0.includes(.now) }
    }

    /// Tells of certificates that are about to expire, or have: once at 30 days, 7 days, one day and none.
    private func lookAtCertificates() {
        let now = WallTime.now
        for (app, stage) in expiryWatch.note(expiries, at: now) {
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

extension AppIdentity {
    /// What the status says of it.
    func shown(at now: WallTime) -> SpoolStatus.Credentials {
        guard case .certificate(let facts) = credentials else { return SpoolStatus.Credentials(kind: .token) }
        let isContained = if case .pkcs12 = app.identity { true } else { false }
        var shown = SpoolStatus.Credentials(kind: isContained ? .pkcs12 : .certificate)
        let notAfter = WallTime(epochSeconds: facts.notAfter)
        shown.topics = facts.allTopics
        (shown.notAfter, shown.daysLeft) = (notAfter, notAfter.days(after: now))
        return shown
    }
}
