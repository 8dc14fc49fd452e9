import APNSGateway
import APNSModel
package import LinuxIO
package import Logging
import SpoolStore

/// The daemon: one spool, its apps, and what ties them together.
///
/// The whole task tree is in `run`, `runApps` and `AppRunner.run`.
package actor Daemon {
    /// How long a stop waits for jobs under way before what is left is taken off the connections.
    package let drainLimit: Duration
    let loader: ConfigurationLoader
    let reactor: Reactor
    /// The threads for the files of the spool's own filesystem; the daemon's work is done there too.
    let files: FileThread
    let logger: Logger
    let logThreshold: LogThreshold
    let signals: BlockedSignals
    let spool: Spool
    /// What makes jobs ours: the spool, where it is on a filesystem of this host.
    let tenure: any Tenure
    let state: Directory
    /// Keeps other daemons out of it.
    let stateLock: StateLock
    let tokens: TokenSources
    let node: String
    /// Rung when apps may have to be started, changed or ended.
    let appsBell: Bell
    /// Rung when an app has ended.
    let endBell: Bell
    var configuration: ConfigurationSet
    var runners: [String: AppRunner] = [:]
    /// Apps that have been started and are about to run.
    var started: [AppRunner] = []
    /// What each app may open, and why apps could not start.
    var descriptors: DescriptorShares
    var startFaults: [String: String] = [:]
    /// Apps that are being looked after just now.
    var attended: Set<String> = []
    /// The other filesystems that apps are on: the device of each app's, its threads, and whether they come back.
    var homes: [String: UInt64] = [:]
    var threads: [UInt64: FileThread] = [:]
    var standstills: [UInt64: Standstill] = [:]
    /// Apps whose directory is gone and which are about to end.
    var vanished: Set<String> = []
    /// Apps that are to ask their gateways again if they are stopped: the configuration was read, or an operator wants it.
    var askingAgain: Set<String> = []
    /// Apps that speak another protocol now: their runners end, at the latest by then.
    var replaced: [String: ContinuousClock.Instant] = [:]
    /// The reserve for a full volume.
    let ballast: BallastKeeper
    /// Lets one file be read while no other is.
    let reading: ReadingGate
    /// Lets so many hooks begin at a time.
    let hooks: HookGate
    /// Rung when the journal cannot be written any more, or needs room.
    let journalBell: Bell
    /// What the daemon before left of each app in the journal, until the app starts.
    var left: [String: LeftBehind]
    /// Why nothing can be recorded any more.
    var journalFault: JournalFault?
    /// The watch over the spool, and what is rung when it has begun, or cannot.
    let lookout: Lookout
    let watchBell: Bell
    /// Rung when the status has changed.
    let statusBell: Bell
    /// When this daemon started.
    let startedAt = WallTime.now
    /// Knows of steps of the wall clock since then.
    let clock: ClockWatch
    /// Directories without configuration.
    var unconfigured: Set<String> = []
    /// Whether the status could not be written.
    var isStatusBroken = false
    /// The program's version.
    let version: String
    /// What is counted of each app, whichever runner it has.
    var meters: [String: AppMeter] = [:]
    /// Until when the metrics are not written again, and whether they are older than the status.
    var nextMetrics = ContinuousClock.now
    var hasOldMetrics = false
    /// Directories that have been reported to be without configuration.
    var reported: Set<String> = []
    /// Keys of the daemon's file that were reported to take a restart.
    var unusedKeys: [String] = []
    /// What was reported to be wrong with the configuration.
    var reportedFindings: Set<String> = []
    /// Watches the folders of the configuration, once it has begun.
    var configurationWatch: ConfigurationWatch?
    /// Until when certificates are good, who was told, and when they are looked at again, with the folders of the
    /// configuration.
    var expiries: [String: CertificateExpiry] = [:]
    var expiryWatch = ExpiryWatch()
    var nextLook = Moment.zero
    var isStopping = false
    /// The stop that an operator has asked for over the control socket.
    var requestedStop: RequestedStop?
    /// Keeps the connections that are to end with the process.
    var control: ControlServer?
    /// Why signals are not heard any more.
    var signalFault: SystemError?
    /// Who wants to hear how the daemon does, and what it has heard.
    let serviceManager: ServiceManager?
    var news = ToldNews()

    /// What a daemon is started with.
    package struct Settings: Sendable {
        /// The daemon's configuration file.
        package let path: String
        /// How long a stop may take.
        package let drainLimit: Duration
        /// The signals, blocked before any thread was started.
        package let signals: BlockedSignals
        /// Who started it, if that is a service manager.
        package let serviceManager: ServiceManager?
        /// What the daemon's logger follows: it becomes what the configuration says, also when that changes.
        package let logThreshold = LogThreshold()
        /// The program's version, for those who monitor it.
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

    /// Reads the configuration and takes the spool. Blocks.
    ///
    /// - Throws: `StartFault`: tell the user, and exit with 78; with 75 if that may pass.
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

    /// Raises the limit of open files, and sees whether that is enough for the configuration, before anything is opened.
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
        // Without /proc it is not known: then there is the reserve.
        budget.inheritedCount = max(0, ((try? OpenFileLimit.openCount()) ?? 0) - DescriptorBudget.ofEveryProcess)
        if let shortage = budget.shortage(forApps: set.apps.count) { throw StartFault.limit(shortage) }
        return budget
    }

    /// Opens the state folder, and makes it if only that is missing.
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

    /// Opens the folder of the provider tokens, and makes it.
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

    /// The thread where files are worked on.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { files.worker.executor }

    /// Works until a signal asks for the end, then drains.
    ///
    /// - Throws: `SystemError` or `JournalFault`: it ended unasked, because signals could not be heard or the journal
    ///   not be written. Exit with 75. It does not return at all while an app hangs: then it exits with 75 itself.
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
            // Only the signals' task ends by itself, and the journal's when it fails.
            await group.next()
            // Who cancels the daemon itself has cancelled its apps with it.
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

    /// How long the watch may take to begin before apps start without it.
    private static let watchLimit = Duration.seconds(5)

    /// Starts, changes and ends apps as configuration and spool demand, until the task is cancelled.
    private func runApps() async {
        // Only what is seen to be renamed into place is known to be whole. A folder that hangs is not waited for long.
        await watchBell.wait(until: .now + Self.watchLimit)
        tellReady()
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let (atHand, others) = unattended()
                // An app that hangs keeps no other one waiting.
                for name in others { group.addTask { await self.attend(to: name) } }
                for name in atHand { await attend(to: name) }
                // In tasks of their own, which keep no room for what a start takes.
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

    /// Has the watch seen to, until the task is cancelled.
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

    /// Passes on what the watch has seen.
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

    /// Looks after all apps again, because others are watched now.
    func noteWatched() {
        watchBell.ring()
        appsBell.ring()
    }

    /// Nothing is lost but time: everything is scanned. An operator may want to know why that takes turns.
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
