package import APNSModel

/// What one app has to send: lane by lane the tail of dead connections first, then new work, a batch of each job in turn.
///
/// All connections of an app share it. It also keeps what must be remembered across connections: how often a notification
/// was tried, and the hunt for one that the gateway refused without naming it.
package struct SendQueue: Sendable {
    /// How often a notification is tried whose refusal need not be its own fault.
    package static let tryLimit = 3

    private struct Key: Hashable, Sendable {
        let job: JobID
        let index: Int
    }

    private var work: WorkQueue
    private var hunt: Hunt?
    private var tries: [Key: Int] = [:]
    /// Those that are to be sent again although they had been settled as accepted.
    private var revoked = NotificationSet()

    /// Creates an empty queue; `announces` as for `WorkQueue`.
    package init(announces: Bool = false) {
        self.work = WorkQueue(announces: announces)
    }

    /// How many notifications wait, the tail included.
    package var count: Int { work.count + (hunt?.waitingCount ?? 0) }

    /// How many of a lane wait. In a hunt, what it keeps counts in every lane: nothing else is sent meanwhile.
    package func count(of lane: Lane) -> Int { work.count(of: lane) + (hunt?.waitingCount ?? 0) }

    /// How many of them are to be announced first.
    package var unannouncedCount: Int { work.unannouncedCount }

    /// Whether a connection that asks now would get nothing.
    package var isBlocked: Bool {
        if let hunt { return hunt.isWaiting }
        return work.isBlocked
    }

    /// Whether a hunt is on, so that only one connection is of use.
    package var isHunting: Bool { hunt != nil }

    /// Adds new work behind all other work of its job.
    package mutating func append(_ batch: Batch) { work.append(batch) }

    /// Takes at most `limit` notifications that may be written now; `nil` when there are none.
    package mutating func next(atMost limit: Int) -> Batch? {
        hunt != nil ? hunt?.next(atMost: limit) : work.next(atMost: limit)
    }

    /// Puts back, before everything else, what was taken and not written.
    package mutating func putBack(_ batch: Batch) {
        if hunt != nil { hunt?.putBack(batch) } else { work.putBack(batch) }
    }

    /// What is to be announced and was not named here before.
    package mutating func takeUnannounced() -> [Batch] { work.takeUnannounced() }

    /// Whether `next` with this limit would bring something, or put something aside to be announced.
    package func gives(atMost limit: Int) -> Bool { hunt == nil ? work.gives(atMost: limit) : !isBlocked && limit > 0 }

    /// What was announced and the gateway has not processed, since the last call: it is announced again before it is sent.
    package mutating func takeWithdrawn() -> [Batch] { work.takeWithdrawn() }

    /// Says that these are announced.
    package mutating func announced(_ batches: [Batch]) { work.announced(batches) }

    /// Notes that notifications have an outcome. A hunt may go on when its group has. Noting it twice does no harm.
    package mutating func confirm(_ settlements: [Settlement]) {
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

    /// Removes what still waits of a job, and returns it.
    package mutating func remove(_ job: JobID) -> [Batch] {
        let removed = work.remove(job) + (hunt?.remove(job) ?? [])
        if hunt?.isOver == true { hunt = nil }
        tries = tries.filter { $0.key.job != job }
        revoked.remove(job)
        return removed
    }

    /// Removes a job of which so many notifications wait, and nothing has ever been written to a connection; else it changes
    /// nothing.
    ///
    /// - Returns: What it has removed, none if the number is another; `nil` if something was written and came back.
    package mutating func removeUnwritten(_ job: JobID, count: Int) -> [Batch]? {
        let waiting = work.batches(of: job) + (hunt?.batches(of: job) ?? [])
        guard !waiting.contains(where: \.wasWritten) else { return nil }
        return waiting.notificationCount == count ? remove(job) : []
    }
}

extension SendQueue {
    /// Takes what the end of a connection proved, puts the tail in front of everything else, and returns the outcomes.
    ///
    /// What was revoked gets its second outcome in time: an acceptance is told like any other, everything else as a
    /// correction.
    package mutating func take(_ conclusion: Conclusion) -> [Settlement] {
        var (settlements, tail) = (conclusion.settlements, conclusion.tail)
        revoke(conclusion)
        if let named = conclusion.named, let status = conclusion.status {
            if status.failureClass == .app || (status.allowsAnotherTry && hasAnotherTry(named)) {
                tail.insert(named, at: 0)
            } else {
                settlements.append(Settlement(named, .rejected(status.refusal)))
            }
        }
        if let lone = Self.loneSuspect(of: conclusion), !hasAnotherTry(lone) {
            settlements.append(Settlement(lone, .rejected(Self.unnamedRefusal(conclusion.status))))
            tail = []
        }
        settlements = settlements.flatMap(correction)
        confirm(settlements)
        resume(tail, isHunt: conclusion.hidesRefusal)
        return settlements
    }

    /// Remembers who had been settled as accepted, and was not.
    private mutating func revoke(_ conclusion: Conclusion) {
        if conclusion.isCorrection, let named = conclusion.named { revoked.insert(named) }
        var count = conclusion.revokedCount
        for batch in conclusion.tail where count > 0 {
            revoked.insert(batch[batch.indices.prefix(count)])
            count -= batch.count
        }
    }

    /// The settlement, with those parts marked as a correction that contradict an earlier one.
    private func correction(_ settlement: Settlement) -> [Settlement] {
        guard settlement.outcome != .accepted, !revoked.isEmpty else { return [settlement] }
        return revoked.split(settlement.batch).map {
            Settlement($0.part, settlement.outcome, isCorrection: $0.isInside)
        }
    }

    /// The reason of a notification that was found to be refused without having been named.
    private static func unnamedRefusal(_ status: Status?) -> Refusal {
        guard let status, !status.acceptsNamed else {
            return Refusal(
                status: status.map { Int($0.rawValue) }, reason: status?.reason ?? "ClosedWithoutReply",
                verdict: .message)
        }
        return status.refusal
    }

    /// The one notification that must have been refused, since nothing else was in doubt.
    private static func loneSuspect(of conclusion: Conclusion) -> Batch? {
        guard conclusion.hidesRefusal, conclusion.doubtfulCount == 1, conclusion.tail.count == 1,
            conclusion.tail[0].count == 1, !conclusion.settlements.contains(where: { $0.outcome == .unknown })
        else { return nil }
        return conclusion.tail[0]
    }

    /// Counts one more try of a single notification; whether it may have another.
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
            // The gateway has thrown all of it away.
            for index in tail.indices { work.withdraw(&tail[index]) }
            work.prepend(tail)
        }
    }
}
