import LinuxIO

/// Who waits for a sync of the journal, and when the next one is due.
struct JournalSyncing {
    /// What became of a wait for a sync.
    enum Outcome: Sendable {
        case durable
        case broken(SystemError)
        /// Nobody syncs: the one who waits has to.
        case unserved
    }

    /// What the one who syncs does next.
    enum Turn: Sendable {
        case sync
        case sleep(until: ContinuousClock.Instant?)
        case end
    }

    private struct Waiter {
        let count: Int
        var isPatient: Bool
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private var waiters: [Waiter] = []
    private var interval = Duration.zero
    private var resultCount = 0
    private var isServed = false
    private var isEnding = false
    private var isAsleep = false

    /// Somebody syncs from now on: at latest so long after a record came, or when so many results have.
    mutating func begin(every interval: Duration, results: Int) {
        precondition(!isServed, "a journal is synced by one task")
        (self.interval, resultCount) = (interval, results)
        (isServed, isEnding) = (true, false)
    }

    /// Whoever syncs is to finish.
    mutating func end() {
        isEnding = true
    }

    /// Adds one who waits until so much is durable, and whether a sync is not to be made for him; `false` when nobody syncs.
    mutating func add(
        _ continuation: CheckedContinuation<Outcome, Never>, count: Int, isPatient: Bool
    ) -> Bool {
        guard isServed else { return false }
        waiters.append(Waiter(count: count, isPatient: isPatient, continuation: continuation))
        return true
    }

    /// Somebody who waits is to end: nobody waits with patience any more.
    mutating func hurry() {
        for index in waiters.indices { waiters[index].isPatient = false }
    }

    /// Takes out those who wait for no more than this.
    mutating func takeWaiters(through count: Int) -> [CheckedContinuation<Outcome, Never>] {
        let ready = waiters.filter { $0.count <= count }
        waiters.removeAll { $0.count <= count }
        return ready.map(\.continuation)
    }

    /// Whether the one who syncs sleeps and should not, after a record was added and so many results are not durable.
    mutating func mustWake(isFirst: Bool, count: Int) -> Bool {
        guard isAsleep, isFirst || count >= resultCount else { return false }
        isAsleep = false
        return true
    }

    /// The next turn of the one who syncs, with that many results not durable, the first of them since then.
    mutating func turn(unsynced count: Int, since dirty: ContinuousClock.Instant?) -> Turn {
        isAsleep = false
        if waiters.contains(where: { !$0.isPatient }) || count >= max(resultCount, 1) { return .sync }
        let due = dirty?.advanced(by: interval)
        if let due, isEnding || due <= .now { return .sync }
        if isEnding {
            isServed = false
            return .end
        }
        isAsleep = true
        return .sleep(until: due)
    }
}
