import APNSBinary
package import APNSModel
package import LinuxIO
package import Logging

/// One app's way to a gateway of the binary protocol: batches in, outcomes out.
///
/// Keeps up to `connectionLimit` connections, all fed from one queue, and opens them when there is work. Lives on the
/// reactor's thread, as its connections do. `run` must be running for anything to move.
package actor BinaryGateway {
    /// How many notifications of a lane may wait in memory before `submit` makes its caller wait.
    package static let queueLimit = 32_768

    /// What happens, in order. Settlements never outnumber what was submitted, so the stream needs no other bound.
    package nonisolated let events = GatewayEvents()

    let reactor: Reactor
    let logger: Logger
    let state: GatewayState
    var configuration: Configuration
    var queue: SendQueue
    /// Connections that are up, by slot.
    var sessions: [Int: BinarySession] = [:] {
        didSet { state.meter.note(connectionCount: sessions.count) }
    }

    /// Creates a gateway that connects to nothing until there is work and `run` is called.
    package init(
        _ configuration: Configuration, recordKeeping: RecordKeeping = .none, on reactor: Reactor, logger: Logger
    ) {
        self.configuration = configuration
        self.queue = SendQueue(announces: recordKeeping != .none)
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
        wakeSlots()
    }

    /// Notes that so many settled notifications are recorded for good.
    package func recorded(_ count: Int) {
        if state.noteRecorded(count) { wakeSlots() }
    }

    /// Lets go what is announced.
    package func announced(_ batches: [Batch]) {
        queue.announced(batches)
        wakeSlots()
    }

    /// Takes back what waits of a job; what is on a connection still gets its outcome.
    package func remove(_ job: JobID) -> [Batch] {
        let removed = queue.remove(job)
        wakeSubmitters()
        return removed
    }

    /// Takes back all of a job that was never on a connection, if it was handed over in so many notifications; or nothing.
    package func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        let removed = queue.removeUnwritten(job, count: count)
        wakeSubmitters()
        return removed
    }

    /// Uses another configuration from the next connection on; those of the old one settle and close.
    ///
    /// A stopped app starts again.
    package func reconfigure(_ configuration: Configuration) {
        self.configuration = configuration
        state.reconfigure(configuration.pacing)
        state.keep(configuration.rate)
        wakeSlots()
    }

    /// Sends nothing more that is not yet written; connections settle what is in doubt and close.
    package func drain() {
        state.isDraining = true
        wakeSlots()
    }

    /// Sends nothing more that is not yet written, or goes on with it; connections settle what is in doubt and close.
    package func setPaused(_ isPaused: Bool) {
        state.isPaused = isPaused
        wakeSlots()
    }

    /// How many notifications have been written and have no outcome.
    package var pendingInDoubt: Int {
        sessions.values.reduce(0) { $0 + $1.doubtCount }
    }

    /// How many connections are up; none are left when `drain` has done its work.
    package var connectionCount: Int { sessions.count }

    /// Serves until the task is cancelled; then connections are cut and what was on them stays without an outcome.
    package func run() async {
        await runSlots()
        state.finish()
    }

    /// Lets every slot look at the state anew.
    func wakeSlots() {
        state.wakeSleepers()
        for session in sessions.values { session.wake() }
    }

    func wakeSubmitters() {
        state.wakeSubmitters(unless: isFull)
    }

    private func isFull(_ lane: Lane) -> Bool { queue.count(of: lane) >= Self.queueLimit }
}
