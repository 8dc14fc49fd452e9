import Configuration
import Document
import LinuxIO
import Logging
import ServiceProcess

/// The configuration in force. Reads the files again after a change, and reports errors in them.
final class ConfigurationKeeper {
    private let loader: ConfigurationLoader
    private let logger: Logger
    private let logThreshold: LogThreshold
    /// The configuration in force.
    private(set) var current: ConfigurationSet
    /// Whether the daemon's own file was valid when it was read last.
    private(set) var isCurrent = true
    /// The changed keys of the daemon's own file that were reported to need a restart.
    private var unusedKeys: [String] = []
    /// The findings that were reported.
    private var reportedFindings: Set<String> = []
    /// The watch of the configuration's folders; `nil` before it starts, and if it cannot.
    private var watch: ConfigurationWatch?

    /// Creates a keeper for a configuration that was read with this loader.
    init(_ set: ConfigurationSet, _ loader: ConfigurationLoader, _ logThreshold: LogThreshold, _ logger: Logger) {
        (current, self.loader, self.logThreshold, self.logger) = (set, loader, logThreshold, logger)
    }

    /// Reads the configuration again. If the daemon's own file is broken, nothing changes. If an app's file is broken, that
    /// app keeps its last valid configuration.
    ///
    /// - Returns: Whether the files are now in force.
    func reload() -> Bool {
        var set = read()
        // Credential files may have changed before their folder was watched.
        if !set.isDaemonBroken, watch?.follow(set.credentialFiles) == true { set = read() }
        report(set)
        isCurrent = !set.isDaemonBroken
        if set.isDaemonBroken {
            logger.error("configuration is invalid and was not applied", metadata: [LogKey.path: "\(loader.path)"])
            return false
        }
        current.daemon.logLevel = set.daemon.logLevel
        logThreshold.level = set.daemon.logLevel.level
        reportUnused(set.daemon)
        for name in set.brokenApps { set.apps[name] = current.apps[name] }
        current.apps = set.apps
        current.brokenApps = set.brokenApps
        current.certificateTimes = set.certificateTimes
        current.misnamedFiles = set.misnamedFiles
        var metadata: Logger.Metadata = [LogKey.path: "\(loader.path)"]
        if !set.brokenApps.isEmpty { metadata[LogKey.broken] = "\(set.brokenApps.sorted().joined(separator: " "))" }
        logger.notice("configuration loaded", metadata: metadata)
        return true
    }

    private func read() -> ConfigurationSet { loader.load(appsIn: current.daemon.apps, knowing: current.apps) }

    /// Logs the findings that were not logged before.
    func report(_ set: ConfigurationSet) {
        var found: Set<String> = []
        for finding in set.findings {
            for diagnostic in finding.diagnostics {
                let text = diagnostic.rendered(file: finding.file)
                guard found.insert(text).inserted, !reportedFindings.contains(text) else { continue }
                let isFault =
                    diagnostic.severity == .error || set.brokenApps.contains(ConfigurationFile.app(of: finding.file))
                logger.log(
                    level: isFault ? .error : .warning, "configuration",
                    metadata: [LogKey.error: "\(text)"])
            }
        }
        reportedFindings = found
    }

    /// Logs, once for each change, the keys of the daemon's own file that need a restart.
    private func reportUnused(_ daemon: DaemonConfiguration) {
        let keys = daemon.differences(from: current.daemon)
        defer { unusedKeys = keys }
        guard !keys.isEmpty, keys != unusedKeys else { return }
        let hint: Logger.MetadataValue = "restart the daemon to apply them"
        logger.warning(
            "changed configuration keys need a restart",
            metadata: [LogKey.keys: "\(keys.joined(separator: " "))", LogKey.hint: hint])
    }

    /// How long an editor may take to write a file in several steps.
    private static let writingPause = Duration.milliseconds(300)

    /// Watches the configuration files and the credential files until the task is cancelled.
    ///
    /// - Parameters:
    ///   - reactor: The reactor that times pauses.
    ///   - onChange: Called after a change.
    func run(on reactor: Reactor, onChange: () -> Void) async {
        do {
            let watch = try ConfigurationWatch(of: loader.path, appsIn: current.daemon.apps)
            self.watch = watch
            defer {
                self.watch = nil
                watch.stop()
            }
            _ = self.watch?.follow(current.credentialFiles)
            // The watch did not see changes that were made while the journal was read.
            if !read().isSame(as: current) { onChange() }
            while let notices = await watch.watch.next() {
                guard self.watch?.note(notices) == true else { continue }
                try await reactor.sleep(for: Self.writingPause)
                onChange()
            }
        } catch is CancellationError {
            return
        } catch {
            let hint: Logger.MetadataValue = "send HUP after you change a file"
            logger.warning("configuration cannot be watched", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
        }
        await Wakeup.waitForCancellation(on: reactor)
    }

    /// Watches folders again that were missing.
    ///
    /// - Returns: Whether there are any. Their files may have changed.
    func followAgain() -> Bool { watch?.followAgain() == true }

    // MARK: Certificates that are not valid yet

    /// How long until the first certificate becomes valid that is not valid yet; `nil` if there is none.
    var certificateWait: Duration? { current.certificateTimes.values.compactMap { $0.wait(from: .now) }.min() }

    /// Whether the certificate of a refused app is valid now, because its time has come or the clock was set.
    var hasTimelyCertificate: Bool { current.certificateTimes.values.contains { $0.includes(.now) } }
}
