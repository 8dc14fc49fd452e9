import Configuration
import Document
import Gateways
import LinuxIO
import PushModel

/// Evaluates a configuration: everything that `check` reports, and whether it suits Apple's gateways.
struct ConfigurationJudgement {
    /// The path of the daemon's file.
    let path: String
    /// The configuration.
    let set: ConfigurationSet
    /// The apps to report on; empty: all.
    let wanted: Set<String>
    /// When the configuration was read.
    let now: WallTime

    /// The findings.
    var findings: [DoctorFinding] {
        var book = FindingBook(.configuration)
        if let lack = set.lackOfApps { book.warn(lack.message, hint: lack.hint ?? "see pushspool.yaml(5)") }
        let apps = set.apps.filter { isWanted($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        return set.findings.flatMap(findings(in:)) + book.findings + apps.flatMap(findings(of:))
    }

    private func isWanted(_ app: String) -> Bool { wanted.isEmpty || wanted.contains(app) }

    /// The findings for one file; none if it belongs to an app that is not to be reported on.
    private func findings(in finding: ConfigurationSet.Finding) -> [DoctorFinding] {
        let app = finding.file == path ? nil : ConfigurationFile.app(of: finding.file)
        if let app, !isWanted(app) { return [] }
        var book = FindingBook(.configuration, of: app)
        for diagnostic in finding.diagnostics {
            let hint = diagnostic.hint ?? "see pushspool.yaml(5)"
            let words = diagnostic.words(in: finding.file)
            switch diagnostic.severity {
            case .error: book.fault(words, hint: hint)
            case .warning: book.warn(words, hint: hint)
            }
        }
        return book.findings
    }

    private func findings(of app: ConfiguredApp) -> [DoctorFinding] {
        let name = app.configuration.name
        var book = FindingBook(.configuration, of: name)
        let file = "\(set.daemon.apps)/\(name).yaml"
        if let diagnostic = CertificateExpiry(of: app, in: set.daemon.apps)?.diagnostic(at: now) {
            book.warn(diagnostic.words(in: file), hint: diagnostic.hint ?? "renew it")
        }
        let host = app.configuration.endpoint.address.host
        if let place = AppleGateway(host: host) {
            if let environment = place.environment, let own = app.configuration.environment, environment != own {
                book.fault(
                    "\(file): \(host) is Apple's gateway for \(environment), but the app's environment is \(own)",
                    hint: "set environment: \(environment), or remove `gateway`: it refuses tokens of the other one")
            }
            if app.configuration.fcm != nil {
                book.fault(
                    "\(file): \(host) is Apple's gateway, which does not speak FCM's protocol",
                    hint: "remove `gateway`, or set protocol: http2")
            }
            if app.configuration.binary != nil {
                book.fault(
                    "\(file): Apple's gateway has not supported the binary protocol since 2021",
                    hint: "set protocol: http2, or set `gateway:` to a compatible gateway")
            }
        }
        book.ok(app.summary)
        return book.findings
    }
}

/// One of Apple's own gateways, recognized by its host name.
private struct AppleGateway {
    /// The gateway's environment; `nil` if the name does not reveal it.
    let environment: AppConfiguration.Environment?

    init?(host: String) {
        guard host.hasSuffix(".push.apple.com") else { return nil }
        let labels = host.split(separator: ".").dropLast(3).map { String($0) }
        switch labels {
        case ["api"], ["gateway"]: environment = .production
        case ["api", "sandbox"], ["api", "development"], ["gateway", "sandbox"]: environment = .sandbox
        case _: environment = nil
        }
    }
}

extension Diagnostic {
    /// Place and message in one line, without the hint.
    fileprivate func words(in file: String) -> String {
        let place = place.map { ":\($0.line):\($0.column)" } ?? ""
        return "\(file)\(place): \(path.map { "\($0): " } ?? "")\(message)"
    }
}
