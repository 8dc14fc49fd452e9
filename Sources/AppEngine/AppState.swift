import Gateways
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolStore

/// Whether an app may send: its state at the gateway, and whether an operator has paused it.
final class AppState {
    private let context: AppContext
    private let gateway: any PushGateway
    /// The app's state at the gateway.
    private(set) var acceptance = Acceptance()
    /// Whether the gateway has not answered for a while.
    private var outage = Outage()
    /// When an operator paused the app; `nil` if it is not paused.
    private(set) var pausedAt: WallTime?
    /// Whether a stopped app may take one job to test the gateway, and whether it has taken one since it stopped.
    private(set) var (mayAsk, hasTaken) = (false, false)

    /// Starts with the pause that an operator has left in the spool, if any.
    ///
    /// - Throws: `SystemError`: it cannot be determined whether the app is paused.
    init(_ context: AppContext, _ gateway: any PushGateway) throws(SystemError) {
        (self.context, self.gateway) = (context, gateway)
        pausedAt = try context.spool.pausedAt()
    }

    /// Applies an event of the gateway.
    ///
    /// - Returns: Whether the status has changed.
    func note(_ event: GatewayEvent) -> Bool {
        outage.note(event, at: .now)
        let (phase, trouble) = (acceptance.phase, acceptance.trouble)
        acceptance.note(event, at: .now)
        if case .stopped = event { hasTaken = false }
        return acceptance.phase != phase || acceptance.trouble != trouble
    }

    /// Records how many notifications have no answer.
    func noteInFlight() { acceptance.note(inFlight: gateway.events.meter.inFlightCount, at: .now) }

    /// Whether the gateway has not answered for a while.
    var isOut: Bool { outage.isLong(at: .now) }

    /// Whether the gateway accepts notifications, as far as is known.
    var isOpen: Bool { acceptance.phase == .open }

    /// Whether the gateway accepts no notification of the app until a pause ends.
    var isStopped: Bool { if case .stopped = acceptance.phase { true } else { false } }

    /// Whether the app may take jobs: the gateway accepts them, or is to be tested with one, and the app is not paused.
    func mayTake(isClaiming: Bool) -> Bool {
        pausedAt == nil && (isOpen || mayAsk && !isClaiming)
    }

    // MARK: Testing the gateway after a stop

    /// Begins another test. Takes no job until it is known that there is nothing else to test the gateway with.
    ///
    /// - Returns: Whether notifications that back off need not be released for the test: they were, or the app only
    ///   waits for a job that was not refused; `nil` if the app is not testing.
    func beginAsking() -> Bool? {
        mayAsk = false
        return switch acceptance.phase {
        case .open, .stopped(asksOthers: false): nil
        case .stopped(asksOthers: true): true
        case .asking(let hasFreed): hasFreed
        }
    }

    /// Records that notifications that back off were released for the test.
    func noteFreed() { acceptance.phase = .asking(hasFreed: true) }

    /// Allows one job to be taken for the test.
    func allowOne() { mayAsk = true }

    /// Records that a job was taken.
    func noteTaken() { (mayAsk, hasTaken) = (false, true) }

    // MARK: Operators' pauses

    /// Whether the app is paused and no notification is on a connection.
    var isPausedOut: Bool { pausedAt != nil && gateway.events.meter.inFlightCount == 0 }

    /// Detects a pause that was begun or ended without the daemon.
    ///
    /// - Returns: Whether there was one.
    func lookAtPause() async -> Bool {
        do throws(SystemError) {
            return await notePause(since: try context.spool.pausedAt())
        } catch {
            context.logger.error("cannot tell whether the app is paused", metadata: [LogKey.error: "\(error)"])
            return false
        }
    }

    /// Records since when the app is paused, and informs the gateway.
    ///
    /// - Returns: Whether the app was paused or resumed by this.
    func notePause(since time: WallTime?) async -> Bool {
        let (wasPaused, isPaused) = (pausedAt != nil, time != nil)
        guard wasPaused != isPaused else { return false }
        pausedAt = time
        context.logger.notice(isPaused ? "app paused" : "app resumed after a pause")
        await gateway.setPaused(isPaused)
        return true
    }
}
