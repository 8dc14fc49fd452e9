import AppEngine
package import Configuration
import Gateways
import JobOperations
import LinuxIO
package import Logging
import PushModel
import ServiceProcess
import SharedResources
import SpoolModel
import SpoolStore

/// The daemon: one spool, its apps, and the parts that they share.
///
/// `run`, `runApps` and `AppRunner.run` contain the whole task tree. The parts belong to this actor and run on it.
package actor Daemon {
    /// How long a stop waits for jobs under way before their connections are cut.
    private nonisolated let drainLimit: Duration
    private nonisolated let resources: DaemonResources
    private nonisolated let signals: BlockedSignals
    private let configuration: ConfigurationKeeper
    private let journal: JournalKeeper
    private let apps: AppSupervisor
    private let status: StatusPublisher
    /// The part beside other nodes.
    private let cluster: Cluster
    private let operators: CommandRouter
    private var certificates: CertificateMonitor
    private var notifier: ServiceNotifier
    /// Signalled when the spool is watched, or cannot be.
    private let watchWakeup: Wakeup
    /// When to check certificates and configuration folders again.
    private var nextLook = Moment.zero
    /// Why signals can no longer be received.
    private var signalFault: SystemError?

    /// Reads the configuration and opens the spool. Blocks.
    ///
    /// - Throws: `StartFault`: print it, and exit with 78, or with 75 if the cause may pass.
    package init(_ settings: Settings, makeLogger: (DaemonConfiguration) -> Logger) throws(StartFault) {
        let loader = ConfigurationLoader(path: settings.path)
        let set = loader.load()
        guard !set.isDaemonBroken else { throw StartFault.configuration(set) }
        settings.logThreshold.level = set.daemon.logLevel.level
        let logger = makeLogger(set.daemon)
        (drainLimit, signals) = (settings.drainLimit, settings.signals)
        notifier = ServiceNotifier(
            settings.serviceManager, logger, starting: "starting: reading the journal")
        certificates = CertificateMonitor(logger)
        configuration = ConfigurationKeeper(set, loader, settings.logThreshold, logger)
        let budget = try DescriptorBudget.raised(for: set, logger)
        do {
            resources = try DaemonResources(set.daemon, logger)
            journal = JournalKeeper(resources)
            apps = try AppSupervisor(
                resources, configuration, journal, limits: (descriptors: budget, drain: settings.drainLimit))
            cluster = try Cluster(resources, set.daemon)
        } catch {
            throw StartFault(error, path: settings.path, spool: set.daemon.spool)
        }
        status = StatusPublisher(resources, configuration, apps, cluster)
        status.version = settings.version
        operators = CommandRouter(resources, configuration, apps, cluster)
        watchWakeup = Wakeup(on: resources.reactor)
    }

    /// The executor of the thread for files on the spool's filesystem.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { resources.files.worker.executor }

    private nonisolated var logger: Logger { resources.logger }

    // MARK: Running

    /// Works until a signal requests the end, then drains.
    ///
    /// - Throws: `SystemError`, `JournalFault` or `SpoolFault`: signals could no longer be received, the journal could
    ///   not be written, or a folder was moved. Exit with 75. While an app hangs, it does not return, but exits the
    ///   process with 75 itself.
    package func run() async throws {
        journal.reportReplay()
        logger.notice("started", metadata: [LogKey.path: "\(configuration.current.daemon.spool)"])
        configuration.report(configuration.current)
        noteConfiguration()
        await TaskThread.bypassed { await work() }
        journal.end()
        status.remove()
        logger.notice("stopped")
        let faults: [(any Error)?] = [journal.fault, journal.placeFault, signalFault]
        if let fault = faults.compactMap(\.self).first { throw fault }
    }

    /// Runs the daemon's parts until one of them ends, then drains.
    private func work() async {
        await withTaskGroup { group in
            for part in Self.parts { group.addTask { await part(self) } }
            if let pause = notifier.heartbeat { group.addTask { await self.runHeartbeat(every: pause) } }
            if let place = configuration.current.daemon.metricsListen {
                group.addTask { await self.serveMetrics(at: place) }
            }
            // Only the signals' task ends by itself, and the journal's tasks when the journal fails or a folder was moved.
            await group.next()
            if journal.fault != nil {
                apps.beginStopping()
                notifier.noteStop(within: .zero, statusLine)
            }
            // If the daemon's own task was cancelled, its apps were cancelled with it.
            if !Task.isCancelled {
                await cluster.endAll()
                await apps.endAll()
                leaveIfStuck()
            }
            group.cancelAll()
        }
    }

    /// What the daemon does at the same time, each until the task is cancelled. The parts belong to this actor, so that a child
    /// task reaches them only through it.
    private static let parts: [@Sendable (isolated Daemon) async -> Void] = [
        { await $0.journal.runSyncs($0.configuration.current.daemon) },
        { daemon in
            await daemon.journal.runCarrying(
                isQuiet: { daemon.apps.isQuiet }, hold: { await daemon.apps.holdUnreadable($0) })
        },
        { await $0.runWatch() },
        { await $0.runStatus() },
        { await $0.runApps() },
        { await $0.cluster.run(for: $0, $0.configuration) },
        { daemon in await daemon.configuration.run(on: daemon.resources.reactor) { daemon.reload() } },
        { await $0.resources.tokens.runRenewals() },
        { await $0.operators.run(for: $0) },
        { await $0.runSignals() },
        { if await $0.journal.awaitMove($0.configuration.current.daemon) { await $0.drain(nil) } },
    ]

    /// How long apps wait for the watch before they start without it.
    private static let watchLimit = Duration.seconds(5)

    /// Starts, changes and stops apps as the configuration and the spool require, until the task is cancelled.
    private func runApps() async {
        // Only a file whose rename was seen is known to be complete. The wait is short, because a folder may hang.
        await watchWakeup.wait(until: .now + Self.watchLimit)
        await cluster.prepare(apps)
        if !apps.isStopping { notifier.noteReady(statusLine) }
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let (atHand, others) = apps.unattended()
                for name in others { group.addTask { await self.attend(to: name) } }
                for name in atHand { await apps.attend(to: name) }
                // A new task, because the task that opened the app keeps the memory that this took.
                for runner in apps.takeStarted() { group.addTask { await self.run(runner) } }
                await apps.awaitChange()
            }
        }
    }

    private func attend(to name: String) async { await apps.attend(to: name) }
    private func run(_ runner: AppRunner) async {
        await runner.run()
        apps.noteEnd(of: runner)
    }

    // MARK: Other nodes

    /// Carries out the commands that other nodes pass on, until the task is cancelled.
    func runRequests() async { await cluster.runRequests(for: self) }

    /// Whether each app runs or cannot start.
    var haveAppsStarted: Bool { apps.haveStarted }

    /// Finishes the jobs of a node that has died.
    func standIn(for spool: Spool) async { await cluster.standIn(for: spool, apps, configuration.current) }

    // MARK: The watch

    private func runWatch() async {
        await apps.watch(for: self)
        watchWakeup.signal()
        await Wakeup.waitForCancellation(on: resources.reactor)
    }

    /// Passes the watch's reports on to the apps.
    func pass(_ hints: [SpoolHint]) { apps.pass(hints) }

    /// Records that the spool is watched.
    func noteWatched() {
        watchWakeup.signal()
        apps.noteWatched()
    }

    // MARK: Status

    /// The shortest interval between two writes of the status, and between two checks of busy threads.
    private static let statusPause = Duration.seconds(1)
    /// The interval for checking threads that may hang without the daemon, while no job is under way.
    private static let quietLook = Duration.seconds(5)

    /// Checks that all threads answer, writes the status, and informs the service manager, until the task is cancelled.
    private func runStatus() async {
        while !Task.isCancelled {
            apps.filesystems.look()
            lookAround()
            status.write()
            notifier.update(statusLine)
            let earliest = ContinuousClock.now + Self.statusPause
            let longest = apps.filesystems.areAny ? Self.quietLook : SpoolStatus.interval
            let pause = min(longest, configuration.certificateWait ?? longest)
            let isQuiet = apps.isQuiet && !apps.filesystems.areHanging
            let next = ContinuousClock.now + (isQuiet ? pause : .zero)
            await resources.statusWakeup.wait(until: status.hasOldMetrics ? min(next, status.nextMetrics) : next)
            if .now < earliest { try? await resources.reactor.sleep(until: earliest) }
        }
    }

    /// The daemon's status in one line.
    private var statusLine: String { SpoolStatus.line(of: apps.shown, isStopping: apps.isStopping) }

    /// How often certificates and missing configuration folders are checked.
    private static let lookPause = Duration.seconds(30)

    /// Checks everything that causes no event: the clock, certificates that expire or become valid, and configuration
    /// folders that have reappeared.
    private func lookAround() {
        resources.clock.look()
        guard Moment.now >= nextLook else { return }
        certificates.warn()
        if configuration.hasTimelyCertificate || configuration.followAgain() { reload() }
        nextLook = .now + min(Self.lookPause, configuration.certificateWait ?? Self.lookPause)
    }

    /// Reports regularly that the daemon is alive, until the task is cancelled.
    ///
    /// Each message proves it: the reactor's timer has fired, and the thread for the spool's files has run this task. An
    /// app whose own filesystem hangs has its own threads and does not delay it; neither does a gateway.
    private func runHeartbeat(every pause: Duration) async {
        while !Task.isCancelled {
            notifier.beat()
            try? await resources.reactor.sleep(for: pause)
        }
    }

    private func serveMetrics(at place: MetricsPlace) async { await status.serveMetrics(at: place, for: self) }

    /// The content of a page of metrics or a probe, as it is now.
    func content(of page: ScrapeRequest.Page) -> ScrapeRequest.Content { status.content(of: page) }

    // MARK: Configuration

    /// Reads the configuration again. A broken file changes nothing.
    private func reload() {
        if !apps.isStopping { notifier.noteReload() }
        if configuration.reload() {
            noteConfiguration()
            apps.noteConfiguration()
            cluster.noteConfiguration()
            resources.statusWakeup.signal()
        }
        notifier.update(statusLine)
    }

    /// Applies a new configuration.
    private func noteConfiguration() {
        journal.share(among: Set(configuration.current.apps.keys))
        certificates.follow(configuration.current)
        nextLook = .zero
    }

    // MARK: Operators

    /// Executes an operator's command.
    func answer(_ request: ControlRequest, for peer: PeerProcess) async -> ControlAnswer {
        if request.command == .reload { reload() }
        return await operators.answer(request, for: peer)
    }

    /// Executes a command that another node passes on.
    func answer(passedOn line: [UInt8]) async -> ControlAnswer { await operators.answer(passedOn: line) }

    /// The progress of a stop.
    var stopProgress: ControlAnswer { operators.stopProgress }

    // MARK: Stopping

    /// Handles signals until one requests the end, and returns when jobs have ended or the time is up.
    ///
    /// A daemon that can no longer receive signals stops as well, because it could not be stopped cleanly later.
    private func runSignals() async {
        let reader = SignalReader(resources.reactor, signals)
        do {
            while let signal = try await reader.next() {
                switch signal {
                case .hangup: reload()
                case .terminate, .interrupt: return await drain(reader)
                case .user1, .user2: logger.note(ignored: signal)
                }
            }
        } catch {
            signalFault = error
            let hint: Logger.MetadataValue = "check the limits on open files, then start the daemon again"
            logger.error("signals cannot be received", metadata: [LogKey.error: "\(error)", LogKey.hint: hint])
            await drain(nil)
        }
    }

    /// Lets jobs under way finish; a second signal abandons them at once.
    private func drain(_ reader: SignalReader?) async {
        let limit: Duration? = if let requested = operators.requestedStop { requested.limit } else { drainLimit }
        logger.notice("stopping", metadata: [LogKey.limit: "\(limit?.description ?? "none")"])
        apps.beginDraining()
        if operators.requestedStop?.handsOver == true { await apps.retireAll() }
        await cluster.beginDraining()
        notifier.noteStop(within: drainLimit, statusLine)
        resources.statusWakeup.signal()
        let deadline = limit.map { ContinuousClock.now + $0 }
        await withTaskGroup { group in
            group.addTask { await self.awaitIdle(until: deadline) }
            if let reader { group.addTask { await self.awaitSecondSignal(reader) } }
            await group.next()
            group.cancelAll()
        }
    }

    private func awaitSecondSignal(_ reader: SignalReader) async {
        do {
            try await reader.awaitEnd()
        } catch {
            logger.error("signals cannot be received", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func awaitIdle(until deadline: ContinuousClock.Instant?) async {
        while !apps.isDrained || !cluster.isIdle, deadline.map({ .now < $0 }) ?? true, !Task.isCancelled {
            // An app that hangs is no longer waited for, which nothing signals.
            let next = ContinuousClock.now + .seconds(1)
            await resources.idleWakeup.wait(until: deadline.map { min($0, next) } ?? next)
        }
    }

    /// Exits the process if apps hang and cannot be stopped. Everything that can be recorded has been.
    private func leaveIfStuck() {
        let stuck = apps.busyNames
        guard !stuck.isEmpty else { return }
        journal.end()
        status.remove()
        let hint: Logger.MetadataValue = "their jobs stay in work/; the next start resumes them"
        logger.error(
            "stopped without waiting for stuck apps",
            metadata: [LogKey.app: "\(stuck.joined(separator: " "))", LogKey.hint: hint])
        Host.leave(with: 75)
    }
}
