import APNSGateway
import APNSModel
import LinuxIO
import Logging
import SpoolModel
import SpoolStore

/// Whether an app may send: what its gateway makes of it, and whether an operator has paused it.
final class AppState {
    private let context: AppContext
    private let gateway: any PushGateway
    /// What the gateway makes of the app at present.
    private(set) var standing = Standing()
    /// Whether the gateway has not answered for a while.
    private var outage = Outage()
    /// Since when an operator has the app paused; `nil` if none has.
    private(set) var pausedAt: WallTime?
    /// Whether a stopped app may take one job to ask with.
    private(set) var mayAsk = false

    /// Begins with what an operator has left for it.
    ///
    /// - Throws: `SystemError`: it cannot be told whether the app is paused.
    init(_ context: AppContext, _ gateway: any PushGateway) throws(SystemError) {
        (self.context, self.gateway) = (context, gateway)
        pausedAt = try context.spool.pausedAt()
    }

    /// Takes an event of the gateway, with how long a stop lasts.
    ///
    /// - Returns: Whether the status is to say something else.
    func note(_ event: GatewayEvent, stopPause: Duration) -> Bool {
        outage.note(event, at: .now)
        let (phase, trouble) = (standing.phase, standing.trouble)
        standing.note(event, at: .now, stopPause: stopPause)
        return standing.phase != phase || standing.trouble != trouble
    }

    /// Takes how many notifications have no answer.
    func noteInFlight() { standing.note(inFlight: gateway.events.meter.inFlightCount, at: .now) }

    /// Whether the gateway has not answered for a while.
    var isOut: Bool { outage.isLong(at: .now) }

    /// Whether the gateway takes what it gets, as far as is known.
    var isOpen: Bool { standing.phase == .open }

    /// Whether the app takes jobs: its gateway does, or is to be asked with one, and no operator has it paused.
    func mayTake(isClaiming: Bool) -> Bool {
        pausedAt == nil && (isOpen || mayAsk && !isClaiming)
    }

    // MARK: A stopped app that asks

    /// Begins to ask anew: nothing is taken until it is known that there is nothing else to ask with.
    ///
    /// - Returns: Whether the app asks, and whether pausing notifications were freed for that; `nil` if it does not ask.
    func beginAsking() -> Bool? {
        mayAsk = false
        guard case .asking(let hasFreed) = standing.phase else { return nil }
        return hasFreed
    }

    /// Notes that pausing notifications are freed to ask with.
    func noteFreed() { standing.phase = .asking(hasFreed: true) }

    /// Lets one job be taken to ask with.
    func allowOne() { mayAsk = true }

    /// Notes that a job was taken.
    func noteTaken() { mayAsk = false }

    // MARK: Operators' pauses

    /// Whether it is paused, and nothing is on a connection any more.
    var isPausedOut: Bool { pausedAt != nil && gateway.events.meter.inFlightCount == 0 }

    /// Takes note of a pause that was begun or ended beside the daemon.
    ///
    /// - Returns: Whether one was.
    func lookAtPause() async -> Bool {
        do throws(SystemError) {
            return await notePause(since: try context.spool.pausedAt())
        } catch {
            context.logger.error("cannot tell whether the app is paused", metadata: [LogKey.error: "\(error)"])
            return false
        }
    }

    /// Notes since when the app is paused, and tells the gateway.
    ///
    /// - Returns: Whether that is another answer than before.
    func notePause(since time: WallTime?) async -> Bool {
        let (wasPaused, isPaused) = (pausedAt != nil, time != nil)
        guard wasPaused != isPaused else { return false }
        pausedAt = time
        context.logger.notice(isPaused ? "app paused" : "app goes on after a pause")
        await gateway.setPaused(isPaused)
        return true
    }
}
