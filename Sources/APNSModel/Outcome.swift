/// What the app's owner should do about a notification that was not accepted.
package enum Verdict: String, CaseIterable, Hashable, Sendable {
    /// Stop using the token, unless it was registered again after `gone_since`.
    case gone
    /// The token is malformed or of the other environment; do not delete it on this alone.
    case invalid
    /// The message was at fault.
    case message
    /// The app's configuration was.
    case config
    /// Retrying was given up.
    case later
}

/// Why a notification was refused, by the gateway or before it was sent.
package struct Refusal: Hashable, Sendable {
    /// The gateway's number: a status of the binary protocol or of HTTP; `nil` when we refused it ourselves.
    package let status: Int?
    /// The gateway's name for it, or ours.
    package let reason: String
    /// What to do.
    package let verdict: Verdict
    /// Since when the token has been gone, where the gateway says so: what was registered later is not meant.
    package let goneSince: WallTime?

    /// Creates a refusal.
    package init(status: Int?, reason: String, verdict: Verdict, goneSince: WallTime? = nil) {
        self.status = status
        self.reason = reason
        self.verdict = verdict
        self.goneSince = goneSince
    }
}

/// What became of a notification. Every outcome is final, but a correction may follow an acceptance by silence.
package enum Outcome: Hashable, Sendable {
    /// The gateway took it.
    case accepted
    /// The gateway, or a check before sending, refused it.
    case rejected(Refusal)
    /// It was too late to send it.
    case expired
    /// We gave up; it was not accepted as far as anybody knows.
    case unsent(Refusal)
    /// It was written to a connection that died without an answer, and is not to be sent twice.
    case unknown

    /// The word for it in feedback lines.
    package var word: String {
        switch self {
        case .accepted: "accepted"
        case .rejected: "rejected"
        case .expired: "expired"
        case .unsent: "unsent"
        case .unknown: "unknown"
        }
    }

    /// Why, when there is a reason.
    package var refusal: Refusal? {
        switch self {
        case .rejected(let refusal), .unsent(let refusal): refusal
        case .accepted, .expired, .unknown: nil
        }
    }
}

/// The outcome of a run of a batch's notifications.
package struct Settlement: Sendable {
    /// The notifications: a slice of the batch they came in, so that tokens can be told to the user.
    package let batch: Batch
    /// What became of all of them.
    package let outcome: Outcome
    /// Whether an earlier settlement of the same notifications said that they were accepted, and was wrong.
    package let isCorrection: Bool

    /// Creates a settlement.
    package init(_ batch: Batch, _ outcome: Outcome, isCorrection: Bool = false) {
        self.batch = batch
        self.outcome = outcome
        self.isCorrection = isCorrection
    }
}
