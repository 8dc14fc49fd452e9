package import APNSModel

/// Watches a gateway that answers and takes nothing: what is to be told of that, and whether it is a gateway at all.
///
/// The first such answer is told at once, and later ones ever more rarely: each of a million notifications may get one.
package struct TroubleWatch: Sendable {
    /// What an answer calls for.
    package struct Step: Hashable, Sendable {
        /// Whether somebody should be told.
        package let warns: Bool
        /// Whether the app is to be stopped: what answers there is not Apple's.
        package let stops: Bool
    }

    /// After so many answers in a row that are not Apple's, and so much time, an app stops. A server that is being restarted
    /// gives as many in a moment.
    private static let foreignLimit = (count: 10, period: Duration.seconds(30))
    /// How long nothing more is told: at first, and at most.
    private static let quiet = (first: Duration.seconds(60), longest: Duration.seconds(3600))

    private var foreignCount = 0
    private var foreignSince = Moment.zero
    private var quietUntil: Moment?
    private var pause = TroubleWatch.quiet.first

    /// Begins without any trouble.
    package init() {}

    /// Takes what a connection found out.
    ///
    /// - Returns: The answer that somebody should be told of, if there is one, and the one to stop the app for.
    package mutating func take(_ news: SessionNews, at now: Moment) -> (told: Reply?, stopping: Reply?) {
        if !news.accepted.isEmpty { judged() }
        var (told, stopping): (Reply?, Reply?) = (nil, nil)
        for reply in news.refused.lazy.map(\.reply) {
            switch reply.failureClass {
            case .serverError,
                .retryLater where reply.status >= 500 || reply.reason == .tooManyProviderTokenUpdates:
                let step = failed(isGenuine: reply.isGenuine, at: now)
                if step.warns { told = reply }
                if step.stops { stopping = reply }
            case .message, .token, .tokenGone: judged()
            case .app, .retryNow, .retryLater, nil: break
            }
        }
        return (told, stopping)
    }

    /// Notes an answer that judges a notification, good or bad: this is a gateway at work.
    package mutating func judged() {
        foreignCount = 0
    }

    /// Notes an answer that says the gateway failed, or is not Apple's.
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
            // What comes after so long is another trouble.
            if now >= quietUntil + Self.quiet.longest { pause = Self.quiet.first }
        }
        quietUntil = now + pause
        pause = min(pause + pause, Self.quiet.longest)
        return true
    }
}
