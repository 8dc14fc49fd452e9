package import PushModel

/// Decides which certificates to warn about: each once per stage, and once when the daemon starts.
package struct ExpiryWatch: Sendable {
    /// The last warning about an app's certificate.
    private struct Warning: Sendable {
        let notAfter: WallTime
        let stage: CertificateExpiry.Stage
    }

    private var told: [String: Warning] = [:]

    /// Creates a watch that has warned about nothing.
    package init() {}

    /// Takes the certificates of all apps.
    ///
    /// - Returns: The apps to warn about, sorted by name, each with its stage. A clock that is set back causes no new
    ///   warning.
    package mutating func note(
        _ expiries: [String: CertificateExpiry], at now: WallTime
    ) -> [(app: String, stage: CertificateExpiry.Stage)] {
        var news: [(app: String, stage: CertificateExpiry.Stage)] = []
        var next: [String: Warning] = [:]
        for (app, expiry) in expiries {
            let before = told[app].flatMap { $0.notAfter == expiry.notAfter ? $0 : nil }
            guard let stage = expiry.stage(at: now), before.map({ $0.stage < stage }) ?? true else {
                next[app] = before
                continue
            }
            next[app] = Warning(notAfter: expiry.notAfter, stage: stage)
            news.append((app, stage))
        }
        told = next
        return news.sorted { $0.app < $1.app }
    }
}
