/// What the reactor knows about one waiter: readiness seen so far, and who waits for what.
///
/// It is also the executor of its waiter's `Gate`: a task that enters the gate is handed here as a job, and being kept
/// until the wait ends is what suspends it. (A continuation would do, but the runtime resumes those on a thread of the
/// pool, from where the task must come back: two changes of thread for each wait.)
///
/// Unchecked because it is touched by the reactor's thread alone: others only post it to the inbox.
@safe final class Registration: DeadlineEntry, SerialExecutor, @unchecked Sendable {
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
    /// Whether a wait has begun that has not been settled.
    private var isWaiting = false
    /// Whether that wait lets others go first: its end comes behind all that the loop finds in one look.
    private(set) var isYielding = false
    /// The waiting task, once it has come to the gate.
    private var parked: UnownedJob?
    private var result: Readiness = []
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
        precondition(!isWaiting && parked == nil, "one task at a time waits for a descriptor")
        waitNumber += 1
        self.interest = interest
        let found = found
        guard !found.isEmpty else { return nil }
        burst = burst.turn == turn ? (turn, burst.count + 1) : (turn, 1)
        guard burst.count <= Self.burstLimit else { return nil }
        isWoken = false
        return found
    }

    /// Begins a wait that ends by itself, when the loop has had its turn.
    func beginYield() {
        precondition(!isWaiting && parked == nil, "one task at a time waits for a descriptor")
        waitNumber += 1
        isWoken = true
    }

    /// What a wait for `interest` would find now, without waiting.
    func takeFound(for interest: Readiness) -> Readiness {
        precondition(!isWaiting && parked == nil, "one task at a time waits for a descriptor")
        self.interest = interest
        defer { isWoken = false }
        return found
    }

    /// Makes the wait begun last one that has to be settled. If it would end at once, it gives others a turn first.
    func suspend() {
        isWaiting = true
        isYielding = !found.isEmpty
    }

    /// Takes the task that enters the gate; for the Swift runtime, on the reactor's thread.
    func enqueue(_ job: consuming ExecutorJob) {
        parked = UnownedJob(job)
        if !isWaiting { release() }
    }

    /// The outcome of the wait settled last, for the gate. Forgets it: if nothing happened in the gate, and nobody asked for the
    /// outcome, the compiler would leave out the way through it, and with it the wait.
    func takeResult() -> Readiness {
        defer { result = [] }
        return result
    }

    /// Ends a wait that has let others go first.
    func settleYield() {
        isYielding = false
        settleIfFound()
    }

    /// Ends the wait if what it is for has been found.
    private func settleIfFound() {
        if !isYielding, !found.isEmpty { settle([]) }
    }

    /// Ends the wait, if there is one, with what was found and `extra`.
    func settle(_ extra: Readiness) {
        guard isWaiting else { return }
        (isWaiting, isYielding) = (false, false)
        result = found.union(extra)
        isWoken = false
        loop.deadlines.remove(self)
        if parked != nil { release() }
    }

    /// Lets the parked task pass the gate, from the loop: it must not run inside another job.
    private func release() {
        guard let job = parked else { return }
        parked = nil
        loop.release(job, from: self)
    }

    override func deadlinePassed() {
        settle(.timedOut)
    }

    private var found: Readiness {
        let state = ready.intersection(interest.union(.hangup))
        return isWoken ? state.union(.woken) : state
    }
}

/// Where a task waits: entering it suspends the task until its registration is settled.
actor Gate {
    private let registration: Registration

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe registration.asUnownedSerialExecutor() }

    init(_ registration: Registration) {
        self.registration = registration
    }

    /// Suspends until the wait is settled; returns what it found.
    func pass() -> Readiness { registration.takeResult() }
}
