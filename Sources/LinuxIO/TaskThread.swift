import CLinux
import Synchronization

/// The thread for tasks that no actor's thread runs, in place of libdispatch's pool.
///
/// libdispatch wakes up once a second to maintain its pool, from the first task on and as long as the process lives. Where
/// each actor has a thread of its own, tasks only begin in the pool and pass through it, and one thread is enough.
package enum TaskThread {
    private static let worker = Mutex<WorkerThread?>(nil)

    /// Starts the thread. Call it at most once, and before the first task.
    ///
    /// - Throws: `SystemError` (EMFILE, EAGAIN): the process has no descriptor or no thread left.
    package static func start() throws(SystemError) {
        let started = try WorkerThread(name: "tasks")
        worker.withLock { $0 = started }
        unsafe clinux_take_tasks { task in
            let worker = TaskThread.worker.withLock { $0 }
            unsafe worker?.enqueue(ExecutorJob(unsafeBitCast(task, to: UnownedJob.self)))
        }
    }
}
