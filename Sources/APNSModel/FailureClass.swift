/// What a refusal is about, and so what has to happen to it.
package enum FailureClass: String, CaseIterable, Hashable, Sendable {
    /// The app is gone from the device: stop using the token.
    case tokenGone
    /// This token can never work here.
    case token
    /// This message can never be accepted as it is.
    case message
    /// Every message of this app would fail the same way: the app stops.
    case app
    /// It was not processed: send it again at once, on a new connection.
    case retryNow
    /// Send it again after a pause.
    case retryLater
    /// The gateway failed: send it again after a long pause.
    case serverError

    /// What to tell the app's owner.
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
