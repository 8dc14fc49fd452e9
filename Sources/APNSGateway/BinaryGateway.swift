import APNSBinary
package import APNSModel
package import LinuxIO
package import Logging

/// Delivers one app's notifications over the binary protocol: takes batches, reports outcomes.
///
/// Keeps up to `connectionLimit` connections, all fed from one queue, and opens them when there is work. Runs on the
/// reactor's thread, as its connections do. Nothing is sent unless `run` is running.
package actor BinaryGateway {
    /// The number of notifications of a lane that may wait in memory before `submit` suspends its caller.
    package static let queueLimit = 32_768

    /// The events, in order. There are never more settlements than submitted notifications, so the stream needs no
    /// other bound.
    package nonisolated let events = GatewayEvents()

    let reactor: Reactor
    let logger: Logger
    let state: GatewayState
    var configuration: Configuration
    var queue: SendQueue
    /// The open connections, by slot.
    var sessions: [Int: BinarySession] = [:] {
        didSet { state.meter.note(connectionCount: sessions.count) }
    }

    /// Creates a gateway. It does not connect until there is work and `run` is called.
    package init(
        _ configuration: Configuration, recordKeeping: RecordKeeping = .none, on reactor: Reactor, logger: Logger
    ) {
        self.configuration = configuration
        self.queue = SendQueue(announces: recordKeeping != .none)
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
        for batch in batches { queue.append(batch) }
        wakeAll()
    }

    /// Notes that `count` settled notifications are durably recorded.
    package func recorded(_ count: Int) {
        if state.noteRecorded(count) { wakeAll() }
    }

    /// Releases announced batches for sending.
    package func announced(_ batches: [Batch]) {
        queue.announced(batches)
        wakeAll()
    }

    /// Removes and returns the waiting batches of a job. Notifications on a connection still get their outcome.
    package func remove(_ job: JobID) -> [Batch] {
        let removed = queue.remove(job)
        state.forget(job)
        state.collect(queue.takePausedCounts())
        state.tellOutcomes()
        wakeSubmitters()
        return removed
    }

    /// Removes and returns all `count` submitted notifications of a job if none was ever written to a connection.
    /// Otherwise changes nothing.
    package func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        let removed = queue.removeUnwritten(job, count: count)
        wakeSubmitters()
        return removed
    }

    /// Uses another configuration from the next connection on; connections of the old one settle and close.
    ///
    /// A stopped app starts again.
    package func reconfigure(_ configuration: Configuration) {
        self.configuration = configuration
        queue.startOver()
        state.reconfigure(configuration.terms)
        state.keep(configuration.rate)
        wakeAll()
    }

    /// Stops sending unwritten notifications. Connections settle those in doubt and close.
    package func drain() {
        state.isDraining = true
        wakeAll()
    }

    /// Divides the app's rate among this many senders, of which this gateway is one.
    package func shareRate(among count: Int) { state.shareRate(among: count) }

    /// Pauses or resumes the sending of unwritten notifications. On a pause, connections settle those in doubt and close.
    package func setPaused(_ isPaused: Bool) {
        state.isPaused = isPaused
        wakeAll()
    }

    /// The number of notifications that were written and have no outcome.
    package var pendingInDoubt: Int { unansweredCount }

    var unansweredCount: Int { sessions.values.reduce(0) { $0 + $1.doubtCount } }

    /// The number of open connections; 0 once `drain` has completed.
    package var connectionCount: Int { sessions.count }

    /// Serves until the task is cancelled. Connections are cut then, and notifications on them stay without an outcome.
    package func run() async {
        await runSlots()
        state.finish()
    }

    /// Wakes all sleepers and connections to check the state again.
    func wakeAll() {
        state.endStopIfDue(hasWork: hasWork)
        state.wakeSleepers()
        for session in sessions.values { session.wake() }
    }

    func wakeSubmitters() {
        state.wakeSubmitters(unless: isFull)
    }

    private func isFull(_ lane: Lane) -> Bool { queue.count(of: lane) >= Self.queueLimit }
}
