/// Collects the refusals that blame the app since the gateway last accepted a notification, and decides when they stop
/// the app, and for how long.
///
/// The gateway may blame the app for what is one job's fault. So refusals of as many different jobs as `refusalLimit`
/// stop the app. Fewer stop it only if there is no other job to ask with; such a stop ends when there is one. A stop by that
/// many jobs ends for another one too, but only after a pause.
package struct IdentityTrial: Sendable {
    /// How an app stops.
    package struct Stop: Hashable, Sendable {
        /// When it asks again, at the latest.
        package let pause: Duration
        /// When it asks with a job that was not refused, if there is one; `nil` if not before the end of `pause`.
        package let othersPause: Duration?

        /// Creates a stop.
        package init(pause: Duration, othersPause: Duration?) {
            (self.pause, self.othersPause) = (pause, othersPause)
        }

        /// Whether it asks before the end of `pause` with a job that was not refused.
        package var asksOthers: Bool { othersPause != nil }
    }

    /// The number of different refused jobs that stops an app.
    package static let refusalLimit = 3
    /// For how long after an acceptance the pauses begin with the first one. Later, credentials count as never accepted.
    private static let memory = Duration.seconds(86_400)

    /// The longest pause before a stopped app asks with a job that was not refused, and that of credentials that were accepted
    /// lately: those are good, and many refused jobs may wait before one that is not.
    private static let (longestForOthers, longestIfProved) = (Duration.seconds(60), Duration.seconds(8))

    private let backOff: BackOff
    private var jobs: Set<JobID> = []
    /// Whether a refusal has not been judged yet.
    private var isAccused = false
    /// How often only refused jobs were left to ask with.
    private var strikeCount = 0
    private var stopCount = 0
    /// How often as many jobs as `refusalLimit` stopped the app.
    private var provenStopCount = 0
    private var acceptedAt: Moment?

    /// Creates a trial without refusals.
    ///
    /// - Parameters:
    ///   - ceiling: The longest stop.
    ///   - acceptedAt: When the gateway last accepted these credentials, if it is known.
    package init(ceiling: Duration, acceptedAt: Moment? = nil) {
        backOff = .ofRefusals(ceiling: ceiling)
        self.acceptedAt = acceptedAt
    }

    /// Notes an acceptance.
    package mutating func accepted(at now: Moment) {
        (jobs, isAccused, strikeCount, stopCount, provenStopCount) = ([], false, 0, 0, 0)
        acceptedAt = now
    }

    /// Notes a refusal that blames the app.
    package mutating func refused(_ job: JobID) {
        jobs.insert(job)
        isAccused = true
    }

    /// Forgets a job that has ended.
    ///
    /// - Returns: Whether a refusal of it counted.
    package mutating func forget(_ job: JobID) -> Bool { jobs.remove(job) != nil }

    /// Decides whether the refusals stop the app.
    ///
    /// - Parameters:
    ///   - hasOthers: Whether notifications of other jobs wait to be sent, or any are unanswered.
    ///   - now: The current time.
    ///   - random: The source of the pause's jitter.
    /// - Returns: How the app stops; `nil` if it does not.
    package mutating func judge(
        hasOthers: Bool, at now: Moment, using random: inout some RandomNumberGenerator
    ) -> Stop? {
        let isProven = jobs.count >= Self.refusalLimit
        guard isAccused, isProven || !hasOthers else { return nil }
        isAccused = false
        if !isProven {
            strikeCount += 1
            if stopCount == 0, isProved(at: now), strikeCount < Self.refusalLimit { return nil }
        }
        if isProven { provenStopCount += 1 }
        let longest = isProved(at: now) ? Self.longestIfProved : Self.longestForOthers
        let othersBackOff = BackOff.ofRefusals(ceiling: min(backOff.ceiling, Self.longestForOthers))
        let othersPause =
            isProven ? min(longest, othersBackOff.pause(after: provenStopCount, using: &random)) : .zero
        let pause = nextPause(at: now, using: &random)
        return Stop(pause: pause, othersPause: min(othersPause, pause))
    }

    /// Stops the app for another reason than a refused notification.
    package mutating func stop(at now: Moment, using random: inout some RandomNumberGenerator) -> Stop {
        Stop(pause: nextPause(at: now, using: &random), othersPause: nil)
    }

    /// Whether the gateway accepted these credentials lately.
    private func isProved(at now: Moment) -> Bool { acceptedAt.map { now < $0 + Self.memory } ?? false }

    private mutating func nextPause(at now: Moment, using random: inout some RandomNumberGenerator) -> Duration {
        guard isProved(at: now) else { return backOff.ceiling }
        stopCount += 1
        return backOff.pause(after: stopCount, using: &random)
    }
}
