import Glibc

/// The reactor's state of one waiter: the readiness seen so far, and the waiting task with its interest.
///
/// It is also the executor of its waiter's `Gate`. A task that enters the gate arrives here as a job and stays
/// suspended because the job is kept until the wait ends. (A continuation would work, but the runtime resumes
/// continuations on a thread of the pool, from which the task must come back: two thread changes for each wait.)
///
/// Unchecked because only the reactor's thread touches it; other threads only post it to the inbox.
@safe final class Registration: DeadlineEntry, SerialExecutor, @unchecked Sendable {
    private unowned let loop: ReactorLoop
    /// The key in the loop's table and the tag of epoll's events.
    let tag: UInt64
    /// The last readiness that epoll reported, minus the kinds that system calls have since found exhausted.
    private(set) var ready: Readiness = []
    /// Whether the peer has ended its stream. This causes no second edge, so a short read must not hide it.
    private var hasStreamEnded = false
    /// Whether a read has taken all bytes since epoll last reported any.
    private(set) var isDrained = false
    private let descriptor: Int32?
    /// The low-water mark of a TCP connection, from which on it is readable (SO_RCVLOWAT, socket(7)), as it was last set.
    private var lowWater: Int32 = 1
    /// How many waits returned without suspending in the current turn of the loop.
    private var burst = (turn: UInt64(0), count: 0)
    private var isWoken = false
    private var interest: Readiness = []
    /// Whether a wait has begun and is not settled yet.
    private var isWaiting = false
    /// Whether that wait lets other tasks go first: it ends only after everything that the loop finds in one poll.
    private(set) var isYielding = false
    /// The waiting task, once it has entered the gate.
    private var parked: UnownedJob?
    private var result: Readiness = []
    private(set) var waitNumber: UInt64 = 0

    /// Creates an entry for the loop's table. Called by the loop only.
    init(loop: ReactorLoop, tag: UInt64, _ descriptor: Int32?) {
        (self.loop, self.tag, self.descriptor) = (loop, tag, descriptor)
    }

    /// How many consecutive waits may return without giving other tasks a turn.
    private static let burstLimit = 16

    /// Records events from epoll and ends a matching wait.
    func noteEvents(_ events: Readiness, streamEnded: Bool) {
        ready.formUnion(events)
        if events.contains(.readable) { isDrained = false }
        if streamEnded { hasStreamEnded = true }
        settleIfFound()
    }

    /// Records that a system call found the descriptor not ready.
    func noteExhausted(_ kinds: Readiness) {
        if !ready.contains(.hangup) { ready.subtract(kinds) }
    }

    /// Records that a read took all available bytes. If the stream has ended, its end can still be read.
    func noteShortRead() {
        guard !hasStreamEnded else { return }
        noteExhausted(.readable)
        isDrained = !ready.contains(.readable)
    }

    /// Sets how many bytes make the connection readable. If so many have come already, epoll reports them.
    func setLowWater(_ byteCount: Int) {
        var mark = Int32(clamping: byteCount)
        // A small difference is not worth a system call.
        guard mark == 1 ? lowWater > 1 : abs(mark - lowWater) > lowWater / 4, let descriptor else { return }
        let code = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &mark, socklen_t(MemoryLayout<Int32>.size))
        // If it is refused, each byte counts as before.
        if code == 0 { lowWater = mark }
    }

    /// Records that bytes may have arrived of which epoll has reported nothing.
    func noteGathered() { (ready, isDrained) = (ready.union(.readable), false) }

    /// Ends the current wait, or the next one at once.
    func wake() {
        isWoken = true
        settleIfFound()
    }

    /// Begins a wait. Returns its result if it is known and the burst limit allows it; else returns `nil`, and the
    /// caller must suspend.
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

    /// Begins a wait that ends by itself once the loop has had its turn.
    func beginYield() {
        precondition(!isWaiting && parked == nil, "one task at a time waits for a descriptor")
        waitNumber += 1
        isWoken = true
    }

    /// Returns the result that a wait for `interest` would have now, without waiting.
    func takeFound(for interest: Readiness) -> Readiness {
        precondition(!isWaiting && parked == nil, "one task at a time waits for a descriptor")
        self.interest = interest
        defer { isWoken = false }
        return found
    }

    /// Marks the wait just begun as waiting to be settled. If it could end at once, it lets other tasks run first.
    func suspend() {
        isWaiting = true
        isYielding = !found.isEmpty
    }

    /// Stores the task that enters the gate. Called by the Swift runtime on the reactor's thread.
    func enqueue(_ job: consuming ExecutorJob) {
        parked = UnownedJob(job)
        if !isWaiting { release() }
    }

    /// Returns the result of the last settled wait, for the gate, and clears it. Without this side effect the compiler
    /// could remove the call through the gate when the result is unused, and with it the wait.
    func takeResult() -> Readiness {
        defer { result = [] }
        return result
    }

    /// Ends a wait that has let other tasks run first.
    func settleYield() {
        isYielding = false
        settleIfFound()
    }

    /// Ends the wait if one of its conditions holds.
    private func settleIfFound() {
        if !isYielding, !found.isEmpty { settle([]) }
    }

    /// Ends the wait, if there is one, with the conditions that hold and `extra`.
    func settle(_ extra: Readiness) {
        guard isWaiting else { return }
        (isWaiting, isYielding) = (false, false)
        result = found.union(extra)
        isWoken = false
        loop.deadlines.remove(self)
        if parked != nil { release() }
    }

    /// Lets the parked task leave the gate. The loop runs it, because it must not run inside another job.
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

/// The actor in which a task waits. Entering it suspends the task until its registration is settled.
actor Gate {
    private let registration: Registration

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe registration.asUnownedSerialExecutor() }

    init(_ registration: Registration) {
        self.registration = registration
    }

    /// Suspends until the wait is settled, and returns its result.
    func pass() -> Readiness { registration.takeResult() }
}
