/// Collects the gateway's complaints about an app's identity since the last acceptance, and decides what to do.
package struct IdentityTrial: Sendable {
    /// The action to take.
    package enum Step: Hashable, Sendable {
        /// None: keep sending.
        case goOn
        /// Send on a new connection.
        case replace
        /// Send on a new connection, with a new provider token in place of this one, if one may be signed.
        case renew(ProviderToken)
        /// Stop sending until the configuration changes or the stop's pause ends.
        case stop(Reply)
    }

    /// The number of consecutive refusals with status 400 that stops an app. A single one may concern only its
    /// notification.
    static let refusalLimit = 3

    private var refusals = 0

    /// Creates a trial without any complaints.
    package init() {}

    /// Notes an acceptance.
    package mutating func accepted() {
        refusals = 0
    }

    /// Returns the action for a demand from a connection with this provider token.
    package mutating func step(for demand: RequestQueue.Demand, on token: ProviderToken?) -> Step {
        switch demand {
        case .replace:
            return .replace
        case .renewToken(let reply):
            return token.map { .renew($0) } ?? .stop(reply)
        case .stop(let reply):
            refusals += 1
            return reply.status == 400 && refusals < Self.refusalLimit ? .goOn : .stop(reply)
        }
    }
}
