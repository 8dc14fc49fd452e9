import AppEngine
import Configuration
import JobOperations
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// Starts, changes and stops apps as the configuration and the spool require.
///
/// Attending to an app may wait for its filesystem. An app that hangs does not keep another one waiting.
final class AppSupervisor {
    /// The state of an app, whether it runs or not.
    private struct Place {
        var runner: AppRunner?
        /// Whether a task attends to it at this moment.
        var isAttended = false
        /// Why it could not start.
        var startFault: String?
        /// Whether its directory is gone, and it is about to stop.
        var hasVanished = false
        /// The configuration that the runner uses, and whether the watch covers its folder, as it was told.
        var (applied, isWatched): (ConfiguredApp?, Bool?) = (nil, nil)
        /// Whether it should try its gateway again if it is stopped, because the configuration was read.
        var asksAgain = false
        /// The latest time at which to stop a runner whose app uses another protocol now.
        var replacementDeadline: ContinuousClock.Instant?
        /// The app's metrics, regardless of its runner.
        let meter = AppMeter()
        /// The app's jobs that were sent or are under way, regardless of its runner.
        let sent = SentJobs()
    }

    private let resources: DaemonResources
    private let logger: Logger
    private let configuration: ConfigurationKeeper
    private let journal: JournalKeeper
    private let watcher: SpoolWatcher
    let filesystems: FilesystemThreads
    /// How long a replaced runner may wait for its jobs.
    private let drainLimit: Duration
    private var descriptors: DescriptorShares
    private var places: [String: Place] = [:]
    /// Apps that were started and are about to run.
    private var started: [AppRunner] = []
    private var unconfigured: UnconfiguredFolders
    /// Whether starting apps is disabled.
    private(set) var isStopping = false
    /// Signalled when apps may have to be started, changed or stopped.
    private let wakeup: Wakeup
    /// Signalled when an app has stopped.
    private let endWakeup: Wakeup

    init(
        _ resources: DaemonResources, _ configuration: ConfigurationKeeper, _ journal: JournalKeeper,
        limits: (descriptors: DescriptorBudget, drain: Duration)
    ) throws(SystemError) {
        (self.resources, self.configuration, self.journal) = (resources, configuration, journal)
        logger = resources.logger
        descriptors = DescriptorShares(limits.descriptors)
        drainLimit = limits.drain
        watcher = SpoolWatcher(try WorkerThread(name: "watch"))
        filesystems = FilesystemThreads(resources)
        unconfigured = UnconfiguredFolders(logger)
        (wakeup, endWakeup) = (Wakeup(on: resources.reactor), Wakeup(on: resources.reactor))
    }

    // MARK: State

    /// The running apps, by name.
    var runners: [String: AppRunner] { places.compactMapValues(\.runner) }

    /// A running app.
    func runner(_ name: String) -> AppRunner? { places[name]?.runner }

    /// The running apps whose filesystem answers, as far as is known. Only they may be asked anything.
    var answeringRunners: [AppRunner] {
        places.values.compactMap(\.runner).filter { !isStuck($0.name) }.sorted { $0.name < $1.name }
    }

    /// Whether an app's filesystem hangs.
    func isStuck(_ app: String) -> Bool { filesystems.standstill(of: app) != nil }

    /// The apps that run or are being attended to.
    var busyNames: [String] { places.filter { $1.runner != nil || $1.isAttended }.keys.sorted() }

    /// Whether no job is under way, according to the apps' last reports.
    var isQuiet: Bool { places.values.allSatisfy { ($0.runner?.shown.jobCount ?? 0) == 0 } }

    /// The metrics of an app.
    func metrics(of app: String) -> AppMetrics? { places[app]?.meter.metrics }

    /// The apps in the status, in no particular order.
    var shown: [SpoolStatus.App] {
        let set = configuration.current
        var apps = runners.values.map(\.shown)
        let running = Set(runners.keys)
        apps += set.apps.keys.filter { !running.contains($0) }.map { .init(name: $0, state: .starting) }
        apps += set.brokenApps.subtracting(running).map { .init(name: $0, state: .broken) }
        apps += unconfigured.names.subtracting(running).map(shown(unconfigured:))
        return apps.map { app in
            var app = app
            if app.state == .starting { app.reason = places[app.name]?.startFault }
            if app.state == .broken, let fault = set.fault(of: app.name) {
                app.reason = "has a faulty configuration: \(fault); run `pushspool check`"
            }
            if running.contains(app.name), set.brokenApps.contains(app.name) {
                let words = "keeps its previous configuration because the new one is invalid; run `pushspool check`"
                app.reason = app.reason.map { "\($0); \(words)" } ?? words
            }
            app.credentials = set.apps[app.name]?.shown(at: .now)
            if app.state == .broken, let time = set.certificateTimes[app.name], time.start > .now {
                app.until = time.start
            }
            if let begin = filesystems.standstill(of: app.name) {
                (app.state, app.since) = (.stuck, .now + (begin - .now))
            }
            return app
        }
    }

    /// An app whose file was removed may have left jobs in `work/`. Its folder is not entered: its filesystem may hang.
    private func shown(unconfigured name: String) -> SpoolStatus.App {
        var app = SpoolStatus.App(name: name, state: .unconfigured)
        app.jobCount = journal.leftBehind(by: name).jobs.count
        let remedy = configuration.current.remedy(forLackOf: name)
        if app.jobCount > 0 { app.reason = "has no configuration, so that its jobs cannot end; \(remedy)" }
        return app
    }

    // MARK: Running

    /// Returns the apps that need attention, and marks them as attended to. Those in `atHand` are on the daemon's
    /// filesystem and need no task of their own.
    func unattended() -> (atHand: [String], others: [String]) {
        guard !isStopping else { return ([], []) }
        unconfigured.look(in: resources.spool, configuration.current)
        let names = Set(configuration.current.apps.keys).union(runners.keys).filter { places[$0]?.isAttended != true }
        for name in names { places[name, default: Place()].isAttended = true }
        let isAtHand = { (name: String) in self.places[name]?.runner != nil && self.filesystems.isOwn(for: name) }
        return (names.filter(isAtHand).sorted(), names.filter { !isAtHand($0) }.sorted())
    }

    /// Waits until apps may have to be started, changed or stopped.
    func awaitChange() async {
        let isReplacing = places.values.contains { $0.replacementDeadline != nil }
        await wakeup.wait(until: .now + (isReplacing ? .milliseconds(100) : configuration.current.daemon.intake.rescan))
    }

    /// Removes and returns the apps that were started since the last call. The caller must run them.
    func takeStarted() -> [AppRunner] {
        defer { started = [] }
        return started
    }

    /// Brings an app in line with the configuration and the spool.
    func attend(to name: String) async {
        defer {
            places[name]?.isAttended = false
            forgetIfGone(name)
            if isStopping { endWakeup.signal() }
        }
        guard let runner = runner(name) else {
            guard !isStopping, let app = configuration.current.apps[name], let runner = await start(app) else { return }
            places[name]?.applied = app
            places[name]?.isWatched = nil
            await setWatched(runner)
            started.append(runner)
            return wakeup.signal()
        }
        await endIfVanished(runner)
        if let app = configuration.current.apps[name] {
            await bring(runner, inLineWith: app)
            await setWatched(runner)
        } else if !configuration.current.brokenApps.contains(name) {
            logger.notice("app removed from the configuration", metadata: [LogKey.app: "\(name)"])
            await runner.retire()
        }
    }

    private func start(_ app: ConfiguredApp) async -> AppRunner? {
        let name = app.configuration.name
        do {
            let context = try makeContext(for: name)
            let runner = try await context.files.open(app, in: context, left: journal.leftBehind(by: name))
            guard !isStopping else { return nil }
            journal.noteStart(of: name)
            places[name]?.startFault = nil
            places[name]?.runner = runner
            logger.info(
                "app started", metadata: [LogKey.app: "\(name)", LogKey.gateway: "\(app.configuration.endpoint)"])
            return runner
        } catch {
            noteStartFault(error, of: name)
            return nil
        }
    }

    private func makeContext(for name: String) throws -> DaemonContext {
        let admitted = try descriptors.admit(name)
        try descriptors.requireSettled()
        let files = try filesystems.thread(for: name) { () throws(DescriptorShortage) in
            try descriptors.admitFilesystem()
        }
        let place = places[name, default: Place()]
        let share = AppShare(files: files, descriptors: admitted, meter: place.meter, sent: place.sent)
        return DaemonContext(resources, configuration.current.daemon, share)
    }

    /// Logs why an app cannot start: each cause only once, however often the start is tried.
    private func noteStartFault(_ error: any Error, of name: String) {
        guard places[name]?.startFault != "\(error)" else { return }
        places[name]?.startFault = "\(error)"
        resources.statusWakeup.signal()
        var metadata: Logger.Metadata = [LogKey.app: "\(name)", LogKey.error: "\(error)"]
        if error is DescriptorShortage || error is DescriptorDebt {
            metadata[LogKey.hint] = "\(DescriptorShortage.hint)"
        }
        logger.error("app cannot start", metadata: metadata)
    }

    /// Records that a runner has stopped.
    func noteEnd(of runner: AppRunner) {
        places[runner.name]?.runner = nil
        places[runner.name]?.hasVanished = false
        places[runner.name]?.replacementDeadline = nil
        forgetIfGone(runner.name)
        wakeup.signal()
        endWakeup.signal()
        resources.statusWakeup.signal()
    }

    /// Applies the configuration to a runner. If its app now uses another protocol, the runner stops, and the next
    /// attention starts the new one.
    private func bring(_ runner: AppRunner, inLineWith app: ConfiguredApp) async {
        if places[runner.name]?.replacementDeadline == nil {
            let asksAgain = places[runner.name]?.asksAgain == true
            // Asking the runner would wake its thread.
            if !asksAgain, places[runner.name]?.applied?.isSame(as: app) == true { return }
            places[runner.name]?.asksAgain = false
            if await runner.reconfigureIfNeeded(app, asksAgain: asksAgain) {
                places[runner.name]?.applied = app
                return
            }
            logger.notice("app restarts because its protocol changed", metadata: [LogKey.app: "\(runner.name)"])
            runner.beginDraining()
        }
        // As when the daemon stops, jobs under way may finish first, within the limit.
        let deadline = places[runner.name]?.replacementDeadline ?? .now + drainLimit
        places[runner.name]?.replacementDeadline = deadline
        let mayEnd = await runner.mayEnd
        if mayEnd || deadline <= .now { await runner.retire() }
    }

    /// Whether each app of the configuration runs, or could not start: only then can all other nodes' jobs be finished.
    var haveStarted: Bool {
        configuration.current.apps.keys.allSatisfy { places[$0]?.runner != nil || places[$0]?.startFault != nil }
    }

    /// Whether the running apps use the configuration in force.
    var areInLine: Bool {
        configuration.current.apps.allSatisfy { name, app in
            places[name]?.runner == nil || places[name]?.applied?.isSame(as: app) == true
        }
    }

    /// Tells a runner whether the watch covers its folder, if it does not know yet.
    private func setWatched(_ runner: AppRunner) async {
        let isWatched = watcher.isWatching(runner.name)
        guard places[runner.name]?.isWatched != isWatched else { return }
        places[runner.name]?.isWatched = isWatched
        await runner.setWatched(isWatched)
    }

    /// Stops an app whose folders no longer have their paths, once its connections have settled.
    ///
    /// The next runner starts after this one has stopped: until then both would own the jobs in `work/`.
    private func endIfVanished(_ runner: AppRunner) async {
        let name = runner.name
        guard places[name]?.hasVanished == false else { return }
        do {
            let identity = try resources.spool.root.identityAtHand(of: Array(name.utf8))
            guard let path = try await filesystems.misplaced(runner, identity) else { return }
            logger.warning(
                "app folder was moved, replaced or removed; opening the app again",
                metadata: [LogKey.app: "\(name)", LogKey.path: "\(path)"])
        } catch {
            // That proves nothing; the next attention checks again.
            return logger.warning(
                "app folder cannot be accessed", metadata: [LogKey.app: "\(name)", LogKey.error: "\(error)"])
        }
        places[name]?.hasVanished = true
        await runner.retire()
    }

    /// Forgets an app that does not run, is not about to, and is not in the configuration.
    private func forgetIfGone(_ name: String) {
        guard configuration.current.apps[name] == nil, let place = places[name], place.runner == nil, !place.isAttended
        else { return }
        places[name] = nil
        filesystems.forget(name)
        descriptors.release(name)
    }

    // MARK: Nodes that have died

    /// The configuration that a running app uses.
    func applied(_ app: String) -> ConfiguredApp? { places[app]?.applied }

    /// Allots descriptors to another runner of a running app, which finishes a node's jobs beside the app's own.
    ///
    /// - Throws: `DescriptorShortage`: the limit is too low for another runner.
    func share(of runner: AppRunner, inPlaceOf node: String) throws(DescriptorShortage) -> AppShare {
        let descriptors = try descriptors.admit("\(runner.name)/\(node)")
        let place = places[runner.name, default: Place()]
        // In a cluster each node records what it has sent in its own state.
        let sent = resources.cluster == nil ? place.sent : SentJobs(beside: place.sent)
        return AppShare(files: runner.files, descriptors: descriptors, meter: place.meter, sent: sent)
    }

    /// Frees the descriptors that were allotted to finish a node's jobs, and lets files that have waited for them go on.
    func releaseShares(inPlaceOf node: String) {
        for (name, place) in places {
            descriptors.release("\(name)/\(node)")
            place.sent.noteExamined(node)
        }
    }

    /// Prepares the configured apps for jobs that a node has left in them, before the apps start: files that may be the same
    /// job wait, and hooks get the node's feedback from the file on that was the next.
    func expect(jobsOf node: String) {
        for (name, app) in configuration.current.apps {
            let place = places[name, default: Place()]
            places[name] = place
            do throws(SystemError) {
                if try resources.spool.hasWork(in: name, of: node) { place.sent.expect(node) }
                guard app.configuration.hook != nil else { continue }
                let folder = try PeerFolder(node, of: resources.spool)
                try folder?.inherit(HookMark(of: name, in: resources.state))
            } catch {
                logger.error(
                    "another node's jobs cannot be examined",
                    metadata: [LogKey.app: "\(name)", LogKey.node: "\(node)", LogKey.error: "\(error)"])
            }
        }
    }

    // MARK: Watch and configuration

    /// Watches the spool for the apps until the task is cancelled.
    ///
    /// - Parameter daemon: Receives the watch's reports.
    func watch(for daemon: Daemon) async {
        do {
            try await watcher.run(resources.spool, for: daemon)
        } catch {
            var metadata: Logger.Metadata = [LogKey.error: "\(error)"]
            if let hint = (error as? WatchFault)?.hint { metadata[LogKey.hint] = "\(hint)" }
            logger.warning("spool cannot be watched; polling it instead", metadata: metadata)
        }
    }

    /// Attends to all apps again, because others are watched now.
    func noteWatched() { wakeup.signal() }

    /// Passes the watch's reports on to the apps.
    func pass(_ hints: [SpoolHint]) {
        for hint in hints {
            switch hint {
            case .job(let app, let name, let change): runner(app)?.hint(name, change)
            case .app(let app):
                runner(app)?.hint(nil, .created)
                wakeup.signal()
            case .appGone: wakeup.signal()
            case .everything:
                reportLoss()
                for runner in runners.values { runner.hint(nil, .created) }
                wakeup.signal()
            }
        }
    }

    /// Only time is lost: everything is scanned.
    private func reportLoss() {
        let count = watcher.overflowCount
        var metadata: Logger.Metadata = [LogKey.overflows: "\(count)"]
        if count > 0 { metadata[LogKey.hint] = "raise the sysctl fs.inotify.max_queued_events" }
        logger.info("file events were lost; rescanning everything", metadata: metadata)
    }

    /// Applies a new configuration.
    func noteConfiguration() {
        unconfigured.reportAgain()
        for name in Array(places.keys) {
            let isRunning = places[name]?.runner != nil
            places[name]?.startFault = nil
            places[name]?.asksAgain = isRunning
            forgetIfGone(name)
        }
        wakeup.signal()
    }

    /// Lets the apps move those of the jobs that belong to them to `hold/`: the journal can no longer read their records.
    func holdUnreadable(_ jobs: [JobID]) async {
        for runner in answeringRunners { await runner.holdUnreadable(jobs) }
    }

    // MARK: Stopping

    /// Disables starting apps.
    func beginStopping() { isStopping = true }

    /// Makes the apps take no further jobs.
    func beginDraining() {
        isStopping = true
        for runner in runners.values { runner.beginDraining() }
    }

    /// Stops the apps once each notification on a connection has its outcome. Their jobs stay in `work/`.
    func retireAll() async {
        for runner in answeringRunners { await runner.retire() }
    }

    /// Whether no answering app has a job under way, according to the apps' last reports.
    var isDrained: Bool { answeringRunners.allSatisfy(\.isDrained) }

    /// How long apps may take to stop: longer than a hook that must be killed, and than the detection of a stuck app;
    /// less than the minute announced to the service manager.
    private static let endLimit = Duration.seconds(30)

    /// Stops all apps, and returns when they have recorded the outcomes from their gateways. For apps that hang it waits
    /// until they are known to be stuck, or the time is up.
    func endAll() async {
        let (ending, deadline) = (runners, ContinuousClock.now + Self.endLimit)
        while places.contains(where: { ($1.runner != nil || $1.isAttended) && !isStuck($0) }), .now < deadline {
            for runner in runners.values { runner.stop() }
            await endWakeup.wait(until: min(deadline, .now + .seconds(1)))
        }
        for (name, runner) in ending where self.runner(name) == nil {
            let count = runner.shown.jobCount
            guard count > 0 else { continue }
            logger.warning(
                "jobs stay in work/; the next start resumes them",
                metadata: [LogKey.app: "\(name)", LogKey.jobs: "\(count)"])
        }
    }
}

/// The directories in the spool without a configured app. They are left alone, and reported once.
struct UnconfiguredFolders {
    private let logger: Logger
    /// The names of the directories.
    private(set) var names: Set<String> = []
    private var reported: Set<String> = []

    init(_ logger: Logger) { self.logger = logger }

    /// Lists the directories, and logs those that were not logged yet.
    mutating func look(in spool: Spool, _ configuration: ConfigurationSet) {
        let all = (try? spool.appNames()) ?? []
        names = Set(all).subtracting(configuration.apps.keys).subtracting(configuration.brokenApps)
        for name in all where names.contains(name) {
            guard reported.insert(name).inserted else { continue }
            let hint: Logger.MetadataValue =
                "\(configuration.remedy(forLackOf: name)); until then pushspool ignores this folder"
            logger.warning("app is not configured", metadata: [LogKey.app: "\(name)", LogKey.hint: hint])
        }
    }

    /// Makes `look` log all of them once more.
    mutating func reportAgain() { reported = [] }
}
