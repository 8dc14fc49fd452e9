import APNSGateway
import APNSModel

/// Whether an app's gateway has not answered for a while: nothing of its jobs can be sent.
struct Outage {
    /// How long nothing must have come of it.
    private static let patience = Duration.seconds(5)

    /// When the first connection failed since the last answer.
    private var begin: Moment?

    /// Takes an event of the gateway.
    mutating func note(_ event: GatewayEvent, at now: Moment) {
        switch event {
        case .settled: begin = nil
        case .disconnected(let report) where !report.isRoutine: begin = begin ?? now
        case .stopped: begin = begin ?? now
        case .disconnected, .connected, .troubled, .reopened, .withdrawn, .announcing, .trying, .resumed,
            .suspectEnvironment, .paused:
            break
        }
    }

    /// Whether it is one, and not only a connection that was lost.
    func isLong(at now: Moment) -> Bool {
        begin.map { $0 + Self.patience <= now } ?? false
    }
}
