import APNSBinary
import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore
import Synchronization

/// One app at work: takes jobs from `new/`, sends them, writes feedback, and archives them.
///
/// It wires the parts of the pipeline, runs them, and ends them; each part keeps its own state. Its file calls block, so it
/// lives on a worker thread, and its parts with it; its gateway lives on the reactor. `run` must be running.
package actor AppRunner {
    nonisolated let name: String
    nonisolated let daemon: DaemonContext
    nonisolated let logger: Logger
    private nonisolated let lifecycle: AppLifecycle
    /// What the watch has seen.
    private nonisolated let hints = HintBox()
    private nonisolated let intakeBell: Bell
    /// Rung when the app is to end, or to drain.
    private nonisolated let stopBell: Bell
    /// Rung when the feedback service may have another address.
    nonisolated let serviceBell: Bell
    private let parts: AppParts
    private let pipeline: Pipeline
    private var app: AppConfiguration
    private var identity: AppIdentity
    /// Whether the app is to end as soon as nothing is in doubt.
    private var isRetiring = false

    /// Opens the app's part of the spool. Blocks; call it on the worker thread's actor or before anything runs.
    ///
    /// - Parameters:
    ///   - app: The app's configuration.
    ///   - identity: What it proves itself with.
    ///   - daemon: What is not the app's alone.
    ///   - left: What an earlier run of it left in the journal.
    /// - Throws: `SpoolFault` and `SystemError` when its folders cannot be used: the app cannot run.
    package init(
        _ app: AppConfiguration, _ identity: AppIdentity, in daemon: DaemonContext, left: LeftBehind
    ) throws {
        let parts = try AppParts(app, identity, in: daemon, left: left)
        (name, self.app, self.identity, self.daemon, self.parts) = (app.name, app, identity, daemon, parts)
        (logger, lifecycle, intakeBell) = (parts.context.logger, parts.context.lifecycle, parts.intakeBell)
        meter = parts.gateway.events.meter
        stopBell = Bell(on: daemon.reactor)
        serviceBell = Bell(on: daemon.reactor)
        pipeline = Pipeline(parts, app, identity, hints)
    }

    /// Reads on which jobs were sent before, a part of it at a time; to be called before `run`, until there is no more.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: that cannot be read. The app cannot run: it does not know what was sent.
    func readOn() throws(SystemError) -> Bool { try parts.duplicates.readOn() }

    /// The worker's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { daemon.files.worker.executor }

    /// What its connections are doing.
    nonisolated let meter: GatewayMeter
    /// What the status is to say of the app.
    nonisolated var shown: SpoolStatus.App { lifecycle.shown.withLock { $0 } }

    // MARK: Running

    /// What runs side by side until the app ends.
    private enum Loop {
        case stop, gateway, intake, pump(Lane), recording, announcing, publication, service, hook
    }

    /// Works until `stop` is called, and records everything that the gateway has settled by then.
    ///
    /// Cancelling the task ends it as well, but what the gateway has not told by then is lost.
    package func run() async {
        pipeline.recovery.findLeftJobs()
        parts.context.folder.reportIgnored(to: logger)
        pipeline.hook.prepare()
        pipeline.commands.begin()
        if parts.state.pausedAt != nil { await parts.gateway.setPaused(true) }
        await parts.suppression.configure(isWanted: app.suppress)
        await withTaskGroup { group in
            // Ends by itself, when the gateway has ended and told everything.
            group.addTask { await self.listen() }
            group.addTask { await self.runUntilStopped() }
        }
        await pipeline.sender.withdrawIntents()
        await pipeline.publisher.publish()
        await pipeline.publisher.clean()
        parts.journal.write()
        pipeline.status.show()
    }

    private func listen() async {
        // A connection that is lost leaves nothing in doubt either.
        await pipeline.listener.run { if isRetiring { await retire() } }
    }

    private func runUntilStopped() async {
        lifecycle.note(isIdle: false)
        await withTaskGroup { group in
            let pumps = Lane.allCases.map { Loop.pump($0) }
            for loop in [Loop.stop, .gateway, .intake, .recording, .announcing, .publication, .service, .hook] + pumps {
                group.addTask { await self.run(loop) }
            }
            // Only the first ends by itself, when the app is to end or everything is.
            await group.next()
            lifecycle.noteEnding()
            pipeline.publisher.roomBell.ring()
            group.cancelAll()
        }
    }

    private func run(_ loop: Loop) async {
        switch loop {
        case .stop: await awaitStop()
        case .gateway: await parts.gateway.run()
        case .intake: await pipeline.run()
        case .pump(let lane): await pipeline.sender.run(lane)
        case .recording: await pipeline.listener.runRecording()
        case .announcing: await pipeline.listener.runAnnouncing()
        case .publication: await pipeline.publisher.run()
        case .service: await FeedbackServicePoller(for: self).run()
        case .hook: await pipeline.hook.run()
        }
    }

    /// How often an app that drains leaves word of whether it is idle.
    private static let drainingPause = Duration.milliseconds(20)

    /// Waits until the app is to end.
    private func awaitStop() async {
        while !lifecycle.isStopping, !Task.isCancelled {
            if isDraining { lifecycle.note(isIdle: isIdle || parts.state.isPausedOut) }
            await stopBell.wait(until: isDraining ? .now + Self.drainingPause : nil)
        }
    }

    // MARK: Configuration

    /// Uses another configuration from the next connection and the next job on, if it is another.
    ///
    /// - Parameters:
    ///   - app: What its file says.
    ///   - identity: Its credentials.
    ///   - asksAgain: Whether an app that is stopped asks its gateway again also with the same configuration.
    /// - Returns: Whether this runner can; for another protocol another runner is needed.
    package func reconfigureIfNeeded(
        _ app: AppConfiguration, _ identity: AppIdentity, asksAgain: Bool
    ) async -> Bool {
        let isOther = app != self.app || identity.fingerprint != self.identity.fingerprint
        guard isOther || asksAgain && isStopped else { return true }
        let configured = identity.gateway(daemon.tokens, daemon.descriptors.sockets)
        guard await parts.gateway.reconfigure(configured) else { return false }
        guard isOther else { return true }
        (self.app, self.identity) = (app, identity)
        pipeline.configure(app, identity)
        await parts.suppression.configure(isWanted: app.suppress)
        logger.notice("app configured anew", metadata: [LogKey.gateway: "\(app.endpoint)"])
        intakeBell.ring()
        serviceBell.ring()
        return true
    }

    /// The feedback service of the app as it is configured now, `nil` if it is not asked, and the pause between two askings.
    var feedbackSource: (service: FeedbackService?, pause: Duration) { (identity.feedbackService, app.feedbackEvery) }

    /// Publishes tokens that the feedback service has named, as ``Publisher`` does.
    ///
    /// - Parameter entries: At most what `GoneTokenGroup` holds.
    /// - Returns: Whether they are out.
    func publish(_ entries: [FeedbackTuple]) async -> Bool { await pipeline.publisher.publish(entries) }

    // MARK: Hints

    /// Says whether the watch tells of this app; else it is polled.
    package func setWatched(_ isWatched: Bool) { pipeline.intake.setWatched(isWatched) }

    /// Takes a hint of the watch; `nil` asks for a scan.
    nonisolated func hint(_ name: FileName?, _ change: SpoolHint.Change) {
        hints.add(name, IntakeHint(change))
        intakeBell.ring()
    }

    /// Whether the app's directory is still the one it works in.
    func isHome(_ identity: FileIdentity?) -> Bool {
        let spool = parts.context.spool
        guard let identity, let new = try? spool.new.status(), let own = try? spool.home.status() else { return false }
        return own.identity == identity && new.linkCount > 0
    }

    // MARK: The end

    /// Ends the app: connections are cut, and jobs stay where they are.
    package nonisolated func stop() {
        lifecycle.stop()
        stopBell.ring()
    }

    /// Ends the app when what is on its connections has settled; jobs not sent stay in `work/`.
    package func retire() async {
        beginDraining()
        isRetiring = true
        parts.jobs.restAll()
        await parts.gateway.drain()
        parts.publishBell.ring()
        if await parts.gateway.pendingInDoubt == 0 { stop() }
    }

    /// Takes no further jobs. Whether all that were taken are over is told by `isDrained`.
    package nonisolated func beginDraining() {
        lifecycle.drain()
        stopBell.ring()
    }

    /// Whether no job is under way, as far as the app has left word since it drains: it is not asked, since it may hang.
    nonisolated var isDrained: Bool { lifecycle.isIdle }

    /// Whether no further jobs are taken.
    nonisolated var isDraining: Bool { lifecycle.isDraining }

    /// Whether no job is under way.
    private var isIdle: Bool { pipeline.isIdle }

    /// Whether the app may end now: nothing would be sent twice for it, or jobs under way can come to no end, because the
    /// gateway does not let the app in.
    package var mayEnd: Bool {
        get async {
            if isIdle || !parts.state.isOpen || parts.state.isPausedOut { return true }
            let isUntouched = parts.jobs.all.map(\.machine.tally).allSatisfy { $0.accepted + $0.unknown == 0 }
            guard isUntouched else { return false }
            return await parts.gateway.pendingInDoubt == 0
        }
    }

    // MARK: Operators

    /// Carries out a command about a job of this app.
    ///
    /// - Returns: What came of it; `nil` when the app has no such job.
    func carryOut(_ request: ControlRequest, _ reference: JobReference) async -> ControlAnswer? {
        await pipeline.commands.carryOut(request, reference)
    }

    /// What would name each job of this app that a command may mean.
    ///
    /// - Throws: `SystemError`: folders cannot be looked into.
    func candidates(_ request: ControlRequest, _ reference: JobReference) async throws(SystemError) -> [String] {
        try await pipeline.commands.candidates(request, reference)
    }

    /// Parks those of the jobs that are this app's: the journal cannot tell any more what they were.
    func holdUnreadable(_ ids: [JobID]) async { await pipeline.sender.holdUnreadable(ids) }

    private var isStopped: Bool { parts.state.standing.phase == .stopped }

    /// Pauses the app, also for later starts: nothing more is taken, and nothing is sent that is not on a connection.
    ///
    /// - Returns: What came of it.
    func beginPause() async -> ControlAnswer {
        guard parts.state.pausedAt == nil else { return ControlAnswer(.done, "is paused already").about(name) }
        do throws(SystemError) {
            try parts.context.spool.beginPause()
        } catch {
            return ControlAnswer(ControlFault("\(error)", hint: "see permissions and disk")).about(name)
        }
        await notePause(since: .now)
        return ControlAnswer(.done, "paused; what is on connections still gets its outcome").about(name)
    }

    /// Lets the app go on that is paused, and ask its gateway again if it is stopped.
    ///
    /// - Returns: What came of it.
    func resume() async -> ControlAnswer {
        let wasPaused = parts.state.pausedAt != nil
        do throws(SystemError) {
            try parts.context.spool.endPause()
        } catch {
            return ControlAnswer(ControlFault("\(error)", hint: "see permissions and disk")).about(name)
        }
        await notePause(since: nil)
        let isStopped = isStopped
        if isStopped { _ = await reconfigureIfNeeded(app, identity, asksAgain: true) }
        let words = isStopped ? "asks its gateway again" : wasPaused ? "goes on" : "was not paused, and goes on"
        return ControlAnswer(.done, words).about(name)
    }

    private func notePause(since time: WallTime?) async {
        guard await parts.state.notePause(since: time) else { return }
        pipeline.status.show()
        intakeBell.ring()
    }
}

extension IntakeHint {
    /// The intake's word for what the watch saw.
    init(_ change: SpoolHint.Change) {
        switch change {
        case .published: self = .movedIn
        case .created: self = .created
        case .modified: self = .modified
        case .closed: self = .closedAfterWrite
        }
    }
}

extension WallTime {
    /// The present time of day.
    static var now: WallTime { WallTime(nanoseconds: WallClock.nanoseconds()) }
}
