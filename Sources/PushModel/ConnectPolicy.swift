/// Decides when to reconnect after a connection ended, depending on the cause, and when to stop the app.
///
/// Only an acceptance resets the pauses, not a connection. Otherwise the daemon would reconnect every second, forever,
/// to a gateway that completes the handshake and then closes.
package struct ConnectPolicy: Sendable {
    /// The reason why a connection is missing.
    package enum Cause: Hashable, Sendable {
        /// The gateway refused one notification, or closed for its own reasons: it is healthy.
        case answered
        /// The gateway failed to process a notification, whose job waits; others may be accepted.
        case serverError
        /// The connection ended without an answer.
        case lost
        /// The connection could not be established.
        case unreachable
        /// The peer closed right after the handshake, or refused the certificate.
        case refused
    }

    /// The reaction to the end of a connection.
    package enum Step: Hashable, Sendable {
        /// Connect after this pause.
        case connect(after: Duration)
        /// Stop the app, because its credentials are refused repeatedly.
        case stop
    }

    /// The number of consecutive refusals that stops an app.
    package static let refusalLimit = 10

    /// After this many consecutive failures to process a notification, the pauses begin; after as many more, they double.
    /// Each may be the fault of one job, behind which others wait.
    private static let serverErrorStep = 10

    private let backOff: BackOff
    private var failures = 0
    private var refusals = 0
    private var serverErrors = 0

    /// Creates the policy of an app that has not connected yet.
    package init(backOff: BackOff = .ofConnects()) {
        self.backOff = backOff
    }

    /// Records that the gateway accepted a notification.
    package mutating func accepted() {
        (failures, refusals, serverErrors) = (0, 0, 0)
    }

    /// Records the end of a connection and decides what to do next.
    ///
    /// - Parameters:
    ///   - cause: The reason for the end.
    ///   - random: The source of the jitter.
    /// - Returns: The next step.
    package mutating func ended(_ cause: Cause, using random: inout some RandomNumberGenerator) -> Step {
        switch cause {
        case .answered:
            return .connect(after: .zero)
        case .lost where failures == 0:
            failures = 1
            return .connect(after: .zero)
        case .serverError:
            serverErrors += 1
            let step = serverErrors / Self.serverErrorStep
            return .connect(after: step == 0 ? .zero : backOff.pause(after: step, using: &random))
        case .lost, .unreachable:
            failures += 1
        case .refused:
            failures += 1
            refusals += 1
            if refusals >= Self.refusalLimit { return .stop }
        }
        return .connect(after: backOff.pause(after: failures, using: &random))
    }
}
