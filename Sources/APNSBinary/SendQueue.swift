package import PushModel

/// The notifications that one app has to send. Lane by lane, the tails of ended connections come first, then new work,
/// a batch of each job in turn.
///
/// All connections of an app share the queue. It also keeps the state that outlives a connection: how often a
/// notification was tried, and the hunt for one that the gateway refused without naming it.
package struct SendQueue: Sendable {
    /// How often a notification is tried if its refusal may not be its own fault.
    package static let tryLimit = 3

    private struct Key: Hashable, Sendable {
        let job: JobID
        let index: Int
    }

    private var work: WorkQueue
    private var hunt: Hunt?
    /// The job whose refusal blames the app, and no other job shows that it is wrong.
    private var accuser: JobID?
    private var tries: [Key: Int] = [:]
    /// The notifications to be resent that had been settled as accepted.
    private var revoked = NotificationSet()

    /// Creates an empty queue; `announces` as for `WorkQueue`.
    package init(announces: Bool = false) {
        self.work = WorkQueue(announces: announces)
    }

    /// The number of waiting notifications, including the tail.
    package var count: Int { work.count + (hunt?.waitingCount ?? 0) }

    /// The number of waiting notifications of a lane. The notifications of a hunt count in every lane, because nothing
    /// else is sent during a hunt.
    package func count(of lane: Lane) -> Int { work.count(of: lane) + (hunt?.waitingCount ?? 0) }

    /// The number of waiting notifications that must be announced first.
    package var unannouncedCount: Int { work.unannouncedCount }

    /// Whether `next` would return nothing now.
    package var isBlocked: Bool {
        if let hunt { return hunt.isWaiting }
        return work.isBlocked
    }

    /// Whether a hunt is in progress. Only one connection is useful then.
    package var isHunting: Bool { hunt != nil }

    /// Adds new work after all other work of its job.
    package mutating func append(_ batch: Batch) { work.append(batch) }

    /// Takes at most `limit` notifications that may be written now; `nil` if there are none.
    package mutating func next(atMost limit: Int) -> Batch? {
        hunt != nil ? hunt?.next(atMost: limit) : work.next(atMost: limit)
    }

    /// Puts back unwritten notifications, ahead of everything else.
    package mutating func putBack(_ batch: Batch) {
        if hunt != nil { hunt?.putBack(batch) } else { work.putBack(batch) }
    }

    /// Returns the batches to announce that no earlier call returned.
    package mutating func takeUnannounced() -> [Batch] { work.takeUnannounced() }

    /// Whether `next` with this limit would return a batch, or set one aside to be announced.
    package func gives(atMost limit: Int) -> Bool { hunt == nil ? work.gives(atMost: limit) : !isBlocked && limit > 0 }

    /// Returns the announced batches that the gateway did not process, since the last call. They are announced again
    /// before they are sent.
    package mutating func takeWithdrawn() -> [Batch] { work.takeWithdrawn() }

    /// Notes that these batches are announced.
    package mutating func announced(_ batches: [Batch]) { work.announced(batches) }

    /// Notes that notifications have an outcome. A hunt continues when its whole group has one. Idempotent.
    package mutating func confirm(_ settlements: [Settlement]) {
        for settlement in settlements { work.noteOutcome(settlement) }
        guard hunt != nil || !tries.isEmpty || !revoked.isEmpty else { return }
        for settlement in settlements {
            revoked.remove(settlement.batch)
            if hunt?.confirm(settlement.batch) == true { hunt = nil }
            for key in tries.keys where key.job == settlement.batch.job && settlement.batch.indices.contains(key.index)
            {
                tries[key] = nil
            }
        }
    }

    /// The pause of a job's hold; `nil` if it is not on hold.
    package func holdPause(of job: JobID) -> Duration? { work.holdPause(of: job) }

    /// Whether notifications of jobs on hold are kept apart.
    package var hasHeldWork: Bool { work.hasHeldWork }

    /// When the first job on hold may ask again.
    package var nextAsk: Moment? { hunt == nil ? work.nextAsk : nil }

    /// Lets the jobs on hold whose pause has ended ask again, or, with `one`, the one refused longest ago.
    ///
    /// - Returns: Whether there are any.
    package mutating func ask(_ one: Bool, at now: Moment) -> Bool {
        one ? work.askOne(at: now) : work.ask(at: now)
    }

    /// Ends the pauses of all jobs on hold.
    package mutating func hurry(at now: Moment) { work.hurry(at: now) }

    /// Forgets how often jobs on hold were refused, and lets all of them ask at the next chance.
    package mutating func startOver() { work.startOver() }

    /// Returns, for each job where it changed since the last call, the number of notifications that are on hold.
    package mutating func takePausedCounts() -> [JobID: Int] {
        let changed = work.takeRelieved()
        return Dictionary(uniqueKeysWithValues: changed.map { ($0, work.releasedCount(of: $0)) })
    }

    /// Removes and returns the waiting batches of a job.
    package mutating func remove(_ job: JobID) -> [Batch] {
        let removed = work.remove(job) + (hunt?.remove(job) ?? [])
        if hunt?.isOver == true { hunt = nil }
        tries = tries.filter { $0.key.job != job }
        revoked.remove(job)
        return removed
    }

    /// Removes a job if exactly `count` of its notifications wait and none was ever written to a connection. Otherwise
    /// changes nothing.
    ///
    /// - Returns: The removed batches; empty if the number differs; `nil` if one was written and came back.
    package mutating func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        let waiting = work.batches(of: job) + (hunt?.batches(of: job) ?? [])
        guard !waiting.contains(where: \.wasWritten) else { return nil }
        return waiting.notificationCount == count ? remove(job) : []
    }
}

extension SendQueue {
    /// Applies the resolution from the end of a connection, puts the tail ahead of everything else, and returns the
    /// outcomes.
    ///
    /// Revoked notifications get a second outcome later: an acceptance is reported as usual, any other outcome as a
    /// correction.
    ///
    /// If the named notification was refused as if the app or the gateway were at fault, its job is put on hold. After a
    /// failure of the gateway, it is not if others of its job were accepted on the connection: then the notification goes
    /// behind the rest of its job.
    ///
    /// - Parameters:
    ///   - resolution: The conclusions.
    ///   - now: The current time.
    ///   - pause: The pause of a job after a number of such refusals.
    /// - Returns: The outcomes.
    package mutating func apply(
        _ resolution: DoubtResolution, at now: Moment, pause: (Int) -> Duration
    ) -> [Settlement] {
        var (settlements, tail) = (resolution.settlements, resolution.tail)
        revoke(resolution)
        var apart: Batch?
        if let named = resolution.named, let status = resolution.status {
            if status.failureClass != .app, !(status.allowsAnotherTry && hasAnotherTry(named)) {
                settlements.append(Settlement(named, .rejected(status.refusal)))
            } else if hunt == nil, status != .protocolError {
                apart = named
            } else {
                tail.insert(named, at: 0)
            }
        }
        if let lone = Self.loneSuspect(of: resolution), !hasAnotherTry(lone) {
            settlements.append(Settlement(lone, .rejected(Self.unnamedRefusal(resolution.status))))
            tail = []
        }
        settlements = settlements.flatMap(correction)
        confirm(settlements)
        resume(tail, isHunt: resolution.hidesRefusal)
        guard var named = apart else { return settlements }
        // Behind the rest of its job, which asks with another notification.
        named.wasWritten = true
        if resolution.status?.failureClass == .app {
            accuser = work.hold(named, at: now, pause: pause) == false ? named.job : nil
        } else if settlements.contains(where: { $0.outcome == .accepted && $0.batch.job == named.job }) {
            work.withdraw(&named)
            work.append(named)
        } else {
            _ = work.hold(named, at: now, pause: pause)
        }
        return settlements
    }

    /// Whether the last refusal blames the app, and no other job shows that it is wrong.
    package func blamesApp(for job: JobID) -> Bool { hunt != nil || accuser == job }

    /// Remembers the notifications that had been settled as accepted and were not.
    private mutating func revoke(_ resolution: DoubtResolution) {
        if resolution.isCorrection, let named = resolution.named { revoked.insert(named) }
        var count = resolution.revokedCount
        for batch in resolution.tail where count > 0 {
            revoked.insert(batch[batch.indices.prefix(count)])
            count -= batch.count
        }
    }

    /// Splits the settlement, and marks the parts that contradict an earlier one as corrections.
    private func correction(_ settlement: Settlement) -> [Settlement] {
        guard settlement.outcome != .accepted, !revoked.isEmpty else { return [settlement] }
        return revoked.split(settlement.batch).map {
            Settlement($0.part, settlement.outcome, isCorrection: $0.isInside)
        }
    }

    /// The refusal of a notification that was found to be refused without being named.
    private static func unnamedRefusal(_ status: Status?) -> Refusal {
        guard let status, !status.acceptsNamed else {
            return Refusal(
                status: status.map { Int($0.rawValue) },
                reason: status?.reason ?? LocalReason.closedWithoutReply.rawValue,
                verdict: .message)
        }
        return status.refusal
    }

    /// The one notification that must have been refused, because nothing else was in doubt.
    private static func loneSuspect(of resolution: DoubtResolution) -> Batch? {
        guard resolution.hidesRefusal, resolution.doubtfulCount == 1, resolution.tail.count == 1,
            resolution.tail[0].count == 1, !resolution.settlements.contains(where: { $0.outcome == .unknown })
        else { return nil }
        return resolution.tail[0]
    }

    /// Counts one more try of a single notification. Returns whether it may be tried again.
    private mutating func hasAnotherTry(_ batch: Batch) -> Bool {
        let key = Key(job: batch.job, index: batch.indices.lowerBound)
        tries[key, default: 0] += 1
        return tries[key, default: 0] < Self.tryLimit
    }

    private mutating func resume(_ tail: [Batch], isHunt: Bool) {
        var tail = tail
        for index in tail.indices { tail[index].wasWritten = true }
        if hunt != nil {
            if hunt?.resume(tail, hasFailed: isHunt) == true { hunt = nil }
        } else if isHunt, tail.contains(where: { !$0.isEmpty }) {
            hunt = Hunt(suspects: tail, others: work.takeTail())
        } else {
            // The gateway has discarded all of it.
            for index in tail.indices { work.withdraw(&tail[index]) }
            work.prepend(tail)
        }
    }
}
