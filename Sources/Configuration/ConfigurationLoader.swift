import APNSModel
package import Document
import LinuxIO
package import PushModel
import ServiceProcess
import SpoolModel

/// The whole configuration, with everything that is wrong with it.
package struct ConfigurationSet: Sendable {
    /// The diagnostics for one file.
    package struct Finding: Hashable, Sendable {
        /// The path of the file, as the user can open it.
        package let file: String
        /// The errors and warnings.
        package let diagnostics: [Diagnostic]

        /// Creates the diagnostics for a file.
        package init(file: String, diagnostics: [Diagnostic]) {
            (self.file, self.diagnostics) = (file, diagnostics)
        }

        /// Whether there is any error.
        package var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }
    }

    /// The daemon's own configuration.
    package var daemon = DaemonConfiguration()
    /// The usable apps by name.
    package var apps: [String: ConfiguredApp] = [:]
    /// The apps that cannot run, because of errors or without their credentials; `findings` has the reasons.
    package var brokenApps: Set<String> = []
    /// The validity periods of the certificates of those broken apps whose only fault is that the certificate is not
    /// valid now.
    package var certificateTimes: [String: CertificateTime] = [:]
    /// Files in the apps' folder that are ignored because of their suffix, by the apps they were probably meant for.
    package var misnamedFiles: [String: String] = [:]
    /// The files of credentials and trusted authorities, including those of broken apps.
    package var credentialFiles: Set<String> = []
    /// Whether the daemon's own file has errors.
    package var isDaemonBroken = false
    /// Whether the spool, the control socket and the node's name are known in spite of errors in the daemon's file.
    package var arePlacesKnown = true
    /// Errors and warnings by file.
    package var findings: [Finding] = []

    /// Creates an empty configuration.
    package init() {}

    /// Whether there is any error.
    package var hasErrors: Bool { isDaemonBroken || findings.contains(where: \.hasErrors) }

    /// The warning that no app is configured; `nil` if there is one, or if errors leave that open.
    package var lackOfApps: Diagnostic? {
        guard !isDaemonBroken, apps.isEmpty, brokenApps.isEmpty else { return nil }
        let remedy = remedy(forLackOf: misnamedFiles.keys.sorted().first ?? "<app>")
        return Diagnostic(
            "no app is configured", hint: "\(remedy); see pushspool.yaml(5) and its samples", severity: .warning)
    }

    /// Why an app is broken: the first error in its file, with its place.
    package func fault(of app: String) -> String? {
        guard brokenApps.contains(app) else { return nil }
        for finding in findings where ConfigurationFile.app(of: finding.file) == app {
            guard let error = finding.diagnostics.first(where: { $0.severity == .error }) else { continue }
            let place = error.place.map { ":\($0.line):\($0.column)" } ?? ""
            return "\(finding.file)\(place): \(error.sentence)"
        }
        return nil
    }

    /// How to give an app the file that it lacks.
    package func remedy(forLackOf app: String) -> String {
        guard let file = misnamedFiles[app] else { return "write \(daemon.apps)/\(app).yaml" }
        return "rename \(daemon.apps)/\(file) to \(app).yaml"
    }

    /// Whether both have the same content, the same credentials and the same diagnostics.
    package func isSame(as other: ConfigurationSet) -> Bool {
        daemon == other.daemon && findings == other.findings
            && brokenApps == other.brokenApps && apps.count == other.apps.count
            && apps.allSatisfy { name, app in
                other.apps[name].map(app.isSame) ?? false
            }
    }
}

/// Reads `pushspool.yaml`, the apps' files and their credentials. `run` and `check` share this code.
package struct ConfigurationLoader: Sendable {
    /// The daemon's file.
    package let path: String
    private let shared = SharedIdentities()

    /// Creates a loader for the daemon's file and all files that it refers to.
    package init(path: String) {
        self.path = path
    }

    /// Reads everything that can be read, and checks certificates against the clock. Blocks for the files.
    package func load() -> ConfigurationSet {
        load(at: .now)
    }

    /// Reads everything as a running daemon does, which keeps the apps' folder it started with. Blocks.
    ///
    /// - Parameters:
    ///   - folder: The folder of the apps' files.
    ///   - known: The apps as previously loaded. An app is reused from here if neither its configuration nor any of its
    ///     files has changed, since making an identity takes milliseconds and memory.
    /// - Returns: The configuration, with everything that is wrong with it.
    package func load(appsIn folder: String, knowing known: [String: ConfiguredApp]) -> ConfigurationSet {
        load(Look(now: .now, known: known), appsIn: folder)
    }

    /// Reads everything, and checks certificates against `now` instead of the clock. Blocks for the files.
    package func load(at now: WallTime) -> ConfigurationSet {
        load(Look(now: now))
    }

    /// The inputs of one load.
    private struct Look {
        let now: WallTime
        var known: [String: ConfiguredApp] = [:]
        /// What the one app's file will contain that is looked at before it is written.
        var content: [UInt8]?
    }

    private func load(_ look: Look, appsIn folder: String? = nil) -> ConfigurationSet {
        var set = loadDaemon()
        if !set.isDaemonBroken { loadApps(from: folder ?? set.daemon.apps, into: &set, look) }
        return set
    }

    /// Reads only the daemon's own file, for callers that need no app and may lack permission to read the apps' files.
    /// Blocks for the file.
    package func loadDaemon() -> ConfigurationSet {
        var set = ConfigurationSet()
        var report = Report()
        do {
            let absent = "check the path, or give the daemon's file with --config"
            let document = try ConfigurationFile.parse(path, absent: absent)
            set.daemon = DaemonConfiguration(document, report: &report)
            set.arePlacesKnown = Self.arePlacesKnown(document, report)
        } catch {
            set.arePlacesKnown = false
            report.add(error)
        }
        let folder = FilePlace(path).directory
        set.daemon.spool = ConfigurationFile.resolve(set.daemon.spool, in: folder)
        set.daemon.state = ConfigurationFile.resolve(set.daemon.state, in: folder)
        set.daemon.apps = ConfigurationFile.resolve(set.daemon.apps, in: folder)
        set.daemon.control.folder = ConfigurationFile.resolve(set.daemon.control.folder, in: folder)
        set.isDaemonBroken = report.hasErrors
        set.add(path, report)
        return set
    }

    /// Whether no error concerns a key that says where things are, and no unknown key looks like a misspelling of one.
    private static func arePlacesKnown(_ document: Node, _ report: Report) -> Bool {
        let places = ["spool", "node", "control"]
        let isFaulty = report.diagnostics.contains { diagnostic in
            guard diagnostic.severity == .error, let path = diagnostic.path else { return false }
            return places.contains { path == $0 || path.hasPrefix($0 + ".") }
        }
        let isMisspelt = document.members.contains { member in
            !places.contains(where: member.key.isText) && Nearest.word(to: member.key.text, among: places) != nil
        }
        return document.kind == .mapping && !isFaulty && !isMisspelt
    }

    /// Reads the content of an app's file that is not there yet, and its credentials. Blocks for these.
    ///
    /// - Parameters:
    ///   - name: The app's name.
    ///   - content: What the file is to contain.
    ///   - folder: The folder of the apps' files.
    /// - Returns: The app, unless there are errors, and the findings.
    package func review(_ name: String, _ content: [UInt8], in folder: String) -> ConfigurationSet {
        var set = ConfigurationSet()
        load(name, from: "\(folder)/\(name).yaml", into: &set, Look(now: .now, content: content))
        return set
    }

    private func loadApps(from folder: String, into set: inout ConfigurationSet, _ look: Look) {
        do {
            // Decoding replaces invalid UTF-8, and the result is never a valid app name.
            let names = try Directory.open(path: folder).names().map { String(decoding: $0, as: UTF8.self) }
            for file in names.sorted() {
                if ConfigurationFile.isOfApp(file.utf8) {
                    load(String(file.dropLast(5)), from: folder + "/" + file, into: &set, look)
                } else if ConfigurationFile.isNearlyOfApp(file.utf8) {
                    set.noteMisnamed(file, in: folder, beside: names)
                }
            }
        } catch {
            var report = Report()
            report.add(Diagnostic("\(error)", hint: "create the folder, or set apps: to the folder of the apps' files"))
            set.isDaemonBroken = true
            set.add(path, report)
        }
    }

    /// Loads an app from its file, or from the content that the file will have.
    private func load(_ name: String, from file: String, into set: inout ConfigurationSet, _ look: Look) {
        var report = Report()
        var loader = IdentityLoader(folder: FilePlace(file).directory, now: look.now, sharing: shared)
        do throws(Diagnostic) {
            guard AppName.isValid(name) else {
                throw Diagnostic("the file name is not a valid app name", hint: "use \(AppName.rule)")
            }
            // Names that look the same to people can differ in bytes, and would then be two folders.
            guard set.apps[name] == nil, !set.brokenApps.contains(name) else {
                throw Diagnostic("another file name differs only in its Unicode form", hint: "remove or rename one")
            }
            var app: AppConfiguration
            if let content = look.content {
                app = AppConfiguration(name: name, try ConfigurationFile.parse(content), report: &report)
            } else {
                let (document, status) = try ConfigurationFile.load(file)
                app = AppConfiguration(name: name, document, report: &report)
                if let secret = app.secretKey, let fault = ConfigurationFile.exposure(of: status, at: file) {
                    let message = "is in the file itself, and \(fault.message)"
                    report.add(Diagnostic(message, hint: fault.hint).about(secret))
                }
            }
            try set.addChannels(to: &app, in: FilePlace(file).directory)
            set.credentialFiles.formUnion(app.credentialFiles(in: FilePlace(file).directory))
            if let fault = app.hook?.fault { report.add(fault) }
            if app.fcm != nil, let fault = Self.clockFault(at: look.now) { report.add(fault) }
            if !report.hasErrors { set.apps[name] = try loader.load(app, knowing: look.known[name]) }
        } catch {
            set.certificateTimes[name] = loader.untimely
            report.add(error)
        }
        if report.hasErrors || set.apps[name] == nil { set.brokenApps.insert(name) }
        set.add(file, report)
    }
}

extension ConfigurationLoader {
    /// A warning about a clock that was never set: Google gives no access token for a request of another time.
    private static func clockFault(at now: WallTime) -> Diagnostic? {
        // 2024-01-01T00:00:00Z
        guard now.epochSeconds < 1_704_067_200 else { return nil }
        return Diagnostic(
            "this machine's clock says \(now.rfc3339), and Google gives no access token at a wrong time",
            hint: "set the clock, for example with NTP", severity: .warning
        ).about("credentials.service_account")
    }
}

extension ConfigurationSet {
    /// Adds the channels of an app's channel file, and the diagnostics for that file.
    ///
    /// - Throws: `Diagnostic` for the app's own file if the channel file has errors: broadcasts would miss their channels.
    fileprivate mutating func addChannels(to app: inout AppConfiguration, in folder: String) throws(Diagnostic) {
        let file = ChannelFile(app: app.name, folder: folder)
        var report = Report()
        let channels = file.read(report: &report)
        for (name, channel) in app.channels.sorted(by: { $0.key < $1.key }) {
            guard let other = channels[name], other.id != channel.id else { continue }
            let hint = "remove one of them"
            let message = "has no effect: \(app.name).yaml has another channel of this name"
            report.add(Diagnostic(message, hint: hint, severity: .warning).about(name))
        }
        app = app.with(app.channels.merging(channels) { own, _ in own })
        add(file.path, report)
        if report.hasErrors { throw Diagnostic("its channel file \(file.path) has errors", hint: "fix that file") }
    }

    /// Adds a warning about a file that is ignored because of its suffix.
    fileprivate mutating func noteMisnamed(_ file: String, in folder: String, beside names: [String]) {
        let app = ConfigurationFile.app(of: file)
        let hint: String
        if !AppName.isValid(app) {
            hint = "rename it to <app>.yaml, with \(AppName.rule)"
        } else if names.contains(app + ".yaml") {
            hint = "remove it: \(app).yaml is read instead"
        } else {
            hint = "rename it to \(app).yaml"
            misnamedFiles[app] = file
        }
        var report = Report()
        report.add(Diagnostic("is ignored: an app's file must end in .yaml", hint: hint, severity: .warning))
        add("\(folder)/\(file)", report)
    }

    /// Adds the diagnostics of a file, if there are any.
    fileprivate mutating func add(_ file: String, _ report: Report) {
        guard !report.diagnostics.isEmpty else { return }
        findings.append(Finding(file: file, diagnostics: report.inOrder))
    }
}
