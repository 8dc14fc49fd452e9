import APNSGateway
import APNSModel
package import LinuxIO
package import Logging
import SpoolStore

/// The daemon: one spool with its apps, and everything that they share.
///
/// The whole task tree is in `run`, `runApps` and `AppRunner.run`.
package actor Daemon {
    /// How long a stop waits for jobs under way before it takes the remaining notifications off the connections.
    package let drainLimit: Duration
    let loader: ConfigurationLoader
    let reactor: Reactor
    /// The threads for files on the spool's own filesystem. The daemon itself runs there, too.
    let files: FileThread
    let logger: Logger
    let logThreshold: LogThreshold
    let signals: BlockedSignals
    let spool: Spool
    /// The rules by which jobs belong to this node. For a spool on a local filesystem the spool implements them.
    let tenure: any Tenure
    let state: Directory
    /// The lock that keeps other daemons out of the state folder.
    let stateLock: StateLock
    let tokens: TokenSources
    let node: String
    /// Rings when apps may have to be started, changed or ended.
    let appsBell: Bell
    /// Rings when an app has ended.
    let endBell: Bell
    var configuration: ConfigurationSet
    var runners: [String: AppRunner] = [:]
    /// Apps that have started but do not run yet.
    var started: [AppRunner] = []
    /// The descriptors of each app, and the reasons why apps could not start.
    var descriptors: DescriptorShares
    var startFaults: [String: String] = [:]
    /// Apps whose start, change or end is in progress.
    var attended: Set<String> = []
    /// Apps on other filesystems: the device of each, the threads of each device, and whether these threads hang.
    var homes: [String: UInt64] = [:]
    var threads: [UInt64: FileThread] = [:]
    var standstills: [UInt64: Standstill] = [:]
    /// Apps whose directory is gone and which are about to end.
    var vanished: Set<String> = []
    /// Apps that try their gateways again if they are stopped, because the configuration was read or an operator wants
    /// it.
    var askingAgain: Set<String> = []
    /// Apps whose protocol has changed. Their runners end by this time at the latest.
    var replaced: [String: ContinuousClock.Instant] = [:]
    /// The disk space reserved for a full volume.
    let ballast: BallastKeeper
    /// Lets a suspicious file be read while no other file is read.
    let reading: ReadingGate
    /// Limits the number of hooks that run at a time.
    let hooks: HookGate
    /// Rings when the journal needs room, or can no longer be written.
    let journalBell: Bell
    /// The state of each app that the previous daemon left in the journal, until the app starts.
    var left: [String: LeftBehind]
    /// The error that makes the journal unusable.
    var journalFault: JournalFault?
    /// The watch over the spool, and a bell that rings when it has begun or failed to.
    let lookout: Lookout
    let watchBell: Bell
    /// Rings when the status has changed.
    let statusBell: Bell
    /// When this daemon started.
    let startedAt = WallTime.now
    /// Records the steps of the wall clock since then.
    let clock: ClockWatch
    /// Directories without configuration.
    var unconfigured: Set<String> = []
    /// Whether the last attempt to write the status failed.
    var isStatusBroken = false
    /// The program's version.
    let version: String
    /// The counters of each app, which outlive its runners.
    var meters: [String: AppMeter] = [:]
    /// When the metrics may be written again, and whether they are older than the status.
    var nextMetrics = ContinuousClock.now
    var hasOldMetrics = false
    /// Directories already reported as having no configuration.
    var reported: Set<String> = []
    /// Keys of the daemon's file already reported as needing a restart.
    var unusedKeys: [String] = []
    /// Findings in the configuration that were already reported.
    var reportedFindings: Set<String> = []
    /// The watch over the folders of the configuration, once it has begun.
    var configurationWatch: ConfigurationWatch?
    /// The expiry of each certificate, the warnings given so far, and when to check certificates and the folders of the
    /// configuration again.
    var expiries: [String: CertificateExpiry] = [:]
    var expiryWatch = ExpiryWatch()
    var nextLook = Moment.zero
    var isStopping = false
    /// The stop requested by an operator over the control socket.
    var requestedStop: RequestedStop?
    /// Owns the connections that stay open until the process ends.
    var control: ControlServer?
    /// The error that keeps signals from being received.
    var signalFault: SystemError?
    /// The service manager that follows the daemon's state, and the last state sent to it.
    let serviceManager: ServiceManager?
    var news = ToldNews()

    /// The parameters with which a daemon is started.
    package struct Settings: Sendable {
        /// The path of the daemon's file.
        package let path: String
        /// The time limit for a stop.
        package let drainLimit: Duration
        /// The signals, blocked before any thread was started.
        package let signals: BlockedSignals
        /// The service manager that started the daemon, if any.
        package let serviceManager: ServiceManager?
        /// The threshold that the daemon's logger uses. It follows the configuration, even when that changes.
        package let logThreshold = LogThreshold()
        /// The program's version, for monitoring.
        package var version = "unknown"

        /// Creates settings.
        package init(
            path: String, drainLimit: Duration = .seconds(30), signals: BlockedSignals,
            serviceManager: ServiceManager? = nil
        ) {
            self.path = path
            self.drainLimit = drainLimit
            self.signals = signals
            self.serviceManager = serviceManager
        }
    }

    /// Reads the configuration and takes over the spool. Blocks.
    ///
    /// - Throws: `StartFault`: report it to the user, and exit with 78, or with 75 if the cause may be temporary.
    package init(_ settings: Settings, makeLogger: (DaemonConfiguration) -> Logger) throws(StartFault) {
        loader = ConfigurationLoader(path: settings.path)
        configuration = loader.load()
        guard !configuration.isDaemonBroken else { throw StartFault.configuration(configuration) }
        logThreshold = settings.logThreshold
        logThreshold.level = configuration.daemon.logLevel.level
        logger = makeLogger(configuration.daemon)
        clock = ClockWatch(logger)
        (drainLimit, signals) = (settings.drainLimit, settings.signals)
        serviceManager = settings.serviceManager
        news = Self.announceStart(to: settings.serviceManager, logger)
        version = settings.version
        node = configuration.daemon.node ?? Host.name
        descriptors = DescriptorShares(try Self.raiseLimit(for: configuration, logger))
        do {
            spool = try Spool(
                path: configuration.daemon.spool, node: node, journalByteCount: configuration.daemon.journalByteCount)
            tenure = spool
            state = try Self.openState(configuration.daemon.state)
            stateLock = try Self.lock(state)
            reactor = try Reactor()
            files = try FileThread(WorkerThread(name: "files"))
            lookout = Lookout(try WorkerThread(name: "watch"))
            tokens = TokenSources(
                folder: try Self.openTokens(in: state), worker: try WorkerThread(name: "tokens"), logger: logger)
        } catch let fault as StartFault {
            throw fault
        } catch {
            throw StartFault(error, path: settings.path)
        }
        left = spool.replay.leftBehind
        reading = ReadingGate(on: reactor)
        hooks = HookGate(on: reactor)
        ballast = BallastKeeper(spool, on: files.worker, logger)
        (journalBell, appsBell) = (Bell(on: reactor), Bell(on: reactor))
        (endBell, statusBell, watchBell) = (Bell(on: reactor), Bell(on: reactor), Bell(on: reactor))
    }

    /// Raises the limit of open files, and checks that it suffices for the configuration, before anything is opened.
    private static func raiseLimit(
        for set: ConfigurationSet, _ logger: Logger
    ) throws(StartFault) -> DescriptorBudget {
        var limit = Int.max
        do throws(SystemError) {
            limit = try OpenFileLimit.raise(keeping: DescriptorBudget.reserve)
        } catch {
            logger.warning("limit of open files stays as it is", metadata: [LogKey.error: "\(error)"])
        }
        var budget = DescriptorBudget(limit: limit)
        budget.hasMetricsListener = set.daemon.metricsListen != nil
        // Without /proc the number is unknown, and the reserve must do.
        budget.inheritedCount = max(0, ((try? OpenFileLimit.openCount()) ?? 0) - DescriptorBudget.ofEveryProcess)
        if let shortage = budget.shortage(forApps: set.apps.count) { throw StartFault.limit(shortage) }
        return budget
    }

    /// Opens the state folder, and creates it if its parent exists.
    private static func openState(_ path: String) throws -> Directory {
        let state: Directory
        do throws(SystemError) {
            state = try Directory.open(path: path)
        } catch {
            guard error.isNotFound else { throw error }
            let parent = try Directory.open(path: ConfigurationFile.folder(of: path))
            state = try parent.makeChild(Array(ConfigurationFile.name(of: path).utf8), mode: 0o700)
        }
        try state.requirePrivate()
        return state
    }

    private static func lock(_ state: Directory) throws -> StateLock {
        if let lock = try StateLock(on: state) { return lock }
        throw StartFault.shortage(
            message: "another daemon uses the state folder \(state.path)",
            hint: "stop that one, or give each a folder of its own (`state`)")
    }

    /// Opens the folder of the provider tokens, and creates it if it is missing.
    private static func openTokens(in state: Directory) throws -> Directory {
        do throws(SystemError) {
            return try TokenSources.openFolder(in: state)
        } catch {
            if error.isOutOfSpace || error.isShortage { throw error }
            throw StartFault.spool(
                message: "the folder of the provider tokens cannot be used: \(error)",
                hint: "move away what is in the place of \(state.path)/tokens; the daemon makes that folder itself")
        }
    }

    /// The executor of the thread for file operations.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { files.worker.executor }

    /// Runs until a signal requests the end, then drains.
    ///
    /// - Throws: `SystemError` or `JournalFault`: the daemon ended without a request, because signals could not be
    ///   received or the journal could not be written. Exit with 75. While an app hangs this never returns, but exits
    ///   with 75 itself.
    package func run() async throws {
        reportReplay()
        logger.notice("started", metadata: [LogKey.path: "\(configuration.daemon.spool)"])
        report(configuration)
        shareJournal()
        noteExpiries()
        await withTaskGroup { group in
            group.addTask { await self.runJournal() }
            group.addTask { await self.runLookout() }
            group.addTask { await self.runStatus() }
            group.addTask { await self.runApps() }
            group.addTask { await self.runConfigurationWatch() }
            group.addTask { await self.runControl() }
            group.addTask { await self.runSignals() }
            if let pause = serviceManager?.heartbeat { group.addTask { await self.runHeartbeat(every: pause) } }
            if let place = configuration.daemon.metricsListen {
                group.addTask { await self.runMetricsListener(at: place) }
            }
            // Only the signal task ends by itself, and the journal task if it fails.
            await group.next()
            // If the daemon's task is cancelled, its apps are cancelled, too.
            if !Task.isCancelled {
                await endApps()
                leaveIfStuck()
            }
            group.cancelAll()
        }
        endJournal()
        removeStatus()
        logger.notice("stopped")
        if let journalFault { throw journalFault }
        if let signalFault { throw signalFault }
    }

    /// How long to wait for the watch before apps start without it.
    private static let watchLimit = Duration.seconds(5)

    /// Starts, changes and ends apps according to the configuration and the spool, until the task is cancelled.
    private func runApps() async {
        // Wait for the watch, because a file is known to be complete only if its rename was seen; but not long, as a
        // folder may hang.
        await watchBell.wait(until: .now + Self.watchLimit)
        tellReady()
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let (atHand, others) = unattended()
                // Attend to each of these in a task of its own, so that an app that hangs does not delay another one.
                for name in others { group.addTask { await self.attend(to: name) } }
                for name in atHand { await attend(to: name) }
                // Run in separate tasks, which do not hold on to the memory needed for a start.
                for runner in started { group.addTask { await self.run(runner) } }
                started = []
                let pause = replaced.isEmpty ? configuration.daemon.rescan : .milliseconds(100)
                await appsBell.wait(until: .now + pause)
            }
        }
    }

    private func run(_ runner: AppRunner) async {
        await runner.run()
        ended(runner)
    }

    /// Runs the watch over the spool until the task is cancelled.
    private func runLookout() async {
        do {
            try await lookout.run(for: self)
        } catch {
            var metadata: Logger.Metadata = [LogKey.error: "\(error)"]
            if let hint = (error as? WatchFault)?.hint { metadata[LogKey.hint] = "\(hint)" }
            logger.warning("spool cannot be watched and is polled", metadata: metadata)
            watchBell.ring()
        }
        while !Task.isCancelled { try? await reactor.sleep(for: .seconds(3600)) }
    }

    /// Passes hints from the watch to the apps.
    func take(_ hints: [SpoolHint]) {
        for hint in hints { take(hint) }
    }

    private func take(_ hint: SpoolHint) {
        switch hint {
        case .job(let app, let name, let change): runners[app]?.hint(name, change)
        case .app(let app):
            runners[app]?.hint(nil, .created)
            appsBell.ring()
        case .appGone: appsBell.ring()
        case .everything:
            reportLoss()
            for runner in runners.values { runner.hint(nil, .created) }
            appsBell.ring()
        }
    }

    /// Checks all apps again, because the set of watched folders has changed.
    func noteWatched() {
        watchBell.ring()
        appsBell.ring()
    }

    /// Logs that events were lost. Jobs are only delayed, since everything is scanned. The entry explains the delay to
    /// an operator.
    private func reportLoss() {
        let count = lookout.overflowCount
        var metadata: Logger.Metadata = [LogKey.overflows: "\(count)"]
        if count > 0 { metadata[LogKey.hint] = "fs.inotify.max_queued_events is how much the kernel keeps" }
        logger.info("events were lost; everything is scanned", metadata: metadata)
    }

    private func ended(_ runner: AppRunner) {
        runners[runner.name] = nil
        forgetIfGone(runner.name)
        vanished.remove(runner.name)
        replaced[runner.name] = nil
        appsBell.ring()
        endBell.ring()
        statusBell.ring()
    }
}
