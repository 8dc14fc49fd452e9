/// The recommended action of the app's owner for a notification that was not accepted.
package enum Verdict: String, CaseIterable, Hashable, Sendable {
    /// Stop using the token, unless it was registered again after `gone_since`.
    case gone
    /// The token is malformed or belongs to the other environment. Do not delete it for this reason alone.
    case invalid
    /// Correct the message.
    case message
    /// Correct the app's configuration.
    case config
    /// The daemon stopped retrying.
    case later
}

/// The reason why a notification was refused, by the gateway or before sending.
package struct Refusal: Hashable, Sendable {
    /// The gateway's status, of the binary protocol or of HTTP, or `nil` if the daemon refused the notification itself.
    package let status: Int?
    /// The gateway's name of the reason, or the daemon's own.
    package let reason: String
    /// The recommended action.
    package let verdict: Verdict
    /// The time since which the token has been invalid, if the gateway reports it. A token registered later is still valid.
    package let goneSince: WallTime?
    /// The gateway's text about the message, at most 300 bytes; `nil` if it has none.
    package var detail: String?

    /// Creates a refusal without a text.
    package init(status: Int?, reason: String, verdict: Verdict, goneSince: WallTime? = nil) {
        self.status = status
        self.reason = reason
        self.verdict = verdict
        self.goneSince = goneSince
    }
}

/// The outcome of a notification. Every outcome is final, except that a correction may follow an acceptance inferred
/// from silence.
package enum Outcome: Hashable, Sendable {
    /// The gateway accepted it.
    case accepted
    /// The gateway, or a check before sending, refused it.
    case rejected(Refusal)
    /// It expired before it was sent.
    case expired
    /// The daemon stopped retrying. As far as it knows, the notification was not accepted.
    case unsent(Refusal)
    /// Its connection ended without an answer after it was written, and it must not be sent twice.
    case unknown

    /// An outcome without its reason. The raw value is its word in files, metrics and reports, which list them in this order.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// The gateway accepted the notification.
        case accepted
        /// The gateway, or a check before sending, refused it.
        case rejected
        /// It expired before it was sent.
        case expired
        /// The daemon stopped retrying.
        case unsent
        /// It may have been accepted, and must not be sent twice.
        case unknown
    }

    /// The outcome without its reason.
    package var kind: Kind {
        switch self {
        case .accepted: .accepted
        case .rejected: .rejected
        case .expired: .expired
        case .unsent: .unsent
        case .unknown: .unknown
        }
    }

    /// The reason for the outcome, if there is one.
    package var refusal: Refusal? {
        switch self {
        case .rejected(let refusal), .unsent(let refusal): refusal
        case .accepted, .expired, .unknown: nil
        }
    }
}

/// The outcome of a range of a batch's notifications.
package struct Settlement: Sendable {
    /// The notifications: a slice of their batch, so that their addresses can be reported to the user.
    package private(set) var batch: Batch
    /// The outcome of all of them.
    package let outcome: Outcome
    /// Whether this corrects an earlier settlement that wrongly reported the notifications as accepted.
    package let isCorrection: Bool
    /// The gateway's `apns-unique-id` of notifications, by their index. Only Apple's sandbox sends it.
    package private(set) var uniqueIDs: [Int: String] = [:]

    /// Creates a settlement.
    package init(_ batch: Batch, _ outcome: Outcome, isCorrection: Bool = false) {
        self.batch = batch
        self.outcome = outcome
        self.isCorrection = isCorrection
    }

    /// Adds the gateway's ids of notifications of the batch's job; those of others are ignored.
    package mutating func add(uniqueIDs: [JobID: [Int: String]]) {
        guard let ids = uniqueIDs[batch.job] else { return }
        for index in batch.indices { self.uniqueIDs[index] = ids[index] ?? self.uniqueIDs[index] }
    }

    /// Extends an acceptance by that of the next notifications of the same batch.
    ///
    /// - Returns: Whether it did. If not, nothing changed.
    package mutating func merge(_ next: Settlement) -> Bool {
        guard outcome == .accepted, next.outcome == .accepted, batch.merge(next.batch) else { return false }
        if !next.uniqueIDs.isEmpty { uniqueIDs.merge(next.uniqueIDs) { $1 } }
        return true
    }
}
