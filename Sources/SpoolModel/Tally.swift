package import APNSModel

/// How many notifications of a job ended how.
package struct Tally: Hashable, Sendable {
    /// No job has more notifications, and sums of many such counts are still numbers: no count of a file is greater.
    static let countLimit = 1 << 40

    /// Accepted by the gateway.
    package private(set) var accepted = 0
    /// Rejected by the gateway, or because it had reported the token gone before.
    package private(set) var refused = 0
    /// Rejected by our own checks, before anything was sent.
    package private(set) var invalid = 0
    /// Too late.
    package private(set) var expired = 0
    /// Given up.
    package private(set) var unsent = 0
    /// In doubt, and not to be sent twice.
    package private(set) var unknown = 0

    /// Creates a tally of nothing.
    package init() {}

    /// All rejected ones, whoever rejected them.
    package var rejected: Int { refused + invalid }

    /// Whether somebody got it, or may have.
    package var isAnyoneReached: Bool { accepted + unknown > 0 }

    /// All that have an outcome.
    package var total: Int { accepted + rejected + expired + unsent + unknown }

    /// Counts `count` more notifications with this outcome; a negative number takes them back.
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
