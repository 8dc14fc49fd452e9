import APNSModel
package import PushModel

/// The notifications that one app has to send over HTTP/2. Lane by lane, returned ones come first, then a batch of each
/// job in turn. Paused ones are kept separately.
///
/// Notifications that pause, or have paused and were not sent since, count against their job (`takePausedCounts`), not
/// against their lane (`newCount`). The owner reads no more of a job that has too many.
///
/// All connections of an app share the queue. It counts a notification's failures only until it has an outcome.
package struct RequestQueue: Sendable {
    /// The pauses before a retry.
    package struct Pauses: Hashable, Sendable {
        /// The pauses after 429, for the one token.
        package var later = BackOff(first: .seconds(30), ceiling: .seconds(3600))
        /// The pauses after 5xx.
        package var serverError = BackOff(first: .seconds(900), ceiling: BackOff.usualCeiling)
        /// How often a notification may be in doubt before it pauses as after 5xx.
        package var doubtLimit = 3
        /// The pauses of a job after refusals that blame the app.
        var refusal: BackOff { .ofRefusals(ceiling: serverError.ceiling) }

        /// Creates the default pauses of the contract.
        package init() {}
    }

    /// How often a gateway may refuse a stream without processing it before the notification pauses.
    private static let refusalLimit = 10

    private var work: WorkQueue
    private var pausing = PausedBatches()
    /// The tokens on hold.
    private var heldAddresses = HeldAddresses()
    private var failures = FailureCounts()
    private var topics = TopicTrials()
    /// The jobs held for `TooManyProviderTokenUpdates` since the gateway last accepted anything, and the rests since then.
    private var updates: (jobs: Set<JobID>, restCount: Int) = ([], 0)
    private var pauses: Pauses
    /// The jobs whose number of paused notifications changed since `takePausedCounts`.
    private var changed: Set<JobID> = []

    /// Creates an empty queue; `announces` as for `WorkQueue`.
    package init(pauses: Pauses = Pauses(), announces: Bool = false) {
        self.pauses = pauses
        self.work = WorkQueue(announces: announces)
    }

    /// Uses other pauses from the next failure on, and lets all jobs on hold ask at the next chance.
    package mutating func reconfigure(_ pauses: Pauses) {
        self.pauses = pauses
        work.startOver()
        failures.remove(.app)
        updates = ([], 0)
    }

    /// The number of notifications that wait to be sent now, or to be announced.
    package var count: Int { work.count }

    /// The number of these in a lane that have not paused.
    package func newCount(of lane: Lane) -> Int { work.newCount(of: lane) }

    /// Returns, for each job where it changed since the last call, the number of notifications that pause or have
    /// paused and wait to be resent.
    package mutating func takePausedCounts() -> [JobID: Int] {
        changed.formUnion(work.takeRelieved())
        guard !changed.isEmpty else { return [:] }
        defer { changed = [] }
        return Dictionary(
            uniqueKeysWithValues: changed.map { ($0, pausing.count(of: $0) + work.releasedCount(of: $0)) })
    }

    /// The number of waiting notifications that must be announced first.
    package var unannouncedCount: Int { work.unannouncedCount }

    /// The number of waiting notifications that need not be announced any more.
    package var announcedCount: Int { work.count - work.unannouncedCount }

    /// The number of paused notifications.
    package var pausingCount: Int { pausing.count }

    /// Whether `next` would return nothing now.
    package var isBlocked: Bool { work.isBlocked }

    /// When the next pause ends.
    package var nextRelease: Moment? { pausing.next }

    /// Adds new work after all other work of its job.
    package mutating func append(_ batch: Batch) { work.append(batch) }

    /// Puts back unwritten notifications, ahead of everything else.
    package mutating func putBack(_ batch: Batch) { work.putBack(batch) }

    /// Returns the batches to announce that no earlier call returned.
    package mutating func takeUnannounced() -> [Batch] { work.takeUnannounced() }

    /// Whether `next` with this limit would return a batch, or set one aside to be announced.
    package func gives(atMost limit: Int) -> Bool { work.gives(atMost: limit) }

    /// Returns the batches that the gateway did not process since the last call; they are announced again.
    package mutating func takeWithdrawn() -> [Batch] { work.takeWithdrawn() }

    /// Notes that these batches are announced.
    package mutating func announced(_ batches: [Batch]) { work.announced(batches) }

    /// Releases the batches whose pause has ended.
    package mutating func release(at now: Moment) {
        let released = pausing.release(at: now)
        work.release(released)
        heldAddresses.free(released, at: now)
    }

    /// Takes at most `limit` notifications that may be sent now; `nil` if there are none. Notifications to a held token
    /// pause until its hold ends.
    package mutating func next(atMost limit: Int) -> Batch? {
        while let batch = work.next(atMost: limit) {
            guard !heldAddresses.isEmpty, let (count, until) = heldRun(in: batch) else { return batch }
            var rest = batch
            let free = rest.removeFirst(count)
            if let until {
                var one = rest.removeFirst(1)
                work.withdraw(&one)
                pause(one, until: until)
            }
            work.putBack(rest)
            if !free.isEmpty { return free }
        }
        return nil
    }

    /// The pause of a job's hold; `nil` if it is not on hold.
    package func holdPause(of job: JobID) -> Duration? { work.holdPause(of: job) }

    /// Whether notifications of jobs on hold are kept apart.
    package var hasHeldWork: Bool { work.hasHeldWork }

    /// When the first job on hold may ask again.
    package var nextAsk: Moment? { work.nextAsk }

    /// Lets the jobs on hold whose pause has ended ask again. Returns whether there are any.
    package mutating func ask(at now: Moment) -> Bool { work.ask(at: now) }

    /// Lets the job on hold ask again whose last refusal is the longest ago. Returns whether there is one.
    package mutating func askOne(at now: Moment) -> Bool { work.askOne(at: now) }

    /// Ends the pauses of all jobs on hold.
    package mutating func hurry(at now: Moment) { work.hurry(at: now) }

    /// Releases the paused notifications of one job that is not on hold. Returns whether there is one.
    package mutating func releasePaused() -> Bool {
        guard let job = pausing.jobs.first(where: { !work.isOnHold($0) }) else { return false }
        let released = pausing.remove(job)
        work.release(released)
        for batch in released { heldAddresses.free(batch) }
        return true
    }

    /// Removes and returns the batches of a job that wait or pause.
    package mutating func remove(_ job: JobID) -> [Batch] {
        failures.remove(job)
        if pausing.count(of: job) + work.releasedCount(of: job) > 0 { changed.insert(job) }
        return work.remove(job) + pausing.remove(job)
    }

    /// Removes a job if exactly `count` of its notifications wait or pause and none was ever written to a connection.
    /// Otherwise changes nothing.
    ///
    /// - Returns: The removed batches; empty if the number differs; `nil` if one was written and came back.
    package mutating func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        let waiting = work.batches(of: job) + pausing.batches(of: job)
        guard !waiting.contains(where: \.wasWritten) else { return nil }
        return waiting.notificationCount == count ? remove(job) : []
    }

    private mutating func pause(_ batch: Batch, until moment: Moment) {
        pausing.add(batch, until: moment)
        changed.insert(batch.job)
    }

    /// Returns how many notifications at the front may be sent, and the end of the hold on the next one; `nil` if all
    /// may.
    private func heldRun(in batch: Batch) -> (count: Int, until: Moment?)? {
        for (count, index) in batch.indices.enumerated() {
            if let until = heldAddresses.end(of: batch.address(at: index)) { return (count, until) }
        }
        return nil
    }
}

extension RequestQueue {
    /// An action that a connection's news requires from the owner of the queue.
    package enum Demand: Hashable, Sendable {
        /// The provider token is too old: sign another, and open a new connection.
        case renewToken(Reply)
        /// A job on hold may only lack another token: open a new connection, and get one unless the last one is new.
        case renewTokenUnlessNew
        /// The connection must be replaced. Requests on it may still be answered.
        case replace
        /// The gateway blames the app, and no other job shows that it is wrong: judge whether that stops the app.
        case accuse(Reply, by: JobID)
        /// The app's quota is used up: the whole app waits so long, and then goes on slowly.
        case pace(Reply, Duration)
        /// The gateway blames the app for what only this job's notifications, or one of them, meet with.
        case warn(Reply, about: JobID)
    }

    /// The connection that news come from.
    package struct Origin: Sendable {
        /// When it was opened, if a provider token is its identity.
        package var openedWithToken: Moment?
        /// The topic of notifications without one.
        package var defaultTopic: String?

        /// Creates the origin of a connection.
        package init(openedWithToken: Moment? = nil, defaultTopic: String? = nil) {
            (self.openedWithToken, self.defaultTopic) = (openedWithToken, defaultTopic)
        }

        /// Whether a wrong topic is the fault of the job: the job named it, or it is derived from the job's push type.
        fileprivate func isTopicOfJob(_ batch: Batch) -> Bool {
            batch.hasOwnTopic || defaultTopic.map { topic(of: batch) != $0 } ?? false
        }

        /// The topic that a notification was sent with.
        fileprivate func topic(of batch: Batch) -> String {
            let type = batch.attributes.pushType
            return batch.attributes.topic ?? defaultTopic.map { PushTopic.topic(for: type, app: $0) } ?? ""
        }
    }

    /// The results of a connection's news.
    package struct Consequences: Sendable {
        /// The outcomes.
        package var settlements: [Settlement] = []
        /// The actions for the owner, in the order of the answers.
        package var demands: [Demand] = []
        /// How long to pause the app, because the gateway wants fewer provider tokens.
        package var rest: Duration?
    }

    /// The results so far while news are processed.
    private struct Draft<Generator: RandomNumberGenerator> {
        let now: Instant
        let origin: Origin
        var random: Generator
        var consequences = Consequences()
    }

    /// Applies a connection's news: returns outcomes, and requeues or pauses all other notifications.
    ///
    /// - Parameters:
    ///   - news: The connection's news.
    ///   - origin: The connection.
    ///   - now: The current time.
    ///   - random: The source of the pauses' jitter.
    /// - Returns: The outcomes and the actions for the owner.
    package mutating func apply(
        _ news: SessionNews, from origin: Origin = Origin(), at now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Consequences {
        var draft = Draft(now: now, origin: origin, random: random)
        draft.consequences.settlements = news.accepted.map { Settlement($0, .accepted) }
        if !news.accepted.isEmpty { updates = ([], 0) }
        for refused in news.refused { classify(refused, into: &draft) }
        for batch in news.doubtful { doubt(batch, into: &draft) }
        work.prepend(news.returned.flatMap { returned($0, into: &draft) })
        for settlement in draft.consequences.settlements { forget(settlement) }
        random = draft.random
        if !news.uniqueIDs.isEmpty {
            for index in draft.consequences.settlements.indices {
                draft.consequences.settlements[index].add(uniqueIDs: news.uniqueIDs)
            }
        }
        return draft.consequences
    }

    /// Forgets the failures of notifications that have an outcome.
    package mutating func forget(_ settlement: Settlement) {
        if !failures.isEmpty { failures.remove(settlement.batch) }
        work.noteOutcome(settlement)
    }

    private mutating func classify(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        let reply = refused.reply
        var refused = refused
        refused.batch.wasWritten = true
        guard let failureClass = reply.failureClass else { return }
        // What may pass by itself blames nobody, whatever it says.
        if !failureClass.mayPass {
            if mayConcernConnection(refused, draft.origin, at: draft.now.moment) {
                draft.consequences.demands.append(.replace)
                work.withdraw(&refused.batch)
                return work.prepend([refused.batch])
            }
            if let verdict = jobsFault(refused, draft.origin) {
                draft.consequences.settlements.append(Settlement(refused.batch, .rejected(reply.refusal(verdict))))
                return
            }
        }
        if ![.tokenGone, .token, .message].contains(failureClass) { work.withdraw(&refused.batch) }
        switch failureClass {
        case .tokenGone, .token, .message:
            draft.consequences.settlements.append(
                Settlement(refused.batch, .rejected(reply.refusal(reply.verdict ?? failureClass.verdict))))
        case .app:
            hold(refused, into: &draft)
        case .retryNow where reply.concerns.contains(.authorization):
            renewToken(refused, into: &draft)
        case .retryNow:
            tryAgain(refused, into: &draft)
        case .retryLater where reply.concerns.contains(.authorizationChanges):
            changeConnection(refused, into: &draft)
        case .retryLater where reply.concerns.contains(.quota):
            holdApp(refused, into: &draft)
        case .retryLater where reply.status < 500:
            holdAddress(refused, into: &draft)
        case .retryLater, .serverError:
            pauseAsServerError(refused, into: &draft)
        }
    }

    /// The verdict on a notification whose job named the topic or the channel that is refused; `nil` if it did not.
    private func jobsFault(_ refused: SessionNews.Refused, _ origin: Origin) -> Verdict? {
        let concerns = refused.reply.concerns
        if concerns.contains(.topic), origin.isTopicOfJob(refused.batch) { return .message }
        return concerns.contains(.broadcasting) && refused.batch.attributes.addressKind == .channel ? .config : nil
    }

    /// Whether a connection that was opened later may accept the notification's topic.
    private mutating func mayConcernConnection(
        _ refused: SessionNews.Refused, _ origin: Origin, at now: Moment
    ) -> Bool {
        guard TopicTrials.concerns(refused.reply), let opened = origin.openedWithToken else { return false }
        return topics.mayTryAgain(origin.topic(of: refused.batch), refusedOnConnectionOf: opened, at: now)
    }

    /// Puts the job of a notification on hold for which the gateway blames the app.
    private mutating func hold(_ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>) {
        guard blamesApp(refused, pausing: pauses.refusal, into: &draft) else { return }
        draft.consequences.demands.append(.accuse(refused.reply, by: refused.batch.job))
    }

    /// Puts the job of a notification on hold. If others of its job were accepted since an earlier refusal, it is itself at
    /// fault and pauses alone.
    ///
    /// - Returns: Whether the app may be at fault, because nothing was accepted meanwhile.
    private mutating func blamesApp(
        _ refused: SessionNews.Refused, pausing backOff: BackOff, into draft: inout Draft<some RandomNumberGenerator>
    ) -> Bool {
        let (job, reply) = (refused.batch.job, refused.reply)
        if failures.count(.app, of: refused.batch) > 1, !work.isOnHold(job) {
            draft.consequences.demands.append(.warn(reply, about: job))
            pauseAsServerError(refused, into: &draft)
            return false
        }
        let least = min(refused.retryAfter ?? .zero, backOff.ceiling)
        let isOwnFault = work.hold(refused.batch, at: draft.now.moment) {
            max(least, backOff.pause(after: $0, using: &draft.random))
        }
        if isOwnFault == true { draft.consequences.demands.append(.warn(reply, about: job)) }
        return isOwnFault == false
    }

    /// Asks for another provider token, once for each notification of a job that is not on hold. A second
    /// refusal blames the app, and so does the first one without a token. The job may ask with another token later.
    private mutating func renewToken(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        guard draft.origin.openedWithToken != nil else { return hold(refused, into: &draft) }
        guard !work.isOnHold(refused.batch.job), failures.count(.now, of: refused.batch) == 1 else {
            draft.consequences.demands.append(.renewTokenUnlessNew)
            return hold(refused, into: &draft)
        }
        draft.consequences.demands.append(.renewToken(refused.reply))
        work.prepend([refused.batch])
    }

    /// Retries once immediately, on another connection. After that, the reason's class for repeated failures decides.
    private mutating func tryAgain(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        draft.consequences.demands.append(.replace)
        if failures.count(.now, of: refused.batch) == 1 {
            work.prepend([refused.batch])
        } else if refused.reply.concerns.contains(.credentials) {
            hold(refused, into: &draft)
        } else {
            pauseAsServerError(refused, into: &draft)
        }
    }

    /// The gateway has received too many provider tokens, which it counts for each connection: asks again on another one.
    /// If that is refused too, the job is put on hold; several jobs in a row rest the app when no other job waits.
    private mutating func changeConnection(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        draft.consequences.demands.append(.replace)
        guard work.isOnHold(refused.batch.job) || failures.count(.now, of: refused.batch) > 1 else {
            return work.prepend([refused.batch])
        }
        guard blamesApp(refused, pausing: pauses.later, into: &draft) else { return }
        updates.jobs.insert(refused.batch.job)
        guard updates.jobs.count >= IdentityTrial.refusalLimit, work.isBlocked else { return }
        updates.restCount += 1
        let pause = pauses.later.pause(after: updates.restCount, using: &draft.random)
        let least = min(refused.retryAfter ?? .zero, pauses.later.ceiling)
        draft.consequences.rest = max(draft.consequences.rest ?? .zero, pause, least)
    }

    /// Handles 429: puts the address on hold; the app keeps sending.
    private mutating func holdAddress(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        let batch = refused.batch
        let pause = pauses.later.pause(after: failures.count(.later, of: batch), using: &draft.random)
        let length = max(pause, min(refused.retryAfter ?? .zero, pauses.later.ceiling))
        heldAddresses.hold(batch.address(at: batch.indices.lowerBound), until: draft.now.moment + length)
        self.pause(batch, for: length, because: refused.reply.refusal(.later), into: &draft)
    }

    /// Handles a 429 about the app's quota: all of the app waits as long as the gateway asks for, at most an hour. Less than a
    /// second is no pause.
    private mutating func holdApp(_ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>) {
        let asked = refused.retryAfter.flatMap { $0 < .seconds(1) ? nil : $0 }
        let length = min(asked ?? pauses.later.first, pauses.later.ceiling)
        draft.consequences.demands.append(.pace(refused.reply, length))
        pause(refused.batch, for: length, because: refused.reply.refusal(.later), into: &draft)
    }

    private mutating func pauseAsServerError(
        _ refused: SessionNews.Refused, into draft: inout Draft<some RandomNumberGenerator>
    ) {
        let least = min(refused.retryAfter ?? .zero, pauses.serverError.ceiling)
        pauseAsServerError(refused.batch, atLeast: least, because: refused.reply.refusal(.later), into: &draft)
    }

    /// Handles a notification that was written and never answered: resends it a few times, then after a pause; or
    /// never, if the app is configured so.
    private mutating func doubt(_ batch: Batch, into draft: inout Draft<some RandomNumberGenerator>) {
        guard batch.onDoubt == .resend else {
            draft.consequences.settlements.append(Settlement(batch, .unknown))
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

    /// Handles notifications that were not processed: resends them at once, up to a limit.
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

    /// Pauses a batch. If it is due to be given up or expires before the pause ends, gives it up now, since it would
    /// not be retried in time.
    private mutating func pause(
        _ batch: Batch, for length: Duration, because refusal: Refusal,
        into draft: inout Draft<some RandomNumberGenerator>
    ) {
        let end = draft.now.moment + length
        let isLate = batch.giveUpAt.map { $0 <= end } ?? false
        if isLate || batch.attributes.expiration.hasPassed(at: draft.now.wall + length) {
            draft.consequences.settlements.append(Settlement(batch, .unsent(refusal)))
        } else {
            pause(batch, until: end)
        }
    }
}
