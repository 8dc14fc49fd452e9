import APNSHTTP2
package import APNSModel
package import LinuxIO
package import Logging
import ServiceProcess

/// Delivers one app's notifications over HTTP/2: takes batches, reports outcomes.
///
/// Keeps up to `connectionLimit` connections, all fed from one queue, and opens them when there is work. A connection
/// that the gateway wants to close drains while its successor already sends; the two share one window. Runs on the
/// reactor's thread, as its connections do. Nothing is sent unless `run` is running.
package actor HTTP2Gateway: PushGateway {
    /// The number of notifications of a lane that may wait in memory before `submit` suspends its caller. Notifications
    /// that back off, or have backed off, do not count: `GatewayEvent.paused` lets the owner hold back their jobs.
    package static let queueLimit = 32_768

    /// The events, in order. There are never more settlements than submitted notifications, so the stream needs no
    /// other bound.
    package nonisolated let events = GatewayEvents()

    let reactor: Reactor
    let logger: Logger
    let state: GatewayState
    var configuration: Configuration
    var queues: RoutedQueues
    /// The connections that take work, by slot.
    var sessions: [Int: HTTP2Session] = [:] { didSet { countConnections() } }
    /// The connections that take no more work and wait for answers.
    var draining = DrainingSessions() { didSet { countConnections() } }
    /// Tracks answers that show trouble at the gateway, or at a server in its place.
    var trouble = TroubleWatch()
    /// The provider token that the gateway called expired, until there is a new one.
    var expiredToken: ProviderToken?
    /// The minimum pause before the next connection.
    var restAhead = Duration.zero

    /// Creates a gateway. It does not connect until there is work and `run` is called.
    package init(
        _ configuration: Configuration, recordKeeping: RecordKeeping = .none, on reactor: Reactor, logger: Logger
    ) {
        self.configuration = configuration
        queues = RoutedQueues(pauses: configuration.pauses, announces: recordKeeping != .none)
        self.state = GatewayState(events, configuration.terms, recordKeeping: recordKeeping, on: reactor)
        state.owner.mayAct = configuration.mayAct
        self.reactor = reactor
        self.logger = logger
        state.keep(configuration.rate)
    }

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Submits batches of one lane, each after all other work of its job. Waits while the lane is full.
    ///
    /// - Throws: `CancellationError` when the task is cancelled while it waits; no batch was taken then.
    package func submit(_ batches: [Batch]) async throws {
        guard let lane = batches.first?.lane else { return }
        try await state.waitForRoom(in: lane, while: isFull)
        for batch in batches { queues.append(batch) }
        wakeAll()
    }

    /// Notes that `count` settled notifications are durably recorded.
    package func recorded(_ count: Int) {
        if state.noteRecorded(count) { wakeAll() }
    }

    /// Releases announced batches for sending.
    package func announced(_ batches: [Batch]) {
        queues.announced(batches)
        wakeAll()
    }

    /// Removes and returns a job's batches that wait or back off.
    package func remove(_ job: JobID) -> [Batch] {
        let removed = queues.remove(job)
        state.forget(job)
        noteRemoval()
        return removed
    }

    /// Removes and returns all `count` submitted notifications of a job if none was ever written to a connection.
    package func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        defer { noteRemoval() }
        return queues.removeUnwritten(job, count: count)
    }

    private func noteRemoval() {
        state.collect(queues.takePausedCounts())
        state.tellOutcomes()
        wakeSubmitters()
    }

    /// Uses another configuration from the next connection on; connections of the old one get their answers and close.
    package func reconfigure(_ configuration: Configuration) {
        self.configuration = configuration
        queues.reconfigure(configuration.pauses)
        trouble = TroubleWatch()
        expiredToken = nil
        restAhead = .zero
        state.reconfigure(configuration.terms)
        state.keep(configuration.rate)
        wakeAll()
    }

    /// Stops sending unwritten notifications; connections wait for their answers and close.
    package func drain() {
        state.isDraining = true
        wakeAll()
    }

    /// Divides the app's rate among this many senders, of which this gateway is one.
    package func shareRate(among count: Int) { state.shareRate(among: count) }

    /// Pauses or resumes sending. On a pause, connections wait for their answers and close.
    package func setPaused(_ isPaused: Bool) {
        state.isPaused = isPaused
        wakeAll()
    }

    /// The number of notifications that were written and have no outcome, or an unreported one.
    package var pendingInDoubt: Int { state.untoldCount + unansweredCount }

    var unansweredCount: Int { sessions.values.reduce(draining.doubtCount) { $0 + $1.doubtCount } }

    /// The number of open connections; 0 once `drain` has completed.
    package var connectionCount: Int { sessions.count + draining.all.count }

    private func countConnections() { state.meter.note(connectionCount: connectionCount) }

    /// Serves until the task is cancelled. Connections are cut then, and notifications on them stay without an outcome.
    package func run() async {
        await runSlots()
        // Serves the connections that a slot retired after the last round.
        await withDiscardingTaskGroup { serveUnattended(in: &$0) }
        state.finish()
    }

    /// Starts tasks for draining connections, and releases notifications whose back-off has ended.
    func attend(in group: inout DiscardingTaskGroup) -> ContinuousClock.Instant? {
        serveUnattended(in: &group)
        if queues.release(at: .now) { wakeAll() }
        return [queues.nextRelease?.instant, attendHolds()].compactMap(\.self).min()
    }

    /// Starts a task for each draining connection that serves it to its end.
    private func serveUnattended(in group: inout DiscardingTaskGroup) {
        for number in draining.takeUnattended() { group.addTask { await self.serveToTheEnd(number) } }
    }

    /// Wakes all sleepers and connections to check the state again.
    func wakeAll() {
        state.endStopIfDue(hasWork: hasWork)
        state.wakeSleepers()
        for session in sessions.values { session.wake() }
        for session in draining.all { session.wake() }
    }

    func wakeSubmitters() { state.wakeSubmitters(unless: isFull) }

    private func isFull(_ lane: Lane) -> Bool { queues.newCount(of: lane) >= Self.queueLimit }
}
