/// What the reactor knows about one waiter: readiness seen so far, and who waits for what.
///
/// Unchecked because it is touched by the reactor's thread alone: others only post it to the inbox.
final class Registration: DeadlineEntry, @unchecked Sendable {
    private unowned let loop: ReactorLoop
    /// Its number in the loop's table and in epoll's events.
    let tag: UInt64
    /// What the descriptor was ready for when epoll last said so and nobody found otherwise since.
    private(set) var ready: Readiness = []
    /// Whether the peer has ended its stream: that makes no second edge, so a short read must not hide it.
    private var hasStreamEnded = false
    /// How often a wait returned without suspending in one turn of the loop.
    private var burst = (turn: UInt64(0), count: 0)
    private var isWoken = false
    private var interest: Readiness = []
    private var continuation: CheckedContinuation<Readiness, Never>?
    private(set) var waitNumber: UInt64 = 0

    /// An entry for the loop's table, which the loop makes.
    init(loop: ReactorLoop, tag: UInt64) {
        self.loop = loop
        self.tag = tag
    }

    /// Waits in a row that may return without giving other tasks a turn.
    private static let burstLimit = 16

    /// Notes what epoll saw; ends the wait if it was for that.
    func noteEvents(_ events: Readiness, streamEnded: Bool) {
        ready.formUnion(events)
        if streamEnded { hasStreamEnded = true }
        settleIfFound()
    }

    /// Notes that a system call found the descriptor not ready after all.
    func noteExhausted(_ kinds: Readiness) {
        if !ready.contains(.hangup) { ready.subtract(kinds) }
    }

    /// Notes that a read took all the bytes there were, which leaves the end of the stream if that has come.
    func noteShortRead() {
        if !hasStreamEnded { noteExhausted(.readable) }
    }

    /// Ends the present wait, or the next one at once.
    func wake() {
        isWoken = true
        settleIfFound()
    }

    /// Begins a wait: returns its result if it is known and the loop has had its turn, else `nil` and a suspension
    /// must follow.
    func beginWait(for interest: Readiness, turn: UInt64) -> Readiness? {
        precondition(continuation == nil, "one task at a time waits for a descriptor")
        waitNumber += 1
        self.interest = interest
        let found = found
        guard !found.isEmpty else { return nil }
        burst = burst.turn == turn ? (turn, burst.count + 1) : (turn, 1)
        guard burst.count <= Self.burstLimit else { return nil }
        isWoken = false
        return found
    }

    /// What a wait for `interest` would find now, without waiting.
    func takeFound(for interest: Readiness) -> Readiness {
        precondition(continuation == nil, "one task at a time waits for a descriptor")
        self.interest = interest
        defer { isWoken = false }
        return found
    }

    /// Whether the wait that begins would end at once but has to give others a turn first.
    var mustYield: Bool { !found.isEmpty }

    /// Suspends the wait begun last.
    func suspend(_ waiting: CheckedContinuation<Readiness, Never>) {
        continuation = waiting
    }

    /// Ends the wait if what it is for has been found.
    func settleIfFound() {
        if !found.isEmpty { settle([]) }
    }

    /// Ends the wait, if there is one, with what was found and `extra`.
    func settle(_ extra: Readiness) {
        guard let waiting = continuation else { return }
        continuation = nil
        let result = found.union(extra)
        isWoken = false
        loop.deadlines.remove(self)
        waiting.resume(returning: result)
    }

    override func deadlinePassed() {
        settle(.timedOut)
    }

    private var found: Readiness {
        let state = ready.intersection(interest.union(.hangup))
        return isWoken ? state.union(.woken) : state
    }
}
