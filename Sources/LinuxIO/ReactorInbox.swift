import CLinux
import Synchronization

/// The queue from other threads to a reactor: jobs, requests, and the wakeup that wakes the loop.
final class ReactorInbox: Sendable {
    /// A request that only the reactor's thread may carry out.
    enum Request: Sendable {
        case startSleep(Sleep, CheckedContinuation<Void, any Error>, until: ContinuousClock.Instant)
        case cancelSleep(Sleep)
        case setAlarm(AlarmEntry, until: ContinuousClock.Instant)
        case wake(Registration)
        case cancelWait(Registration, number: UInt64)
        case retire(Registration)
        case stop
    }

    fileprivate struct State {
        var jobs: [UnownedJob] = []
        var requests: [Request] = []
        var isAsleep = false
        /// When the loop wakes up by itself; `nil` for never.
        var awakeAt: ContinuousClock.Instant?
        var isClosed = false
    }

    private let state = Mutex(State())
    /// The eventfd that the loop watches edge-triggered. Every write is an edge, so it never needs to be read.
    let wakeup: Descriptor

    init() throws(SystemError) {
        let raw = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard raw >= 0 else { throw .last("eventfd") }
        wakeup = Descriptor(adopting: raw)
    }

    /// Queues a job. Rings only if the loop sleeps, so a busy loop costs no system call.
    func post(_ job: UnownedJob) {
        let mustRing = state.withLock { state in
            assert(!state.isClosed, "a job came to a reactor that has stopped: stop it after its last task")
            state.jobs.append(job)
            return state.stopSleeping()
        }
        if mustRing { ring() }
    }

    /// Queues a request. Returns `false` if the reactor has stopped; the request is not carried out then.
    @discardableResult
    func post(_ request: Request) -> Bool {
        let (isTaken, mustRing) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            state.requests.append(request)
            return (true, state.isInTime(for: request) ? false : state.stopSleeping())
        }
        if mustRing { ring() }
        return isTaken
    }

    /// Moves everything queued into the given arrays, which must be empty. Reuses their storage.
    func take(jobs: inout [UnownedJob], requests: inout [Request]) {
        state.withLock { state in
            swap(&state.jobs, &jobs)
            swap(&state.requests, &requests)
        }
    }

    /// Marks the loop as asleep until `awakeAt` at the latest. Returns `false` if work is queued; the loop must not
    /// sleep then.
    func fallAsleep(until awakeAt: ContinuousClock.Instant?) -> Bool {
        state.withLock { state in
            state.isAsleep = state.jobs.isEmpty && state.requests.isEmpty
            state.awakeAt = awakeAt
            return state.isAsleep
        }
    }

    /// Marks the loop as awake after any wakeup.
    func awaken() {
        state.withLock { $0.isAsleep = false }
    }

    /// Refuses all posts from now on. If work is queued, returns `false` and stays open; the work comes first.
    func close() -> Bool {
        state.withLock { state in
            state.isClosed = state.jobs.isEmpty && state.requests.isEmpty
            return state.isClosed
        }
    }

    private func ring() {
        var one: UInt64 = 1
        // Fails only with EAGAIN after 2^64 unread rings, and signals do not interrupt a write to an eventfd.
        _ = unsafe write(wakeup.rawValue, &one, MemoryLayout<UInt64>.size)
    }
}

extension ReactorInbox.State {
    /// Whether the sleeping loop wakes up by itself early enough for the request: true for a deadline not before `awakeAt`.
    fileprivate func isInTime(for request: ReactorInbox.Request) -> Bool {
        guard isAsleep, let awakeAt else { return false }
        switch request {
        case .setAlarm(_, let deadline), .startSleep(_, _, let deadline): return awakeAt <= deadline
        case .cancelSleep, .wake, .cancelWait, .retire, .stop: return false
        }
    }

    /// Marks the loop as awake. Returns whether it slept.
    fileprivate mutating func stopSleeping() -> Bool {
        defer { isAsleep = false }
        return isAsleep
    }
}
