import Gateways
import PushModel

/// Whether an app's gateway has not answered for a while, so that none of its jobs can be sent.
struct Outage {
    /// How long a gateway must not have answered.
    private static let patience = Duration.seconds(5)

    /// When a connection first failed since the last answer.
    private var begin: Moment?

    /// Applies an event of the gateway.
    mutating func note(_ event: GatewayEvent, at now: Moment) {
        switch event {
        case .settled: begin = nil
        case .disconnected(let report) where !report.isRoutine: begin = begin ?? now
        case .stopped: begin = begin ?? now
        case .disconnected, .connected, .troubled, .refusedJob, .reopened, .withdrawn, .announcing, .trying, .resumed,
            .suspectEnvironment, .paused:
            break
        }
    }

    /// Whether this is an outage, and not merely a lost connection.
    func isLong(at now: Moment) -> Bool {
        begin.map { $0 + Self.patience <= now } ?? false
    }
}
