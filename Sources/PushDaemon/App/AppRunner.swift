import APNSGateway
import APNSModel
import LinuxIO
import Logging
package import SpoolModel
package import SpoolStore
import Synchronization

/// One app at work: takes jobs from `new/`, sends them, writes feedback, and archives them.
///
/// Its file calls block, so it lives on a worker thread; its gateway lives on the reactor. `run` must be running.
package actor AppRunner {
    /// How many jobs may be under way, and open for reading, and how many bytes of documents in memory, before no further
    /// job is taken; the rest waits in `new/`.
    static let placeLimits = Places.Limits(jobCount: 10_000, readerCount: 256, byteCount: 128 << 20)
    /// How much may pause in memory before jobs rest.
    static let pausedLimits = ReadingTurns.Limits(total: 200_000, floor: 256)
    /// How many bytes of lines are gathered at the most before they are published. With twice as many nothing more is read and no
    /// outcome is taken.
    static let lineLimit = 4 << 20
    /// How many claims are synced together at most.
    static let claimGroupLimit = 64

    nonisolated let name: String
    /// What the watch has seen.
    nonisolated let hints = HintBox()
    /// What the status is to say of the app.
    nonisolated let shown: Mutex<SpoolStatus.App>
    nonisolated let lifecycle = AppLifecycle()
    nonisolated let around: DaemonContext
    nonisolated let logger: Logger
    let context: AppContext
    let gateway: any PushGateway
    let writer: FeedbackLine
    /// Rung when there may be something to take from `new/`.
    let intakeBell: Bell
    /// Rung when a job can be read on, by lane.
    let pumpBells: [Bell]
    /// Rung when outcomes are in the journal's file, and when something is to be announced in it.
    let recordBell: Bell
    let announceBell: Bell
    /// Rung when there are lines to publish.
    let publishBell: Bell
    /// Rung when there may be room in the journal for outcomes.
    let roomBell: Bell
    /// Rung when the app is to end, or to drain.
    let stopBell: Bell
    /// Rung when the feedback service may have another address.
    let serviceBell: Bell

    /// The tokens that are not sent to.
    let suppression: SuppressionList
    let journal: JournalWriter
    let space: SpaceMonitor
    let duplicates: DuplicateGuard
    let retention: RetentionTask
    let hook: HookRunner
    /// Whether there is room for what the app is about to do.
    let room: JournalRoom

    var app: AppConfiguration
    var identity: AppIdentity
    var intake: Intake
    /// How files looked that are to be taken: what is opened must be what was judged.
    var seen: [FileName: FileStatus] = [:]
    var jobs: [JobID: ActiveJob] = [:]
    /// What the journal knows of jobs of an earlier run.
    var left: [JobID: JournalJob]
    /// Those of them that are in `work/`, the next to take up at the end.
    var leftJobs: [LeftJob] = []
    /// Whether it is known what is in `work/`, and when to look again for what was not found.
    var hasLookedIntoWork = false
    var nextFinding = Moment.zero
    /// Those that are being taken up.
    var takingUp: [LeftJob] = []
    /// Jobs that were announced, to be claimed as soon as the journal has them for good, and how many are just then.
    var claims: [Candidate] = []
    var claimingCount = 0
    /// How many files are being read that will be announced or taken up then: a short one may be beside a long one.
    var takingCount = 0
    /// Whether short files are taken beside a long one.
    var isBesideReading = false
    /// Whether a file over which the daemon may have died is being read, and which of those were read since.
    var isReadingAlone = false
    var acquitted: Set<JournalSubject> = []
    /// Where the records begin that can be told while those before them, of an earlier run or of what an operator has ended,
    /// are told one by one.
    var firstTold: JournalPosition
    /// Files that can never be sent, to be moved away as soon as their lines are out.
    var refusals: [PendingRefusal] = []
    /// Those whose line is out and which could not be moved: not told again.
    var stuckRefusals: [FileName: PendingRefusal] = [:]
    /// Jobs that have recipients to hand out.
    var readable = ReadingTurns(AppRunner.pausedLimits)
    /// How far jobs are that take long, what is shown of them, and when they are looked at again.
    var progress: [JobID: JobProgress] = [:]
    var shownJobs: [SpoolStatus.Job] = []
    var nextProgressLook = Moment.zero
    /// When the first job's time is up, at the earliest.
    var nextGiveUp: Moment?
    /// What jobs keep in memory, and whether there is room for more.
    var places = Places(AppRunner.placeLimits)
    /// Jobs that are over and have no line yet.
    var concluded: [JobID] = []
    /// Lines to be published, and the jobs that are over when they are.
    var lines: [UInt8] = []
    var finishing: [JobID] = []
    /// Jobs whose lines are out and which are still to be moved.
    var published: [JobID] = []
    /// Jobs that were moved, which is not synced yet.
    var archived: [JobID] = []
    /// What is left of jobs that are parked, or are tried again.
    let desk: HoldDesk
    /// Jobs that an operator wants to be held, and what of each may be on a connection.
    var holdings: [JobID: IndexRuns] = [:]
    /// Jobs that an operator has ended, and that are not over: what comes back of them is not sent.
    var endings: Set<JobID> = []
    /// Those that are to be held and of which nothing is under way, to be moved to `hold/` as soon as their lines are out.
    var parking: [JobID] = []
    /// Parked files that an operator has ended, to be moved away as soon as their lines are out.
    var withdrawals: [Withdrawal] = []
    /// Whether it is known what an earlier run has left. Until then no command of an operator is carried out.
    var hasBegun = false
    /// Whether a command of an operator is being carried out, and who waits for that.
    var isOperating = false
    var awaitingTurn: [CheckedContinuation<Void, Never>] = []
    var lastCleaning = Moment.zero
    /// Whether lines are being published, how many bytes of them, and who waits for that.
    var isPublishing = false
    var publishingByteCount = 0
    var awaitingPublication: [CheckedContinuation<Void, Never>] = []
    /// Jobs that are over, for corrections that come late.
    var recent = RecentJobs()
    var lastPublication = Moment.zero
    var nextScan = Moment.zero
    /// A listing of `new/` that is under way.
    var scanning: DirectoryListing?
    /// What the gateway makes of the app at present.
    var standing = Standing()
    /// Since when an operator has the app paused; `nil` if none has.
    var pausedAt: WallTime?
    /// Whether the gateway has not answered for a while.
    var outage = Outage()
    /// Whether a stopped app may take one job to ask with.
    var mayAsk = false
    /// How many notifications have outcomes in the journal's file of which the gateway does not know that they are durable.
    var unrecordedCount = 0
    /// What the gateway waits to write, and is not announced in the journal.
    var announcements: [Batch] = []
    /// What was taken back from the gateway and is to be handed out again.
    var freed = FreedBatches()
    /// When the oldest of the jobs under way was dropped, as of the last look at their progress.
    var oldestDrop: WallTime?
    /// Whether the app is to end as soon as nothing is in doubt.
    var isRetiring = false
    /// Whether the watch tells of files; else `new/` is polled.
    var isWatched = true

    /// Opens the app's part of the spool. Blocks; call it on the worker thread's actor or before anything runs.
    ///
    /// - Parameters:
    ///   - app: The app's configuration.
    ///   - identity: What it proves itself with.
    ///   - around: What is not the app's alone.
    ///   - left: What an earlier run of it left in the journal.
    /// - Throws: `SpoolFault` and `SystemError` when its folders cannot be used: the app cannot run.
    package init(
        _ app: AppConfiguration, _ identity: AppIdentity, in around: DaemonContext, left: LeftBehind
    ) throws {
        var logger = around.logger
        logger[metadataKey: LogKey.app] = "\(app.name)"
        let spool = try around.spool.app(app.name)
        spool.jobFiles = around.descriptors.jobFiles
        let context = AppContext(
            name: app.name, logger: logger, spool: spool,
            folder: try FeedbackFolder(spool, after: left.newestFeedback), lifecycle: lifecycle, daemon: around)
        self.name = app.name
        self.shown = Mutex(SpoolStatus.App(name: app.name, state: .starting))
        self.app = app
        self.identity = identity
        self.around = around
        (self.context, self.logger) = (context, logger)
        self.pausedAt = try spool.pausedAt()
        self.desk = HoldDesk(spool, logger)
        self.left = left.jobs
        self.firstTold = around.journal.position
        self.gateway = identity.gateway(around.tokens, around.descriptors.sockets).makeGateway(
            recordKeeping: .durable(group: around.configuration.syncRecords), on: around.reactor, logger: logger)
        self.writer = FeedbackLine(app: app.name, node: around.node)
        self.intake = Intake(rules: IntakeRules(around.configuration))
        self.intakeBell = Bell(on: around.reactor)
        self.pumpBells = Lane.allCases.map { _ in Bell(on: around.reactor) }
        self.publishBell = Bell(on: around.reactor)
        self.recordBell = Bell(on: around.reactor)
        self.announceBell = Bell(on: around.reactor)
        self.roomBell = Bell(on: around.reactor)
        self.stopBell = Bell(on: around.reactor)
        self.serviceBell = Bell(on: around.reactor)
        self.suppression = SuppressionList(context)
        self.journal = JournalWriter(context, suppression)
        self.space = SpaceMonitor(context, journal)
        self.duplicates = try DuplicateGuard(context, space, orRing: intakeBell)
        self.retention = RetentionTask(context)
        self.room = JournalRoom(of: app.name, in: around.journal)
        self.hook = HookRunner(app.hook, context, room, orRing: intakeBell)
    }

    /// Reads on which jobs were sent before, a part of it at a time; to be called before `run`, until there is no more.
    ///
    /// - Returns: Whether there is more.
    /// - Throws: `SystemError`: that cannot be read. The app cannot run: it does not know what was sent.
    func readOn() throws(SystemError) -> Bool { try duplicates.readOn() }

    /// The worker's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { around.files.worker.executor }

    /// The threads for its files.
    nonisolated var files: FileThread { around.files }

    var spool: AppSpool { context.spool }

    /// Works until `stop` is called, and records everything that the gateway has settled by then.
    ///
    /// Cancelling the task ends it as well, but what the gateway has not told by then is lost.
    package func run() async {
        findLeftJobs()
        context.folder.reportIgnored(to: logger)
        hook.prepare()
        hasBegun = true
        if pausedAt != nil { await gateway.setPaused(true) }
        await suppression.configure(isWanted: app.suppress)
        await withTaskGroup { group in
            // Ends by itself, when the gateway has ended and told everything.
            group.addTask { await self.runEvents() }
            group.addTask { await self.runUntilStopped() }
        }
        await withdrawIntents()
        await publishLines()
        await cleanArchived()
        journal.write()
        show()
    }

    private func runHook() async { await hook.run() }

    /// How often an app that drains leaves word of whether it is idle.
    private static let drainingPause = Duration.milliseconds(20)

    /// Waits until the app is to end.
    private func awaitStop() async {
        while !lifecycle.isStopping, !Task.isCancelled {
            if isDraining { lifecycle.note(isIdle: isIdle || isPausedOut) }
            await stopBell.wait(until: isDraining ? .now + Self.drainingPause : nil)
        }
    }

    private func runUntilStopped() async {
        lifecycle.note(isIdle: false)
        await withTaskGroup { group in
            group.addTask { await self.awaitStop() }
            group.addTask { await self.gateway.run() }
            group.addTask { await self.runIntake() }
            for lane in Lane.allCases { group.addTask { await self.runPump(lane) } }
            group.addTask { await self.runRecording() }
            group.addTask { await self.runAnnouncing() }
            group.addTask { await self.runPublication() }
            group.addTask { await FeedbackServicePoller(for: self).run() }
            group.addTask { await self.runHook() }
            // Only the first ends by itself, when the app is to end or everything is.
            await group.next()
            lifecycle.noteEnding()
            roomBell.ring()
            group.cancelAll()
        }
    }

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
        guard isOther || asksAgain && standing.phase == .stopped else { return true }
        let configured = identity.gateway(around.tokens, around.descriptors.sockets)
        guard await gateway.reconfigure(configured) else { return false }
        guard isOther else { return true }
        self.app = app
        self.identity = identity
        await suppression.configure(isWanted: app.suppress)
        logger.notice("app configured anew", metadata: [LogKey.gateway: "\(app.endpoint)"])
        intakeBell.ring()
        serviceBell.ring()
        hook.configure(app.hook)
        return true
    }

    /// Says whether the watch tells of this app; else it is polled.
    package func setWatched(_ isWatched: Bool) {
        guard isWatched != self.isWatched else { return }
        self.isWatched = isWatched
        nextScan = .zero
        intakeBell.ring()
    }

    /// Whether the app's directory is still the one it works in.
    func isHome(_ identity: FileIdentity?) -> Bool {
        guard let identity, let new = try? spool.new.status(), let own = try? spool.home.status() else { return false }
        return own.identity == identity && new.linkCount > 0
    }

    /// Ends the app: connections are cut, and jobs stay where they are.
    package nonisolated func stop() {
        lifecycle.stop()
        stopBell.ring()
    }

    /// Ends the app when what is on its connections has settled; jobs not sent stay in `work/`.
    package func retire() async {
        beginDraining()
        isRetiring = true
        readable.removeAll()
        await gateway.drain()
        publishBell.ring()
        if await gateway.pendingInDoubt == 0 { stop() }
    }

    /// Takes a hint of the watch; `nil` asks for a scan.
    package nonisolated func hint(_ name: FileName?, _ change: SpoolHint.Change) {
        hints.add(name, IntakeHint(change))
        intakeBell.ring()
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
    package var isIdle: Bool {
        jobs.isEmpty && claims.isEmpty && claimingCount == 0 && takingCount == 0 && lines.isEmpty && !isPublishing
    }

    /// Whether the app may end now: nothing would be sent twice for it, or jobs under way can come to no end, because the
    /// gateway does not let the app in.
    package var mayEnd: Bool {
        get async {
            if isIdle || standing.phase != .open || isPausedOut { return true }
            let isUntouched = jobs.values.map(\.machine.tally).allSatisfy { $0.accepted + $0.unknown == 0 }
            guard isUntouched else { return false }
            return await gateway.pendingInDoubt == 0
        }
    }

    /// How many jobs are under way.
    package var activeCount: Int { jobs.count + leftJobs.count }
}

extension IntakeRules {
    /// The rules that a configuration sets.
    fileprivate init(_ configuration: DaemonConfiguration) {
        self.init()
        settle = configuration.settle
        patience = configuration.patience
        requireEnd = configuration.requireEnd
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
