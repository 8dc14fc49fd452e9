/// When to connect again after a connection ended, by the cause of its end, and when to stop trying.
///
/// What resets the pauses is an acceptance, not a connection: a gateway that takes the handshake and then closes would
/// otherwise be called every second for ever.
package struct ConnectPolicy: Sendable {
    /// Why there is no connection any more.
    package enum Cause: Hashable, Sendable {
        /// The gateway refused one notification, or closed for its own reasons: it is well.
        case answered
        /// The gateway failed on a notification.
        case serverError
        /// It ended without an answer.
        case lost
        /// No connection came about.
        case unreachable
        /// The peer closed right after the handshake, or refused our certificate.
        case refused
    }

    /// What to do about it.
    package enum Step: Hashable, Sendable {
        /// Connect after this pause.
        case connect(after: Duration)
        /// Stop the app: the credentials are refused again and again.
        case stop
    }

    /// How many refusals in a row stop an app.
    package static let refusalLimit = 10

    private let backOff: BackOff
    private var failures = 0
    private var refusals = 0

    /// Creates the policy of an app that has not connected yet.
    package init(backOff: BackOff = BackOff(first: .seconds(1), ceiling: .seconds(60))) {
        self.backOff = backOff
    }

    /// Notes that the gateway accepted something.
    package mutating func accepted() {
        (failures, refusals) = (0, 0)
    }

    /// Says what to do after a connection ended.
    ///
    /// - Parameters:
    ///   - cause: Why it ended.
    ///   - random: Where the jitter comes from.
    /// - Returns: The next step.
    package mutating func ended(_ cause: Cause, using random: inout some RandomNumberGenerator) -> Step {
        switch cause {
        case .answered:
            return .connect(after: .zero)
        case .lost where failures == 0:
            failures = 1
            return .connect(after: .zero)
        case .lost, .serverError, .unreachable:
            failures += 1
        case .refused:
            failures += 1
            refusals += 1
            if refusals >= Self.refusalLimit { return .stop }
        }
        return .connect(after: backOff.pause(after: failures, using: &random))
    }
}
