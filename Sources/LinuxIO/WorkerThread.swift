import Synchronization

/// A thread of its own for an actor whose work blocks: file calls, name look-ups.
///
/// An actor returns its `executor` as `unownedExecutor`, and keeps it alive. Work runs in the order it came in. It
/// lives until `stop()`, which the owner must call: the thread itself holds a reference.
package final class WorkerThread: SerialExecutor {
    private let inbox: Inbox
    private let aside: Aside
    private let finishedCount = Atomic(0)

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
        Pulse(finishedCount: finishedCount.load(ordering: .relaxed), isAtWork: !inbox.isSleeping)
    }

    /// Starts the thread; the kernel shows the first 15 bytes of `name`, for example in `top -H`.
    ///
    /// - Throws: `SystemError` (EMFILE, EAGAIN): the process has no descriptor or no thread left.
    package init(name: String) throws(SystemError) {
        inbox = try Inbox()
        aside = Aside(AsideExecutor(inbox))
        let thread = try SystemThread.start(name: name) { [self] in serve() }
        inbox.keep(thread)
    }

    /// Adds one piece of work. After `stop()` this is a programming error and traps.
    package func enqueue(_ job: consuming ExecutorJob) {
        inbox.add(UnownedJob(job), isAside: false)
    }

    /// Lets what is queued go first, in a task that runs on this thread. `Task.yield()`, and any continuation, would go by
    /// way of a thread of the pool: two changes of thread.
    package func yield() async {
        await aside.pass()
    }

    /// What an actor returns as its `unownedExecutor`; the actor must keep this thread alive.
    @safe package var executor: UnownedSerialExecutor {
        unsafe asUnownedSerialExecutor()
    }

    /// Whether the caller runs on this thread; the runtime asks when isolation is asserted.
    package func isIsolatingCurrentContext() -> Bool? {
        inbox.thread?.isCurrent
    }

    /// Lets the thread finish what is queued, and waits for its end. Blocks; not to be called on the thread itself. A
    /// second call returns at once.
    package func stop() {
        inbox.close()?.join()
    }

    private func serve() {
        while let work = inbox.take() {
            for job in work.jobs {
                unsafe job.runSynchronously(on: asUnownedSerialExecutor())
                finishedCount.add(1, ordering: .relaxed)
            }
            // Each runs just up to its return to the queue.
            for job in work.yielding { unsafe job.runSynchronously(on: aside.unownedExecutor) }
            if work.isEmpty { inbox.sleep() }
        }
    }
}

/// What a thread has to do.
private final class Inbox: Sendable {
    /// What is taken at a time.
    struct Work {
        var jobs: [UnownedJob] = []
        /// Tasks that let others go first.
        var yielding: [UnownedJob] = []

        var isEmpty: Bool { jobs.isEmpty && yielding.isEmpty }
    }

    private struct State {
        var work = Work()
        var isSleeping = false
        var isStopping = false
        var thread: SystemThread?
    }

    private let state = Mutex(State())
    private let wakeUp: WakeUp

    init() throws(SystemError) {
        wakeUp = try WakeUp()
    }

    /// Whether the thread has nothing to do.
    var isSleeping: Bool { state.withLock(\.isSleeping) }

    /// The thread, until it is asked to end.
    var thread: SystemThread? { state.withLock(\.thread) }

    func keep(_ thread: SystemThread) {
        state.withLock { $0.thread = thread }
    }

    /// Adds one piece of work, or a task that yields.
    func add(_ job: UnownedJob, isAside: Bool) {
        let mustWake = state.withLock { state in
            precondition(!state.isStopping, "work for a stopped worker thread")
            if isAside { state.work.yielding.append(job) } else { state.work.jobs.append(job) }
            defer { state.isSleeping = false }
            return state.isSleeping
        }
        if mustWake { wakeUp.signal() }
    }

    /// What is queued, nothing if the thread must sleep, `nil` if it must end.
    func take() -> Work? {
        state.withLock { state in
            let work = state.work
            state.work = Work()
            state.isSleeping = work.isEmpty
            return work.isEmpty && state.isStopping ? nil : work
        }
    }

    func sleep() {
        wakeUp.wait()
    }

    /// Takes no more; returns the thread, once.
    func close() -> SystemThread? {
        defer { wakeUp.signal() }
        return state.withLock { state in
            defer { state.thread = nil }
            state.isStopping = true
            return state.thread
        }
    }
}

/// Where a task goes that yields: entering suspends it until the thread comes to it.
private actor Aside {
    private let executor: AsideExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ executor: AsideExecutor) {
        self.executor = executor
    }

    /// Counts: the compiler leaves out the way to an actor that does nothing, and with it the wait.
    func pass() {
        executor.passCount.add(1, ordering: .relaxed)
    }
}

/// Hands those who yield to their thread.
private final class AsideExecutor: SerialExecutor {
    private let inbox: Inbox
    /// How many tasks have been through.
    let passCount = Atomic(0)

    init(_ inbox: Inbox) {
        self.inbox = inbox
    }

    func enqueue(_ job: consuming ExecutorJob) {
        inbox.add(UnownedJob(job), isAside: true)
    }
}
