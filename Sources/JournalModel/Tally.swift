package import PushModel

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

    /// The numbers from which a tally can be made again: accepted, refused, invalid, expired, unsent, unknown.
    package var numbers: [Int] { [accepted, refused, invalid, expired, unsent, unknown] }

    /// How many numbers a tally has.
    package static let numberCount = 6

    /// Creates a tally from its `numbers`, of which there must be `numberCount`.
    package init(numbers: [Int]) {
        (accepted, refused, invalid) = (numbers[0], numbers[1], numbers[2])
        (expired, unsent, unknown) = (numbers[3], numbers[4], numbers[5])
    }

    /// The notifications with an outcome of this kind.
    package subscript(kind: Outcome.Kind) -> Int {
        switch kind {
        case .accepted: accepted
        case .rejected: rejected
        case .expired: expired
        case .unsent: unsent
        case .unknown: unknown
        }
    }

    /// All rejected notifications.
    package var rejected: Int { refused + invalid }

    /// Whether any notification was accepted, or may have been.
    package var isAnyoneReached: Bool { accepted + unknown > 0 }

    /// All notifications with an outcome.
    package var total: Int { accepted + rejected + expired + unsent + unknown }

    /// The notifications that were not accepted.
    package var missedCount: Int { total - accepted }

    /// Adds `count` notifications with this outcome; a negative number subtracts them.
    package mutating func add(_ outcome: Outcome, count: Int) {
        if case .rejected(let refusal) = outcome, refusal.status == nil, refusal.verdict != .gone {
            invalid += count
        } else {
            add(count, to: outcome.kind)
        }
    }

    /// Adds `count` notifications with an outcome of this kind. Who rejected them is not known: it counts as the gateway.
    package mutating func add(_ count: Int, to kind: Outcome.Kind) {
        switch kind {
        case .accepted: accepted += count
        case .rejected: refused += count
        case .expired: expired += count
        case .unsent: unsent += count
        case .unknown: unknown += count
        }
    }
}
