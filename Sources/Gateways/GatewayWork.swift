import LinuxIO
import Logging
import PushModel
import ServiceProcess

/// What a gateway shares with its wire: the notifications to send, the connections that take them, and the app's state.
///
/// Owned by its gateway, on the reactor.
final class GatewayWork<W: Wire> {
    let state: GatewayState
    let logger: Logger
    var configuration: W.Configuration
    var queue: W.Queue
    /// The connections that take work.
    var sessions: [Slot: W.Session] = [:] { didSet { countConnections() } }
    /// The connections that take no more work and wait for their last answers.
    var draining = DrainingSessions<W.Session>() { didSet { countConnections() } }

    init(_ configuration: W.Configuration, _ state: GatewayState, _ logger: Logger) {
        self.configuration = configuration
        queue = W.makeQueue(configuration, announces: state.owner.recordKeeping != .none)
        (self.state, self.logger) = (state, logger)
    }

    private func countConnections() { state.meter.note(connectionCount: sessions.count + draining.all.count) }

    /// The number of notifications on connections that have no answer.
    var unansweredCount: Int { sessions.values.reduce(draining.doubtCount) { $0 + $1.doubtCount } }

    /// Wakes all sleepers and connections to check the state again.
    func wakeAll() {
        state.endStopIfDue(hasWork: queue.hasWork)
        state.wakeSleepers()
        for session in sessions.values { session.wake() }
        for session in draining.all { session.wake() }
    }

    /// Wakes the submitters whose lane has room.
    func wakeSubmitters() { state.wakeSubmitters(unless: isFull) }

    /// Whether a lane has so many notifications that no more are taken.
    func isFull(_ lane: Lane) -> Bool { queue.newCount(of: lane) >= GatewayConfiguration.queueLimit }

    /// The number of notifications a session gets now: limited by its window, which it shares with connections that it
    /// replaced, by the unrecorded outcomes and the rate, and to one at a time while the app is on trial.
    func allowance(_ session: W.Session) -> Int {
        guard state.isOnTrial else {
            let inherited = draining.all.reduce(0) { $1.slot == session.slot ? $0 + $1.doubtCount : $0 }
            let room = min(session.room(besides: inherited), state.pacing.limit - session.doubtCount - inherited)
            return max(0, min(room - state.roomTaken, state.rateRoom))
        }
        return sessions.values.allSatisfy { $0.doubtCount == 0 } ? min(1, session.room(besides: 0), state.rateRoom) : 0
    }
}
