package import PushModel

/// Watches for a gateway that answers but accepts nothing. Decides when to warn, and whether the server is a push
/// gateway at all.
///
/// The first failed answer causes a warning at once, and later ones increasingly rarely: a million notifications may
/// each get one.
package struct TroubleWatch: Sendable {
    /// The actions for an answer.
    package struct Step: Hashable, Sendable {
        /// Whether to log a warning.
        package let warns: Bool
        /// Whether to stop the app, because the answers are not the gateway's.
        package let stops: Bool
    }

    /// After this many consecutive answers that are not the gateway's, over at least this period, an app stops. The period is
    /// there because a server that restarts can give that many in a moment.
    private static let foreignLimit = (count: 10, period: Duration.seconds(30))
    /// The quiet time after a warning: the first one, and the longest.
    private static let quiet = (first: Duration.seconds(60), longest: Duration.seconds(3600))

    private var foreignCount = 0
    private var foreignSince = Moment.zero
    private var quietUntil: Moment?
    private var pause = TroubleWatch.quiet.first
    /// How many failing connections were replaced since the last acceptance, and when the next one may be.
    private var replacements: (count: Int, nextAt: Moment) = (0, .zero)

    /// Creates a watch without any trouble.
    package init() {}

    /// Records a connection's news.
    ///
    /// - Returns: The answer to warn about, and the answer to stop the app for, if any.
    package mutating func record(_ news: SessionNews, at now: Moment) -> (told: Reply?, stopping: Reply?) {
        if !news.accepted.isEmpty {
            judged()
            replacements.count = 0
        }
        var (told, stopping): (Reply?, Reply?) = (nil, nil)
        for reply in news.refused.lazy.map(\.reply) {
            if reply.isServerFailure || reply.concerns.contains(.authorizationChanges) {
                let step = failed(isGenuine: reply.isGenuine, at: now)
                if step.warns { told = reply }
                if step.stops { stopping = reply }
            } else if [.message, .token, .tokenGone].contains(reply.failureClass) {
                judged()
            }
        }
        return (told, stopping)
    }

    /// Whether to replace a connection on which the server only reports failures: it may lead to the only server that fails. If
    /// the next one is no better, the gateway fails as a whole; replacements become rarer then, up to the ceiling of `backOff`.
    package mutating func mayReplace(
        at now: Moment, _ backOff: BackOff, using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard replacements.nextAt <= now else { return false }
        replacements.count += 1
        replacements.nextAt = now + backOff.pause(after: replacements.count, using: &random)
        return true
    }

    /// Notes an answer that judges a notification, good or bad. Only a working gateway gives one.
    package mutating func judged() {
        foreignCount = 0
    }

    /// Notes an answer that reports a failure of the gateway, or is not the gateway's.
    package mutating func failed(isGenuine: Bool, at now: Moment) -> Step {
        if isGenuine {
            foreignCount = 0
        } else {
            if foreignCount == 0 { foreignSince = now }
            foreignCount += 1
        }
        let isOften = foreignCount >= Self.foreignLimit.count
        return Step(warns: isNews(at: now), stops: isOften && now >= foreignSince + Self.foreignLimit.period)
    }

    private mutating func isNews(at now: Moment) -> Bool {
        if let quietUntil {
            guard now >= quietUntil else { return false }
            // After this long, it is a new incident.
            if now >= quietUntil + Self.quiet.longest { pause = Self.quiet.first }
        }
        quietUntil = now + pause
        pause = min(pause + pause, Self.quiet.longest)
        return true
    }
}
