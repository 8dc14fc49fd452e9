import CLinux
import Synchronization

/// The thread for tasks that no actor's thread runs, in place of libdispatch's pool.
///
/// libdispatch wakes up once a second to maintain its pool, from the first task on and as long as the process lives. Where
/// each actor has a thread of its own, tasks only begin in the pool and pass through it, and one thread is enough.
package enum TaskThread {
    private static let worker = Mutex<WorkerThread?>(nil)
    private static let isBypassed = Atomic(false)

    /// Starts the thread. Call it at most once, and before the first task.
    ///
    /// - Throws: `SystemError` (EMFILE, EAGAIN): the process has no descriptor or no thread left.
    package static func start() throws(SystemError) {
        let started = try WorkerThread(name: "tasks")
        worker.withLock { $0 = started }
        unsafe clinux_take_tasks { task in
            if TaskThread.isBypassed.load(ordering: .relaxed) { return unsafe clinux_run_task(task) }
            let worker = TaskThread.worker.withLock { $0 }
            unsafe worker?.enqueue(ExecutorJob(unsafeBitCast(task, to: UnownedJob.self)))
        }
    }

    /// Meanwhile runs tasks on the thread that starts or resumes them, until they reach an actor's thread.
    ///
    /// The runtime resumes every continuation outside its actor, so that this thread would only pass it on, at the price
    /// of two thread changes (Swift 6.3). Only for work that is an actor's: all other runs within the call that resumes it,
    /// which must not be a cancellation handler then.
    ///
    /// - Throws: What `body` throws.
    package static func bypassed<Value, Failure>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        isBypassed.store(true, ordering: .relaxed)
        defer { isBypassed.store(false, ordering: .relaxed) }
        return try await body()
    }
}
