/// What the gateway has said against an app's identity since it last accepted something, and what follows from that.
package struct IdentityTrial: Sendable {
    /// What to do.
    package enum Step: Hashable, Sendable {
        /// Nothing: send on.
        case goOn
        /// Send on another connection.
        case replace
        /// Send on another connection, with another provider token than this one, if there is to be one.
        case renew(ProviderToken)
        /// Send nothing until the app is configured anew, or for a long while.
        case stop(Reply)
    }

    /// How many refusals of status 400 in a row stop an app: one of them may be a notification's own.
    static let refusalLimit = 3

    private var refusals = 0

    /// Begins without any suspicion.
    package init() {}

    /// Notes an acceptance.
    package mutating func accepted() {
        refusals = 0
    }

    /// Says what follows from a demand that came on a connection with this provider token.
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
