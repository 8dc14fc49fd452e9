import LinuxIO

/// The callers that wait for a sync of the journal, and when the next sync is due.
struct JournalSyncing {
    /// The result of waiting for a sync.
    enum Outcome: Sendable {
        case durable
        case broken(SystemError)
        /// No task syncs the journal: the caller must sync it.
        case unserved
    }

    /// The next action of the syncing thread.
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

    /// Starts the syncing: at the latest `interval` after a record was appended, or as soon as `results` results wait.
    mutating func begin(every interval: Duration, results: Int) {
        precondition(!isServed, "a journal is synced by one task")
        (self.interval, resultCount) = (interval, results)
        (isServed, isEnding) = (true, false)
    }

    /// Asks the syncing thread to finish.
    mutating func end() {
        isEnding = true
    }

    /// Adds a caller that waits until `count` is durable. A patient one does not cause a sync. Returns `false` if no
    /// thread syncs.
    mutating func add(
        _ continuation: CheckedContinuation<Outcome, Never>, count: Int, isPatient: Bool
    ) -> Bool {
        guard isServed else { return false }
        waiters.append(Waiter(count: count, isPatient: isPatient, continuation: continuation))
        return true
    }

    /// Makes all waiting callers impatient, because one of their tasks was cancelled.
    mutating func hurry() {
        for index in waiters.indices { waiters[index].isPatient = false }
    }

    /// Removes and returns the callers that wait for `count` or less.
    mutating func takeWaiters(through count: Int) -> [CheckedContinuation<Outcome, Never>] {
        let ready = waiters.filter { $0.count <= count }
        waiters.removeAll { $0.count <= count }
        return ready.map(\.continuation)
    }

    /// Whether to wake the sleeping syncing thread, after a record was added and `count` results are unsynced.
    mutating func mustWake(isFirst: Bool, count: Int) -> Bool {
        guard isAsleep, isFirst || count >= resultCount else { return false }
        isAsleep = false
        return true
    }

    /// Returns the next action of the syncing thread, with `count` results unsynced, the oldest since `dirty`.
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
