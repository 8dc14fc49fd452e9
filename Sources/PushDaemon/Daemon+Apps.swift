import APNSModel
import Document
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

extension Daemon {
    /// The apps that are to be brought in line with configuration and spool, and are not just now. Those at hand run, and
    /// hang only if the daemon does as well: they cost no task of their own.
    func unattended() -> (atHand: [String], others: [String]) {
        guard !isStopping else { return ([], []) }
        reportUnconfigured()
        let names = Set(configuration.apps.keys).union(runners.keys).subtracting(attended)
        attended.formUnion(names)
        let isAtHand = { (name: String) in self.runners[name] != nil && self.homes[name] == nil }
        return (names.filter(isAtHand).sorted(), names.filter { !isAtHand($0) }.sorted())
    }

    /// Brings an app in line with configuration and spool.
    func attend(to name: String) async {
        defer {
            attended.remove(name)
            forgetIfGone(name)
            if isStopping { endBell.ring() }
        }
        guard let runner = runners[name] else {
            guard !isStopping, let app = configuration.apps[name], let runner = await start(app) else { return }
            await runner.setWatched(lookout.isWatching(name))
            started.append(runner)
            return appsBell.ring()
        }
        await endIfVanished(runner)
        if let app = configuration.apps[name] {
            await bring(runner, inLineWith: app)
            await runner.setWatched(lookout.isWatching(name))
        } else if !configuration.brokenApps.contains(name) {
            logger.notice("app removed from the configuration", metadata: [LogKey.app: "\(name)"])
            await runner.retire()
        }
    }

    /// Configures a runner anew; one whose app speaks another protocol now ends, and the next look starts the other.
    private func bring(_ runner: AppRunner, inLineWith app: ConfigurationSet.App) async {
        if replaced[runner.name] == nil {
            let asksAgain = askingAgain.remove(runner.name) != nil
            if await runner.reconfigureIfNeeded(app.configuration, app.identity, asksAgain: asksAgain) { return }
            logger.notice("app speaks another protocol, and starts anew", metadata: [LogKey.app: "\(runner.name)"])
            runner.beginDraining()
        }
        // As at a stop of the daemon: jobs under way may come to their end first, but not for ever.
        let deadline = replaced[runner.name] ?? .now + drainLimit
        replaced[runner.name] = deadline
        let mayEnd = await runner.mayEnd
        if mayEnd || deadline <= .now { await runner.retire() }
    }

    private func start(_ app: ConfigurationSet.App) async -> AppRunner? {
        let name = app.configuration.name
        do {
            let descriptors = try descriptors.admit(name)
            try self.descriptors.requireSettled()
            let files = try thread(for: name)
            let around = DaemonContext(
                spool: spool, tenure: tenure, logger: logger, configuration: configuration.daemon, node: node,
                reactor: reactor, files: files, descriptors: descriptors, state: state, tokens: tokens,
                ballast: ballast, reading: reading, hooks: hooks, journalBell: journalBell, statusBell: statusBell,
                meter: meter(of: name), clock: clock)
            let runner = try await files.open(app, in: around, left: leftBehind(by: name))
            guard !isStopping else { return nil }
            left[name] = nil
            startFaults[name] = nil
            runners[name] = runner
            logger.info(
                "app started", metadata: [LogKey.app: "\(name)", LogKey.gateway: "\(app.configuration.endpoint)"])
            return runner
        } catch {
            // Once for each cause, however often it is tried.
            guard startFaults.updateValue("\(error)", forKey: name) != "\(error)" else { return nil }
            statusBell.ring()
            var metadata: Logger.Metadata = [LogKey.app: "\(name)", LogKey.error: "\(error)"]
            if error is DescriptorShortage || error is DescriptorDebt {
                metadata[LogKey.hint] = "\(DescriptorShortage.hint)"
            }
            logger.error("app cannot start", metadata: metadata)
            return nil
        }
    }

    /// Forgets what is kept for an app that does not run, is not about to, and is gone from the configuration: it may never
    /// have started.
    func forgetIfGone(_ name: String) {
        guard runners[name] == nil, configuration.apps[name] == nil, !attended.contains(name) else { return }
        meters[name] = nil
        startFaults[name] = nil
        descriptors.release(name)
    }

    /// The threads for the files of an app: those of its filesystem.
    private func thread(for app: String) throws -> FileThread {
        let own = try spool.root.status().device
        guard let device = try spool.root.identityAtHand(of: Array(app.utf8))?.device, device != own else {
            homes[app] = nil
            return files
        }
        homes[app] = device
        if let thread = threads[device] { return thread }
        try descriptors.admitFilesystem()
        let thread = try FileThread(WorkerThread(name: "files"))
        threads[device] = thread
        return thread
    }

    /// Ends an app whose directory is not the one that it opened any more.
    ///
    /// The next runner starts when this one has ended: until then both would have the jobs in `work/`.
    private func endIfVanished(_ runner: AppRunner) async {
        let name = runner.name
        guard !vanished.contains(name) else { return }
        do {
            guard await !runner.isHome(try spool.root.identityAtHand(of: Array(name.utf8))) else { return }
        } catch {
            // That proves nothing; the next look will tell.
            return logger.warning(
                "app's directory cannot be seen", metadata: [LogKey.app: "\(name)", LogKey.error: "\(error)"])
        }
        logger.warning("app's directory is gone", metadata: [LogKey.app: "\(name)"])
        vanished.insert(name)
        runner.stop()
    }

    private func reportUnconfigured() {
        let names = (try? spool.appNames()) ?? []
        unconfigured = Set(names).subtracting(configuration.apps.keys).subtracting(configuration.brokenApps)
        for name in names where unconfigured.contains(name) {
            guard reported.insert(name).inserted else { continue }
            let hint: Logger.MetadataValue =
                "\(configuration.remedy(forLackOf: name)); until then it is left alone"
            logger.warning("app is not configured", metadata: [LogKey.app: "\(name)", LogKey.hint: hint])
        }
    }

    /// Logs what is wrong with the configuration, and was not before.
    func report(_ set: ConfigurationSet) {
        var found: Set<String> = []
        for finding in set.findings {
            for diagnostic in finding.diagnostics {
                let text = diagnostic.rendered(file: finding.file)
                guard found.insert(text).inserted, !reportedFindings.contains(text) else { continue }
                logger.log(
                    level: diagnostic.severity == .error ? .error : .warning, "configuration",
                    metadata: [LogKey.error: "\(text)"])
            }
        }
        reportedFindings = found
    }

    /// Reads the configuration again. A broken file leaves what was in force.
    func reload() {
        tellReading()
        defer { tellRead() }
        var set = readConfiguration()
        // What changed before its folder was watched is read once more.
        if !set.isDaemonBroken, configurationWatch?.follow(set.credentialFiles) == true { set = readConfiguration() }
        report(set)
        if set.isDaemonBroken {
            return logger.error("configuration is not used", metadata: [LogKey.path: "\(loader.path)"])
        }
        configuration.daemon.logLevel = set.daemon.logLevel
        logThreshold.level = set.daemon.logLevel.level
        reportUnused(set.daemon)
        for name in set.brokenApps { set.apps[name] = configuration.apps[name] }
        reported = []
        configuration.apps = set.apps
        startFaults = [:]
        for name in descriptors.apps { forgetIfGone(name) }
        configuration.brokenApps = set.brokenApps
        configuration.certificateTimes = set.certificateTimes
        configuration.misnamedFiles = set.misnamedFiles
        shareJournal()
        noteExpiries()
        askingAgain = Set(runners.keys)
        var metadata: Logger.Metadata = [LogKey.path: "\(loader.path)"]
        if !set.brokenApps.isEmpty { metadata[LogKey.broken] = "\(set.brokenApps.sorted().joined(separator: " "))" }
        logger.notice("configuration read", metadata: metadata)
        appsBell.ring()
        statusBell.ring()
    }

    private func readConfiguration() -> ConfigurationSet {
        loader.load(appsIn: configuration.daemon.apps, knowing: configuration.apps)
    }

    /// Says once of each change of the daemon's own file that it takes a restart.
    private func reportUnused(_ daemon: DaemonConfiguration) {
        let keys = daemon.differences(from: configuration.daemon)
        defer { unusedKeys = keys }
        guard !keys.isEmpty, keys != unusedKeys else { return }
        let hint: Logger.MetadataValue = "restart the daemon to use them"
        logger.warning(
            "changed keys are not used yet",
            metadata: [LogKey.keys: "\(keys.joined(separator: " "))", LogKey.hint: hint])
    }

    /// Reads the configuration when its files change, or those of credentials, until the task is cancelled.
    func runConfigurationWatch() async {
        do {
            let watch = try ConfigurationWatch(of: loader.path, appsIn: configuration.daemon.apps)
            configurationWatch = watch
            defer {
                configurationWatch = nil
                watch.stop()
            }
            _ = configurationWatch?.follow(configuration.credentialFiles)
            // What changed while the journal was read has not been seen.
            if !readConfiguration().isSame(as: configuration) { reload() }
            while let notices = await watch.watch.next() {
                guard configurationWatch?.note(notices) == true else { continue }
                // Editors write in several steps.
                try await reactor.sleep(for: .milliseconds(300))
                reload()
            }
        } catch is CancellationError {
            return
        } catch {
            let hint: Logger.MetadataValue = "send HUP after a change"
            logger.warning("configuration is not watched", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
            while !Task.isCancelled { try? await reactor.sleep(for: .seconds(3600)) }
        }
    }
}
