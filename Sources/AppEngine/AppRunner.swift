import APNSBinary
package import Configuration
package import Gateways
package import JobFormat
package import JobOperations
import JournalModel
package import LinuxIO
import Logging
package import PushModel
import ServiceProcess
package import SharedResources
package import SpoolModel
package import SpoolStore
import Synchronization

/// Runs one app: takes jobs from `new/`, sends them, writes feedback, and archives them.
///
/// It connects the parts of the pipeline, runs them, and stops them; each part keeps its own state. Its file calls block, so it
/// and its parts run on a worker thread. Its gateway runs on the reactor. Other calls require that `run` is running.
package actor AppRunner: CommandedApp {
    /// The app's name.
    package nonisolated let name: String
    nonisolated let daemon: DaemonContext
    /// The thread for the app's files.
    package nonisolated var files: FileThread { daemon.files }
    nonisolated let logger: Logger
    private nonisolated let lifecycle: AppLifecycle
    /// The folders that must stay where they are.
    package nonisolated let places: AppPlaces
    /// The reports of the watch.
    private nonisolated let hints = HintBox()
    private nonisolated let intakeWakeup: Wakeup
    /// Signalled when the app is to stop, or when a task may have to start.
    private nonisolated let wakeup: Wakeup
    /// Signalled when the address of the feedback service may have changed.
    nonisolated let serviceWakeup: Wakeup
    private let parts: AppParts
    private let pipeline: Pipeline
    private(set) var app: ConfiguredApp
    /// Whether the jobs of an earlier run have been found. No command is executed before that.
    private var hasBegun = false
    private nonisolated let beginning: Condition
    /// Whether the app is to stop as soon as no notification is in doubt.
    private var isRetiring = false
    /// The tasks that are running.
    private var loops: Set<Loop> = []

    /// Opens the app's part of the spool. Blocks; call it on the worker thread's actor or before anything runs.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - daemon: The parts shared with other apps.
    ///   - left: The journal's records of an earlier run of the app.
    /// - Throws: `SpoolFault` and `SystemError` if its folders cannot be used: the app cannot run.
    package init(_ app: ConfiguredApp, in daemon: DaemonContext, left: LeftBehind) throws {
        let parts = try AppParts(app, in: daemon, left: left)
        (name, self.app, self.daemon, self.parts) = (app.name, app, daemon, parts)
        (logger, lifecycle, intakeWakeup) = (parts.context.logger, parts.context.lifecycle, parts.intakeWakeup)
        (meter, places) = (parts.gateway.events.meter, parts.context.spool.places)
        (wakeup, beginning) = (parts.context.runnerWakeup, Condition(on: daemon.reactor))
        serviceWakeup = Wakeup(on: daemon.reactor)
        pipeline = Pipeline(parts, app, hints)
    }

    /// Reads the next part of the records of sent jobs. Call it before `run`, until it returns false.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: the records cannot be read, so the sent jobs are unknown. The app cannot run.
    func readOn() throws(SystemError) -> Bool { try parts.duplicates.readOn() }

    /// The executor of the worker thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { daemon.files.worker.executor }

    /// The state of the gateway's connections.
    package nonisolated let meter: GatewayMeter
    /// The app's part of the status.
    package nonisolated var shown: SpoolStatus.App { lifecycle.shown.withLock { $0 } }

    // MARK: Running

    /// The tasks that run concurrently until the app stops; `service` and `hook` only while they have something to do.
    private enum Loop: Hashable {
        case gateway, intake, pump(Lane), recording, announcing, publication, service, hook

        /// The tasks that start with the app's first work. An idle one takes 4 KiB.
        static let onDemand = Lane.allCases.map { pump($0) } + [gateway, recording, announcing, publication]
    }

    /// Works until `stop` is called, and records all outcomes that the gateway has reported by then.
    ///
    /// Cancelling the task also stops it, but outcomes that the gateway has not reported by then are lost.
    package func run() async {
        pipeline.recovery.findLeftJobs()
        parts.context.folder.reportIgnored(to: logger)
        pipeline.hook.prepare()
        hasBegun = true
        beginning.broadcast()
        if parts.state.pausedAt != nil { await parts.gateway.setPaused(true) }
        await parts.suppression.configure(isWanted: app.configuration.suppress)
        await withTaskGroup { await runUntilStopped(listeningIn: &$0) }
        await pipeline.recall.withdrawIntents()
        await pipeline.publisher.publish()
        await pipeline.publisher.clean()
        parts.journal.write()
        pipeline.status.show()
    }

    private func listen() async {
        await pipeline.listener.run {
            // A lost connection also leaves no notification in doubt.
            if isRetiring { await retire() }
            if pipeline.isAwaitingEvents { intakeWakeup.signal() }
        }
    }

    /// Runs the tasks. The listener ends by itself once the gateway has ended and reported everything.
    private func runUntilStopped(listeningIn listening: inout TaskGroup<Void>) async {
        lifecycle.note(isIdle: false)
        await withDiscardingTaskGroup { group in
            while !lifecycle.isStopping, !Task.isCancelled {
                for loop in wantedLoops where loops.insert(loop).inserted {
                    if loop == .gateway { listening.addTask { await self.listen() } }
                    group.addTask { await self.run(loop) }
                }
                await wakeup.wait()
            }
            lifecycle.noteEnding()
            pipeline.publisher.progress.broadcast()
            group.cancelAll()
        }
    }

    private func run(_ loop: Loop) async {
        switch loop {
        case .gateway: await parts.gateway.run()
        case .intake: await pipeline.run()
        case .pump(let lane): await pipeline.sender.run(lane)
        case .recording: await pipeline.listener.runRecording()
        case .announcing: await pipeline.listener.runAnnouncing()
        case .publication: await pipeline.publisher.run()
        case .service: await FeedbackServicePoller(for: self).run()
        case .hook: await pipeline.hook.run()
        }
        // A task that has ended may be wanted again since.
        loops.remove(loop)
        wakeup.signal()
    }

    /// The tasks that may have something to do. A service that was configured before may have left tokens to publish.
    private var wantedLoops: [Loop] {
        let hasService = daemon.ownsState && (app.feedbackService != nil && !daemon.isStandIn || loops.isEmpty)
        return [.intake] + (hasService ? [.service] : []) + (app.configuration.hook == nil ? [] : [.hook])
            + (lifecycle.hasWorked ? Loop.onDemand : [])
    }

    // MARK: Configuration

    /// Uses another configuration from the next connection and the next job on, if it differs.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - asksAgain: Whether a stopped app tries its gateway again even with the same configuration.
    /// - Returns: Whether this runner can use it. Another protocol requires another runner.
    package func reconfigureIfNeeded(_ app: ConfiguredApp, asksAgain: Bool) async -> Bool {
        let isOther = !app.isSame(as: self.app)
        guard isOther || asksAgain && isStopped else { return true }
        if isStopped || !app.sendsLike(self.app) {
            parts.accepted.configure(app)
            let configured = app.gateway(
                (daemon.tokens, daemon.mark), daemon.descriptors.sockets, acceptedAt: parts.accepted.moment)
            guard await parts.gateway.reconfigure(configured) else { return false }
        }
        guard isOther else { return true }
        warnOfTopic(of: app)
        self.app = app
        pipeline.configure(app)
        // A new hook must begin before another file is published.
        wakeup.signal()
        await parts.suppression.configure(isWanted: app.configuration.suppress)
        logger.notice("app reconfigured", metadata: [LogKey.gateway: "\(app.configuration.endpoint)"])
        intakeWakeup.signal()
        if loops.contains(.service) { serviceWakeup.signal() }
        return true
    }

    /// Warns of a renewed certificate that gives jobs without a topic another one.
    private func warnOfTopic(of other: ConfiguredApp) {
        guard other.configuration.topic == nil, let old = app.topic, let new = other.topic, old != new else { return }
        logger.warning(
            "default topic changed from \(old) to \(new), that of the new certificate",
            metadata: [LogKey.hint: "if that is wrong, use a certificate for \(old); set topic: to be sure"])
    }

    /// Publishes tokens that the feedback service has reported; see ``Publisher``.
    ///
    /// - Parameter entries: At most one full `GoneTokenGroup`.
    /// - Returns: Whether they are published.
    func publish(_ entries: [FeedbackTuple]) async -> Bool { await pipeline.publisher.publish(entries) }

    // MARK: Hints

    /// Sets whether the watch covers this app. If not, the app is polled.
    package func setWatched(_ isWatched: Bool) { pipeline.intake.setWatched(isWatched) }

    /// Takes a hint of the watch; `nil` asks for a scan.
    package nonisolated func hint(_ name: FileName?, _ change: SpoolHint.Change) {
        hints.add(name, IntakeHint(change))
        intakeWakeup.signal()
    }

    // MARK: Stopping

    /// Stops the app: connections are cut, and jobs stay where they are.
    package nonisolated func stop() {
        lifecycle.stop()
        wakeup.signal()
    }

    /// Stops the app once its connections have settled. Unsent jobs stay in `work/`.
    package func retire() async {
        beginDraining()
        isRetiring = true
        parts.jobs.restAll()
        await parts.gateway.drain()
        parts.publishWakeup.signal()
        if await parts.gateway.pendingInDoubt == 0 { stop() }
    }

    /// Takes no further jobs. `isDrained` says whether all taken jobs have ended.
    package nonisolated func beginDraining() {
        lifecycle.drain()
        intakeWakeup.signal()
    }

    /// Whether the draining app last recorded that it is idle. The app itself is not asked, because it may hang.
    package nonisolated var isDrained: Bool { lifecycle.isIdle }

    /// Whether the app takes no further jobs.
    nonisolated var isDraining: Bool { lifecycle.isDraining }

    /// Whether the app may stop now: no notification would be sent twice, or jobs under way cannot end because the
    /// gateway does not accept the app or an operator has paused it.
    package var mayEnd: Bool {
        get async {
            if pipeline.isIdle || !parts.state.isOpen || parts.state.isPausedOut { return true }
            let isUntouched = parts.jobs.all.map(\.machine.tally).allSatisfy { $0.accepted + $0.unknown == 0 }
            guard isUntouched else { return false }
            return await parts.gateway.pendingInDoubt == 0
        }
    }

    /// Whether a stand-in has finished all that it can of another node's jobs.
    package var isThrough: Bool { hasBegun && pipeline.isThrough }

    // MARK: Operators

    package func carryOut(_ request: ControlRequest, _ reference: JobReference) async -> ControlAnswer? {
        guard await beginning.wait(for: { hasBegun }) else { return ControlAnswer(.stopping).about(name) }
        return await pipeline.commands.carryOut(request, reference)
    }

    package func candidates(_ request: ControlRequest, _ reference: JobReference) async throws(SystemError) -> [String]
    {
        _ = await beginning.wait { hasBegun }
        return try await pipeline.commands.candidates(request, reference)
    }

    /// Moves those of the jobs that belong to this app to `hold/`: the journal can no longer read their records.
    package func holdUnreadable(_ ids: [JobID]) async { await pipeline.sender.holdUnreadable(ids) }

    private var isStopped: Bool { parts.state.isStopped }

    /// Pauses the app, also for later starts. No more jobs are taken, and only notifications on a connection are finished.
    ///
    /// - Returns: The answer to the command.
    package func beginPause() async -> ControlAnswer {
        guard parts.state.pausedAt == nil else { return ControlAnswer(.done, "already paused").about(name) }
        do throws(SystemError) {
            try parts.context.spool.beginPause()
        } catch {
            return ControlAnswer(ControlFault("\(error)", hint: "check permissions and disk")).about(name)
        }
        await notePause(since: .now)
        return ControlAnswer(.done, "paused; notifications in flight still get their outcome").about(name)
    }

    /// Resumes a paused app, and lets a stopped app try its gateway again.
    ///
    /// - Returns: The answer to the command.
    package func resume() async -> ControlAnswer {
        let wasPaused = parts.state.pausedAt != nil
        do throws(SystemError) {
            try parts.context.spool.endPause()
        } catch {
            return ControlAnswer(ControlFault("\(error)", hint: "check permissions and disk")).about(name)
        }
        await notePause(since: nil)
        let isStopped = isStopped
        if isStopped { _ = await reconfigureIfNeeded(app, asksAgain: true) }
        let words = isStopped ? "trying its gateway again" : wasPaused ? "resumed" : "was not paused"
        return ControlAnswer(.done, words).about(name)
    }

    private func notePause(since time: WallTime?) async {
        guard await parts.state.notePause(since: time) else { return }
        pipeline.status.show()
        intakeWakeup.signal()
    }
}

extension FileThread {
    /// Opens an app. This takes as long as its filesystem needs.
    ///
    /// - Throws: The errors of `AppRunner.init` and `AppRunner.readOn`.
    package func open(_ app: ConfiguredApp, in context: DaemonContext, left: LeftBehind) async throws -> AppRunner {
        let runner = try AppRunner(app, in: context, left: left)
        while try await runner.readOn() { await worker.yield() }
        return runner
    }
}
