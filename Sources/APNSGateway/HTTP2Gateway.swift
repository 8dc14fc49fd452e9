import APNSHTTP2
package import APNSModel
package import LinuxIO
package import Logging

/// One app's way to a gateway over HTTP/2: batches in, outcomes out.
///
/// Keeps up to `connectionLimit` connections, all fed from one queue, and opens them when there is work. A connection
/// that the gateway wants to be rid of drains beside its successor; the two share one window. Lives on the reactor's
/// thread, as its connections do. `run` must be running for anything to move.
package actor HTTP2Gateway: PushGateway {
    /// How many notifications of a lane may wait in memory before `submit` makes its caller wait. What pauses, or has paused,
    /// does not count: `GatewayEvent.paused` lets the owner hold back the jobs that it belongs to.
    package static let queueLimit = 32_768

    /// What happens, in order. Settlements never outnumber what was submitted, so the stream needs no other bound.
    package nonisolated let events = GatewayEvents()

    let reactor: Reactor
    let logger: Logger
    let state: GatewayState
    var configuration: Configuration
    var queue: RequestQueue
    /// Connections that take work, by slot.
    var sessions: [Int: HTTP2Session] = [:] { didSet { countConnections() } }
    /// Connections that take no more and wait for answers, by a number of their own.
    var draining: [Int: HTTP2Session] = [:] { didSet { countConnections() } }
    /// Those of them that nobody serves yet.
    private var unattended: [Int] = []
    private var nextDrain = 0
    /// What the gateway has said about the credentials since it last accepted something.
    var identity = IdentityTrial()
    /// What it has said of itself, or something else has in its place.
    var trouble = TroubleWatch()
    /// The provider token that the gateway has called expired, until there is another.
    var expiredToken: ProviderToken?
    /// How long to leave the gateway alone before the next connection.
    var restAhead = Duration.zero

    /// Creates a gateway that connects to nothing until there is work and `run` is called.
    package init(
        _ configuration: Configuration, recordKeeping: RecordKeeping = .none, on reactor: Reactor, logger: Logger
    ) {
        self.configuration = configuration
        self.queue = RequestQueue(pauses: configuration.pauses, announces: recordKeeping != .none)
        self.state = GatewayState(
            events, configuration.pacing, recordKeeping: recordKeeping, on: reactor)
        self.reactor = reactor
        self.logger = logger
        state.keep(configuration.rate)
    }

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Hands batches of one lane over, each behind all other work of its job. Waits while the lane is full.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits; none was taken then.
    package func submit(_ batches: [Batch]) async throws {
        guard let lane = batches.first?.lane else { return }
        try await state.waitForRoom(in: lane, while: isFull)
        for batch in batches { queue.append(batch) }
        wakeAll()
    }

    /// Notes that so many settled notifications are recorded for good.
    package func recorded(_ count: Int) {
        if state.noteRecorded(count) { wakeAll() }
    }

    /// Lets go what is announced.
    package func announced(_ batches: [Batch]) {
        queue.announced(batches)
        wakeAll()
    }

    /// Takes back what waits or pauses of a job; what is on a connection still gets its outcome.
    package func remove(_ job: JobID) -> [Batch] {
        let removed = queue.remove(job)
        noteRemoval()
        return removed
    }

    /// Takes back all of a job that was never on a connection, if it was handed over in so many notifications; or nothing.
    package func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        let removed = queue.removeUnwritten(job, count: count)
        noteRemoval()
        return removed
    }

    private func noteRemoval() {
        state.collect(queue.takePausedCounts())
        state.tellOutcomes()
        wakeSubmitters()
    }

    /// Uses another configuration from the next connection on; those of the old one get their answers and close.
    ///
    /// A stopped app starts again.
    package func reconfigure(_ configuration: Configuration) {
        self.configuration = configuration
        queue.reconfigure(configuration.pauses)
        (identity, trouble) = (IdentityTrial(), TroubleWatch())
        expiredToken = nil
        restAhead = .zero
        state.reconfigure(configuration.pacing)
        state.keep(configuration.rate)
        wakeAll()
    }

    /// Sends nothing more that is not yet written; connections wait for their answers and close.
    package func drain() {
        state.isDraining = true
        wakeAll()
    }

    /// Sends nothing more that is not yet written, or goes on with it; connections wait for their answers and close.
    package func setPaused(_ isPaused: Bool) {
        state.isPaused = isPaused
        wakeAll()
    }

    /// How many notifications have been written and have no outcome, or one that has not been told yet.
    package var pendingInDoubt: Int {
        sessions.values.reduce(state.untoldCount) { $0 + $1.doubtCount }
            + draining.values.reduce(0) { $0 + $1.doubtCount }
    }

    /// How many connections are up; none are left when `drain` has done its work.
    package var connectionCount: Int { sessions.count + draining.count }

    private func countConnections() {
        state.meter.note(connectionCount: connectionCount)
    }

    /// Serves until the task is cancelled; then connections are cut and what was on them stays without an outcome.
    package func run() async {
        await runSlots()
        // What a slot left behind after that.
        await withDiscardingTaskGroup { serveUnattended(in: &$0) }
        state.finish()
    }

    /// Serves connections that take no more, and lets go what has paused long enough.
    func attend(in group: inout DiscardingTaskGroup) -> ContinuousClock.Instant? {
        serveUnattended(in: &group)
        releasePaused()
        return queue.nextRelease?.instant
    }

    /// Gives each connection that takes no more a task that serves it to its end.
    private func serveUnattended(in group: inout DiscardingTaskGroup) {
        for number in unattended { group.addTask { await self.serveToTheEnd(number) } }
        unattended = []
    }

    /// Leaves a connection that takes no more requests to a task of its own, so that its slot can open another at once.
    func retire(_ session: HTTP2Session) {
        session.retire()
        draining[nextDrain] = session
        unattended.append(nextDrain)
        nextDrain += 1
        state.wakeSleepers()
    }

    /// Lets everybody look at the state anew.
    func wakeAll() {
        state.wakeSleepers()
        for session in sessions.values { session.wake() }
        for session in draining.values { session.wake() }
    }

    func wakeSubmitters() {
        state.wakeSubmitters(unless: isFull)
    }

    private func isFull(_ lane: Lane) -> Bool { queue.newCount(of: lane) >= Self.queueLimit }

    private func releasePaused() {
        let before = queue.count
        queue.release(at: .now)
        if queue.count > before { wakeAll() }
    }
}
