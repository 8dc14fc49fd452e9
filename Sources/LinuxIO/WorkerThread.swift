import Synchronization

/// A thread of its own for an actor whose work blocks: file calls, name look-ups.
///
/// An actor returns its `executor` as `unownedExecutor`, and keeps it alive. Work runs in the order it came in. It
/// lives until `stop()`, which the owner must call: the thread itself holds a reference.
package final class WorkerThread: SerialExecutor {
    private struct Inbox {
        var jobs: [UnownedJob] = []
        var isSleeping = false
        var isStopping = false
        var thread: SystemThread?
    }

    private let inbox = Mutex(Inbox())
    private let finishedCount = Atomic(0)
    private let wakeUp: WakeUp

    /// How far a thread has come.
    package struct Pulse: Hashable, Sendable {
        /// How many pieces of work are done.
        package let finishedCount: Int
        /// Whether there is one under way.
        package let isAtWork: Bool

        /// Creates a pulse.
        package init(finishedCount: Int, isAtWork: Bool) {
            (self.finishedCount, self.isAtWork) = (finishedCount, isAtWork)
        }
    }

    /// How far it has come: if that is the same some time later, and it is at work, one piece has taken all the time.
    package var pulse: Pulse {
        let isAtWork = inbox.withLock { !$0.isSleeping }
        return Pulse(finishedCount: finishedCount.load(ordering: .relaxed), isAtWork: isAtWork)
    }

    /// Starts the thread; the kernel shows the first 15 bytes of `name`, for example in `top -H`.
    ///
    /// - Throws: `SystemError` (EMFILE, EAGAIN): the process has no descriptor or no thread left.
    package init(name: String) throws(SystemError) {
        wakeUp = try WakeUp()
        let thread = try SystemThread.start(name: name) { [self] in serve() }
        inbox.withLock { $0.thread = thread }
    }

    /// Adds one piece of work. After `stop()` this is a programming error and traps.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = inbox.withLock { inbox in
            precondition(!inbox.isStopping, "work for a stopped worker thread")
            inbox.jobs.append(job)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if mustWake { wakeUp.signal() }
    }

    /// What an actor returns as its `unownedExecutor`; the actor must keep this thread alive.
    @safe package var executor: UnownedSerialExecutor {
        unsafe asUnownedSerialExecutor()
    }

    /// Whether the caller runs on this thread; the runtime asks when isolation is asserted.
    package func isIsolatingCurrentContext() -> Bool? {
        inbox.withLock { $0.thread }?.isCurrent
    }

    /// Lets the thread finish what is queued, and waits for its end. Blocks; not to be called on the thread itself. A
    /// second call returns at once.
    package func stop() {
        let thread = inbox.withLock { inbox in
            defer { inbox.thread = nil }
            inbox.isStopping = true
            return inbox.thread
        }
        wakeUp.signal()
        thread?.join()
    }

    private func serve() {
        while let jobs = takeJobs() {
            for job in jobs {
                unsafe job.runSynchronously(on: asUnownedSerialExecutor())
                finishedCount.add(1, ordering: .relaxed)
            }
            if jobs.isEmpty { wakeUp.wait() }
        }
    }

    /// What is queued, empty if the thread must sleep, `nil` if it must end.
    private func takeJobs() -> [UnownedJob]? {
        inbox.withLock { inbox in
            let jobs = inbox.jobs
            inbox.jobs = []
            inbox.isSleeping = jobs.isEmpty
            return jobs.isEmpty && inbox.isStopping ? nil : jobs
        }
    }
}
