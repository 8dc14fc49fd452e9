package import APNSModel
package import Document
import LinuxIO
import SpoolModel

/// Everything that is configured, and everything that is wrong with it.
package struct ConfigurationSet: Sendable {
    /// One app that is configured without a fault.
    package struct App: Sendable {
        /// What its file says.
        package let configuration: AppConfiguration
        /// What that and its credentials come to.
        package let identity: AppIdentity
    }

    /// What was found in one file.
    package struct Finding: Hashable, Sendable {
        /// The file, as a path that the user can open.
        package let file: String
        /// What was found.
        package let diagnostics: [Diagnostic]
    }

    /// The daemon's own.
    package var daemon = DaemonConfiguration()
    /// The apps that can work, by name.
    package var apps: [String: App] = [:]
    /// The apps that cannot, for the faults in `findings`.
    package var brokenApps: Set<String> = []
    /// When the certificates of those are valid that are at fault only because theirs is not valid now.
    package var certificateTimes: [String: CertificateTime] = [:]
    /// The files in the apps' folder that are not read for their ending, by the apps that they seem to be meant for.
    package var misnamedFiles: [String: String] = [:]
    /// The files that credentials and authorities are read from, also those of broken apps.
    package var credentialFiles: Set<String> = []
    /// Whether the daemon's own file is at fault.
    package var isDaemonBroken = false
    /// Whether it is certain, for all the faults of the daemon's own file, where the spool and the control socket are, and what the
    /// node is called.
    package var arePlacesKnown = true
    /// Errors and warnings, file by file.
    package var findings: [Finding] = []

    /// Creates the set of no configuration at all.
    package init() {}

    /// Whether anything is at fault.
    package var hasErrors: Bool { isDaemonBroken || !brokenApps.isEmpty }

    /// What to say if there is no app; `nil` if there is one, or if that cannot be known.
    package var lackOfApps: Diagnostic? {
        guard !isDaemonBroken, apps.isEmpty, brokenApps.isEmpty else { return nil }
        let remedy = remedy(forLackOf: misnamedFiles.keys.sorted().first ?? "<app>")
        return Diagnostic(
            "no app is configured", hint: "\(remedy); see pushspool.yaml(5) and its samples", severity: .warning)
    }

    /// What gives an app its file.
    func remedy(forLackOf app: String) -> String {
        guard let file = misnamedFiles[app] else { return "write \(daemon.apps)/\(app).yaml" }
        return "rename \(daemon.apps)/\(file) to \(app).yaml"
    }

    /// Whether both say the same, with the same credentials, and the same is wrong with them.
    func isSame(as other: ConfigurationSet) -> Bool {
        daemon.differences(from: other.daemon).isEmpty && findings == other.findings
            && brokenApps == other.brokenApps && apps.count == other.apps.count
            && apps.allSatisfy { name, app in
                guard let same = other.apps[name] else { return false }
                return app.configuration == same.configuration
                    && app.identity.fingerprint == same.identity.fingerprint
            }
    }
}

/// Reads `pushspool.yaml`, the apps' files and their credentials. The same for `run` and `check`.
package struct ConfigurationLoader: Sendable {
    /// The daemon's file.
    package let path: String

    /// Creates a loader for the daemon's file and all that it refers to.
    package init(path: String) {
        self.path = path
    }

    /// Reads everything, as far as it can be read, and checks certificates against the clock. Blocks for the files.
    package func load() -> ConfigurationSet {
        load(at: .now)
    }

    /// Reads everything as a running daemon does, which stays with the apps' folder that it began with. Blocks.
    ///
    /// - Parameters:
    ///   - folder: Where the apps' files are.
    ///   - known: The apps as they were. One that has not changed, nor any of its files, is taken from there: to make an
    ///     identity takes milliseconds, and its memory.
    /// - Returns: What is configured, and what is wrong with it.
    package func load(appsIn folder: String, knowing known: [String: ConfigurationSet.App]) -> ConfigurationSet {
        load(Look(now: .now, known: known), appsIn: folder)
    }

    /// Reads everything as if it were another time. Blocks for the files.
    package func load(at now: WallTime) -> ConfigurationSet {
        load(Look(now: now))
    }

    /// What a look starts from.
    private struct Look {
        let now: WallTime
        var known: [String: ConfigurationSet.App] = [:]
    }

    private func load(_ look: Look, appsIn folder: String? = nil) -> ConfigurationSet {
        var set = loadDaemon()
        if !set.isDaemonBroken { loadApps(from: folder ?? set.daemon.apps, into: &set, look) }
        return set
    }

    /// Reads the daemon's own file alone: for those who need no app, and may not be allowed to read any. Blocks for the file.
    package func loadDaemon() -> ConfigurationSet {
        var set = ConfigurationSet()
        var report = Report()
        do {
            let absent = "check the path, or name the daemon's file with --config"
            let document = try ConfigurationFile.parse(path, absent: absent)
            set.daemon = DaemonConfiguration(document, report: &report)
            set.arePlacesKnown = Self.arePlacesKnown(document, report)
        } catch {
            set.arePlacesKnown = false
            report.add(error)
        }
        let folder = ConfigurationFile.folder(of: path)
        set.daemon.spool = ConfigurationFile.resolve(set.daemon.spool, in: folder)
        set.daemon.state = ConfigurationFile.resolve(set.daemon.state, in: folder)
        set.daemon.apps = ConfigurationFile.resolve(set.daemon.apps, in: folder)
        set.daemon.controlFolder = ConfigurationFile.resolve(set.daemon.controlFolder, in: folder)
        set.isDaemonBroken = report.hasErrors
        set.add(path, report)
        return set
    }

    /// No fault is about what says where things are, and no unknown key is likely to be meant for that.
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

    private func loadApps(from folder: String, into set: inout ConfigurationSet, _ look: Look) {
        do {
            // A name that is no text is mended on the way, and no app's name for it.
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
            report.add(Diagnostic("\(error)", hint: "make the folder, or set apps: to where the apps' files are"))
            set.isDaemonBroken = true
            set.add(path, report)
        }
    }

    private func load(_ name: String, from file: String, into set: inout ConfigurationSet, _ look: Look) {
        var report = Report()
        var loader = IdentityLoader(folder: ConfigurationFile.folder(of: file), now: look.now)
        do throws(Diagnostic) {
            guard AppName.isValid(name) else {
                throw Diagnostic("the file's name is no app's name", hint: "use \(AppName.rule)")
            }
            // Texts that look the same are one name to people, and may be two folders.
            guard set.apps[name] == nil, !set.brokenApps.contains(name) else {
                throw Diagnostic("another file's name looks the same in other bytes", hint: "remove one, or rename it")
            }
            let document = try ConfigurationFile.parse(file)
            let app = AppConfiguration(name: name, document, report: &report)
            set.credentialFiles.formUnion(app.credentialFiles(in: ConfigurationFile.folder(of: file)))
            if let fault = app.hook?.fault { report.add(fault) }
            if !report.hasErrors { set.apps[name] = try loader.load(app, knowing: look.known[name]) }
        } catch {
            set.certificateTimes[name] = loader.untimely
            report.add(error)
        }
        if report.hasErrors { set.brokenApps.insert(name) }
        set.add(file, report)
    }
}

extension ConfigurationSet {
    /// Notes a file that is not read for its ending.
    fileprivate mutating func noteMisnamed(_ file: String, in folder: String, beside names: [String]) {
        let app = ConfigurationFile.app(of: file)
        let hint: String
        if !AppName.isValid(app) {
            hint = "rename it to <app>.yaml, with \(AppName.rule)"
        } else if names.contains(app + ".yaml") {
            hint = "remove it: \(app).yaml is what is read"
        } else {
            hint = "rename it to \(app).yaml"
            misnamedFiles[app] = file
        }
        var report = Report()
        report.add(Diagnostic("is not read: an app's file ends in .yaml", hint: hint, severity: .warning))
        add("\(folder)/\(file)", report)
    }

    /// Notes what was found in a file, unless it was nothing.
    fileprivate mutating func add(_ file: String, _ report: Report) {
        guard !report.diagnostics.isEmpty else { return }
        findings.append(Finding(file: file, diagnostics: report.inOrder))
    }
}
