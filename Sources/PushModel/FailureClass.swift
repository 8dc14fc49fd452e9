/// The class of a refusal, which determines the daemon's reaction.
package enum FailureClass: String, CaseIterable, Hashable, Sendable {
    /// The app was removed from the device: stop using the token.
    case tokenGone
    /// The token can never work with this gateway.
    case token
    /// The gateway can never accept this message unchanged.
    case message
    /// Every message of this app would fail in the same way: stop the app.
    case app
    /// The notification was not processed: resend it immediately on a new connection.
    case retryNow
    /// Resend it after a pause.
    case retryLater
    /// The gateway failed: resend it after a long pause.
    case serverError

    /// Whether the same notification may be accepted later, so that nothing is decided about it.
    package var mayPass: Bool { self == .retryLater || self == .serverError }

    /// The verdict for the app's owner.
    package var verdict: Verdict {
        switch self {
        case .tokenGone: .gone
        case .token: .invalid
        case .message, .serverError: .message
        case .app: .config
        case .retryNow, .retryLater: .later
        }
    }
}
