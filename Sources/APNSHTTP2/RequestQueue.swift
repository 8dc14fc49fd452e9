package import APNSModel

/// What one app has to send over HTTP/2: lane by lane what came back first, then a batch of each job in turn; and, apart from
/// that, what pauses.
///
/// What pauses, or has paused and was not sent since, counts against its job (`takePausedCounts`) and not against its lane
/// (`newCount`): the owner reads no more of a job that has too much of it, and other jobs are not affected.
///
/// All connections of an app share it. It remembers how often a notification has failed, and no longer than that matters.
package struct RequestQueue: Sendable {
    /// The pauses before another try.
    package struct Pauses: Hashable, Sendable {
        /// After 429, of the one token.
        package var later = BackOff(first: .seconds(30), ceiling: .seconds(3600))
        /// After 5xx.
        package var serverError = BackOff(first: .seconds(900), ceiling: .seconds(4 * 3600))
        /// How often connections may leave a notification in doubt before it waits as after 5xx.
        package var doubtLimit = 3

        /// Creates the contract's pauses.
        package init() {}
    }

    /// How often a gateway may refuse a stream unprocessed before the notification pauses.
    private static let refusalLimit = 10

    private var work: WorkQueue
    private var pausing = PausedBatches()
    /// Tokens that are not to be sent to before a moment.
    private var heldTokens = HeldTokens()
    private var failures = FailureCounts()
    private var pauses: Pauses
    /// Jobs of which more or less pauses since `takePausedCounts`.
    private var changed: Set<JobID> = []

    /// Creates an empty queue; `announces` as for `WorkQueue`.
    package init(pauses: Pauses = Pauses(), announces: Bool = false) {
        self.pauses = pauses
        self.work = WorkQueue(announces: announces)
    }

    /// Uses other pauses from the next failure on.
    package mutating func reconfigure(_ pauses: Pauses) {
        self.pauses = pauses
    }

    /// How many notifications wait to be sent now, or to be announced.
    package var count: Int { work.count }

    /// How many of a lane do that have not paused.
    package func newCount(of lane: Lane) -> Int { work.newCount(of: lane) }

    /// Of how many notifications of which jobs it is new, since the last call, that they pause, or have paused and wait to be
    /// sent again.
    package mutating func takePausedCounts() -> [JobID: Int] {
        changed.formUnion(work.takeRelieved())
        guard !changed.isEmpty else { return [:] }
        defer { changed = [] }
        return Dictionary(
            uniqueKeysWithValues: changed.map { ($0, pausing.count(of: $0) + work.releasedCount(of: $0)) })
    }

    /// How many of them are to be announced first.
    package var unannouncedCount: Int { work.unannouncedCount }

    /// How many pause.
    package var pausingCount: Int { pausing.count }

    /// Whether a connection that asks now would get nothing.
    package var isBlocked: Bool { work.isBlocked }

    /// When the next pause is over.
    package var nextRelease: Moment? { pausing.next }

    /// Adds new work behind all other work of its job.
    package mutating func append(_ batch: Batch) { work.append(batch) }

    /// Puts back, before everything else, what was taken and not written.
    package mutating func putBack(_ batch: Batch) { work.putBack(batch) }

    /// What is to be announced and was not named here before.
    package mutating func takeUnannounced() -> [Batch] { work.takeUnannounced() }

    /// Whether `next` with this limit would bring something, or put something aside to be announced.
    package func gives(atMost limit: Int) -> Bool { work.gives(atMost: limit) }

    /// What was announced and the gateway has not processed, since the last call: it is announced again before it is sent.
    package mutating func takeWithdrawn() -> [Batch] { work.takeWithdrawn() }

    /// Says that these are announced.
    package mutating func announced(_ batches: [Batch]) { work.announced(batches) }

    /// Lets go what has paused long enough.
    package mutating func release(at now: Moment) {
        let released = pausing.release(at: now)
        work.release(released)
        heldTokens.free(released, at: now)
    }

    /// Takes at most `limit` notifications that may be sent now; `nil` when there are none. Those to a token that is held
    /// pause with it.
    package mutating func next(atMost limit: Int) -> Batch? {
        while let batch = work.next(atMost: limit) {
            guard !heldTokens.isEmpty, let (count, until) = heldRun(in: batch) else { return batch }
            var rest = batch
            let free = rest.removeFirst(count)
            if let until { pause(rest.removeFirst(1), until: until) }
            work.putBack(rest)
            if !free.isEmpty { return free }
        }
        return nil
    }

    /// Removes what waits or pauses of a job, and returns it.
    package mutating func remove(_ job: JobID) -> [Batch] {
        failures.remove(job)
        if pausing.count(of: job) + work.releasedCount(of: job) > 0 { changed.insert(job) }
        return work.remove(job) + pausing.remove(job)
    }

    /// Removes a job of which so many notifications wait or pause, and nothing has ever been written to a connection; else it
    /// changes nothing.
    ///
    /// - Returns: What it has removed, none if the number is another; `nil` if something was written and came back.
    package mutating func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        let waiting = work.batches(of: job) + pausing.batches(of: job)
        guard !waiting.contains(where: \.wasWritten) else { return nil }
        return waiting.notificationCount == count ? remove(job) : []
    }

    private mutating func pause(_ batch: Batch, until moment: Moment) {
        pausing.add(batch, until: moment)
        changed.insert(batch.job)
    }

    /// How many notifications in front may be sent, and until when the one behind them pauses; `nil` when all may.
    private func heldRun(in batch: Batch) -> (count: Int, until: Moment?)? {
        for (count, index) in batch.indices.enumerated() {
            if let until = heldTokens.end(of: batch.token(at: index)) { return (count, until) }
        }
        return nil
    }
}

extension RequestQueue {
    /// What the news of a connection calls for, besides what the queue does itself.
    package enum Demand: Hashable, Sendable {
        /// The gateway says that the provider token is too old: sign another, and open a new connection.
        case renewToken(Reply)
        /// The connection is of no more use; what is on it may still be answered.
        case replace
        /// Every message of the app fails the same way.
        case stop(Reply)
    }

    /// What news come to.
    package struct Upshot: Sendable {
        /// Outcomes.
        package var settlements: [Settlement] = []
        /// What else has to happen, in the order of the answers.
        package var demands: [Demand] = []
        /// How long to leave the gateway alone, because it wants fewer provider tokens.
        package var rest: Duration?
    }

    /// When something happened: by the clock that pauses are measured with, and by the one that people read.
    package struct Instant: Hashable, Sendable {
        /// For pauses, and for the moment at which a notification is given up.
        package let moment: Moment
        /// For the time at which a notification expires.
        package let wall: WallTime

        /// Creates an instant.
        package init(_ moment: Moment, _ wall: WallTime) {
            (self.moment, self.wall) = (moment, wall)
        }
    }

    /// What is being made of some news.
    private struct Draft<Generator: RandomNumberGenerator> {
        let now: Instant
        var random: Generator
        var upshot = Upshot()
    }

    /// Takes what a connection found out: outcomes come back, everything else is queued again or pauses.
    ///
    /// - Parameters:
    ///   - news: What it found out.
    ///   - now: The present.
    ///   - random: Where the jitter of pauses comes from.
    /// - Returns: What it comes to.
    package mutating func take(
        _ news: SessionNews, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Upshot {
        var draft = Draft(now: now, random: random)
        draft.upshot.settlements = news.accepted.map { Settlement($0, .accepted) }
        for refused in news.refused { take(refused, into: &draft) }
        for batch in news.doubtful { doubt(batch, into: &draft) }
        work.prepend(news.returned.flatMap { returned($0, into: &draft) })
        if !failures.isEmpty { for settlement in draft.upshot.settlements { failures.remove(settlement.batch) } }
        random = draft.random
        return draft.upshot
    }

    private mutating func take(_ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>) {
        let reply = refused.reply
        var refused = refused
        refused.batch.wasWritten = true
        guard let failureClass = reply.failureClass else { return }
        if refused.batch.hasOwnTopic, reply.reason?.isAboutTopic == true {
            draft.upshot.settlements.append(Settlement(refused.batch, .rejected(reply.refusal(.message))))
            return
        }
        if ![.tokenGone, .token, .message].contains(failureClass) { work.withdraw(&refused.batch) }
        switch failureClass {
        case .tokenGone, .token, .message:
            draft.upshot.settlements.append(Settlement(refused.batch, .rejected(reply.refusal(failureClass.verdict))))
        case .app:
            draft.upshot.demands.append(.stop(reply))
            stopOrPause(refused, into: &draft)
        case .retryNow where reply.cause == .known(.expiredProviderToken):
            draft.upshot.demands.append(.renewToken(reply))
            work.prepend([refused.batch])
        case .retryNow:
            tryAgain(refused, into: &draft)
        case .retryLater where reply.cause == .known(.tooManyProviderTokenUpdates):
            rest(refused, into: &draft)
        case .retryLater where reply.status < 500:
            hold(refused, into: &draft)
        case .retryLater, .serverError:
            pauseAsServerError(refused, into: &draft)
        }
    }

    /// Keeps a notification for when the app may send again. One that draws a 400 while others are accepted would be sent
    /// again and again: from the third time on it pauses.
    private mutating func stopOrPause(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        if refused.reply.status == 400, failures.count(.app, of: refused.batch) >= IdentityTrial.refusalLimit {
            pauseAsServerError(refused, into: &draft)
        } else {
            work.prepend([refused.batch])
        }
    }

    /// Once at once, on another connection; then by the class that the reason has when it comes again.
    private mutating func tryAgain(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        draft.upshot.demands.append(.replace)
        if failures.count(.now, of: refused.batch) == 1 {
            work.prepend([refused.batch])
        } else if refused.reply.reason?.failureClassWhenRepeated == .app {
            draft.upshot.demands.append(.stop(refused.reply))
            work.prepend([refused.batch])
        } else {
            pauseAsServerError(refused, into: &draft)
        }
    }

    /// The gateway has seen too many provider tokens: nothing of this app gets through, so the app pauses and not the
    /// notification.
    private mutating func rest(_ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>) {
        let pause = pauses.later.pause(after: failures.count(.later, of: refused.batch), using: &draft.random)
        let least = min(refused.retryAfter ?? .zero, pauses.later.ceiling)
        draft.upshot.rest = max(draft.upshot.rest ?? .zero, pause, least)
        draft.upshot.demands.append(.replace)
        work.prepend([refused.batch])
    }

    /// 429: this token is left alone for a while, and the app goes on.
    private mutating func hold(_ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>) {
        let batch = refused.batch
        let pause = pauses.later.pause(after: failures.count(.later, of: batch), using: &draft.random)
        let length = max(pause, min(refused.retryAfter ?? .zero, pauses.later.ceiling))
        heldTokens.hold(batch.token(at: batch.indices.lowerBound), until: draft.now.moment + length)
        self.pause(batch, for: length, because: refused.reply.refusal(.later), into: &draft)
    }

    private mutating func pauseAsServerError(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        let least = min(refused.retryAfter ?? .zero, pauses.serverError.ceiling)
        pauseAsServerError(refused.batch, atLeast: least, because: refused.reply.refusal(.later), into: &draft)
    }

    /// Written, and never answered: sent again a few times, then after a pause; or never, if the app says so.
    private mutating func doubt(_ batch: Batch, into draft: inout Draft<some RandomNumberGenerator>) {
        guard batch.onDoubt == .resend else {
            draft.upshot.settlements.append(Settlement(batch, .unknown))
            return
        }
        var (batch, again) = (batch, [Batch]())
        batch.wasWritten = true
        for (part, count) in failures.counts(.doubt, of: batch) {
            if count < pauses.doubtLimit {
                again.append(part)
            } else {
                pauseAsServerError(part, because: .unanswered, into: &draft)
            }
        }
        work.prepend(again)
    }

    /// Not processed: sent again at once, but not for ever.
    private mutating func returned(
        _ batch: Batch, into draft: inout Draft<some RandomNumberGenerator>
    ) -> [Batch] {
        var (batch, again) = (batch, [Batch]())
        batch.wasWritten = true
        work.withdraw(&batch)
        for (part, count) in failures.counts(.returned, of: batch) {
            if count <= Self.refusalLimit {
                again.append(part)
            } else {
                pauseAsServerError(part, because: .refusedStream, into: &draft)
            }
        }
        return again
    }

    private mutating func pauseAsServerError(
        _ batch: Batch, atLeast least: Duration = .zero, because refusal: Refusal,
        into draft: inout Draft<some RandomNumberGenerator>
    ) {
        for (part, count) in failures.counts(.serverError, of: batch) {
            let length = max(least, pauses.serverError.pause(after: count, using: &draft.random))
            pause(part, for: length, because: refusal, into: &draft)
        }
    }

    /// Pauses a batch, unless it is to be given up or expires by then: then it is given up now, since nothing will be tried
    /// before.
    private mutating func pause(
        _ batch: Batch, for length: Duration, because refusal: Refusal,
        into draft: inout Draft<some RandomNumberGenerator>
    ) {
        let end = draft.now.moment + length
        let isLate = batch.giveUpAt.map { $0 <= end } ?? false
        if isLate || batch.attributes.expiration.hasPassed(at: draft.now.wall + length) {
            draft.upshot.settlements.append(Settlement(batch, .unsent(refusal)))
        } else {
            pause(batch, until: end)
        }
    }
}
