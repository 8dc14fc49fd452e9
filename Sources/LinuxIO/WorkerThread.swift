import Synchronization

/// A dedicated thread for an actor whose work blocks: file calls, name lookups.
///
/// An actor returns its `executor` as `unownedExecutor` and retains the thread object. Work runs in order of arrival.
/// The thread retains its object, so the owner must call `stop()`.
package final class WorkerThread: SerialExecutor {
    private let inbox: Inbox
    private let aside: YieldActor
    private let finishedCount = Atomic(0)

    /// The progress of a worker thread.
    package struct Progress: Hashable, Sendable {
        /// How many pieces of work are done.
        package let finishedCount: Int
        /// Whether a piece of work is under way.
        package let isAtWork: Bool

        /// Creates a progress.
        package init(finishedCount: Int, isAtWork: Bool) {
            (self.finishedCount, self.isAtWork) = (finishedCount, isAtWork)
        }
    }

    /// The current progress. If two reads some time apart are equal and show the thread at work, one piece of work took
    /// all that time.
    package var progress: Progress {
        Progress(finishedCount: finishedCount.load(ordering: .relaxed), isAtWork: !inbox.isSleeping)
    }

    /// Starts the thread. The kernel shows the first 15 bytes of `name`, for example in `top -H`.
    ///
    /// - Throws: `SystemError` (EMFILE, EAGAIN): the process has no descriptor or no thread left.
    package init(name: String) throws(SystemError) {
        inbox = try Inbox()
        aside = YieldActor(YieldExecutor(inbox))
        let thread = try SystemThread.start(name: name) { [self] in serve() }
        inbox.keep(thread)
    }

    /// Adds one piece of work. After `stop()` this is a programming error and traps.
    package func enqueue(_ job: consuming ExecutorJob) {
        inbox.add(UnownedJob(job), isAside: false)
    }

    /// Lets queued work go first, in a task on this thread. `Task.yield()` would go through a thread of the pool, or,
    /// while ``TaskThread`` is bypassed, do nothing.
    package func yield() async {
        await aside.pass()
    }

    /// The executor to return as an actor's `unownedExecutor`. The actor must retain this thread.
    @safe package var executor: UnownedSerialExecutor {
        unsafe asUnownedSerialExecutor()
    }

    /// Whether the caller runs on this thread. The runtime calls this when isolation is asserted.
    package func isIsolatingCurrentContext() -> Bool? {
        inbox.thread?.isCurrent
    }

    /// Lets the thread finish its queue, and waits until it has ended. Blocks. Must not be called on the thread itself.
    /// A second call returns at once.
    package func stop() {
        inbox.close()?.join()
    }

    private func serve() {
        while let work = inbox.take() {
            for job in work.jobs {
                unsafe job.runSynchronously(on: asUnownedSerialExecutor())
                finishedCount.add(1, ordering: .relaxed)
            }
            // Each runs only up to its return to the queue.
            for job in work.yielding { unsafe job.runSynchronously(on: aside.unownedExecutor) }
            if work.isEmpty { inbox.sleep() }
        }
    }
}

/// The work queue of a thread.
private final class Inbox: Sendable {
    /// One batch of work.
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
    private let wakeUp: EventCounter

    init() throws(SystemError) {
        wakeUp = try EventCounter()
    }

    /// Whether the thread has no work.
    var isSleeping: Bool { state.withLock(\.isSleeping) }

    /// The thread, until it is asked to stop.
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

    /// Takes all queued work: an empty batch if the thread must sleep, `nil` if it must end.
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

    /// Accepts no more work. Returns the thread on the first call.
    func close() -> SystemThread? {
        defer { wakeUp.signal() }
        return state.withLock { state in
            defer { state.thread = nil }
            state.isStopping = true
            return state.thread
        }
    }
}

/// The actor that a yielding task enters. It stays suspended until the thread reaches it.
private actor YieldActor {
    private let executor: YieldExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ executor: YieldExecutor) {
        self.executor = executor
    }

    /// Counts, because the compiler would remove a call to an actor that does nothing, and with it the wait.
    func pass() {
        executor.passCount.add(1, ordering: .relaxed)
    }
}

/// Passes yielding tasks to their thread.
private final class YieldExecutor: SerialExecutor {
    private let inbox: Inbox
    /// How many tasks have passed.
    let passCount = Atomic(0)

    init(_ inbox: Inbox) {
        self.inbox = inbox
    }

    func enqueue(_ job: consuming ExecutorJob) {
        inbox.add(UnownedJob(job), isAside: true)
    }
}
