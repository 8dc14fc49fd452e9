package import APNSModel

/// A job's notifications, counted by outcome.
package struct Tally: Hashable, Sendable {
    /// The largest count accepted from a file. No job has more notifications, and sums of many such counts do not overflow.
    package static let countLimit = 1 << 40

    /// Accepted by the gateway.
    package private(set) var accepted = 0
    /// Rejected by the gateway, or suppressed because it had reported the token gone.
    package private(set) var refused = 0
    /// Rejected by the daemon's own checks, before sending.
    package private(set) var invalid = 0
    /// Expired.
    package private(set) var expired = 0
    /// Given up.
    package private(set) var unsent = 0
    /// Of unknown outcome, and not to be sent twice.
    package private(set) var unknown = 0

    /// Creates a tally of zeros.
    package init() {}

    /// All rejected notifications.
    package var rejected: Int { refused + invalid }

    /// Whether any notification was accepted, or may have been.
    package var isAnyoneReached: Bool { accepted + unknown > 0 }

    /// All notifications with an outcome.
    package var total: Int { accepted + rejected + expired + unsent + unknown }

    /// Adds `count` notifications with this outcome; a negative number subtracts them.
    package mutating func add(_ outcome: Outcome, count: Int) {
        switch outcome {
        case .accepted: accepted += count
        case .rejected(let refusal):
            if refusal.status == nil, refusal.verdict != .gone { invalid += count } else { refused += count }
        case .expired: expired += count
        case .unsent: unsent += count
        case .unknown: unknown += count
        }
    }
}
