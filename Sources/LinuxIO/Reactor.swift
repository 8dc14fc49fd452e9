import Glibc
import Synchronization

/// The thread for all sockets: it runs actors' jobs and waits for descriptors and deadlines.
///
/// An actor moves there by returning `asUnownedSerialExecutor()` as its `unownedExecutor`. Several actors may do so;
/// they then call each other without a thread change. Code on a reactor must not block. The thread retains its reactor,
/// which therefore lives until `stop()`. Idle descriptors cost nothing: one epoll_wait(2) covers all of them.
package final class Reactor: SerialExecutor {
    let inbox: ReactorInbox
    let loop: ReactorLoop
    /// The handle of the loop's thread; 0 until it runs.
    private let threadNumber = Atomic<UInt>(0)
    private let thread = Mutex<SystemThread?>(nil)

    /// Starts the thread.
    ///
    /// - Parameter name: the name that `top -H` shows, at most 15 bytes.
    /// - Throws: `SystemError`: no descriptor or no thread left.
    package init(name: String = "reactor") throws(SystemError) {
        inbox = try ReactorInbox()
        loop = try ReactorLoop(inbox: inbox)
        let started = try SystemThread.start(name: name) { [self] in
            threadNumber.store(pthread_self(), ordering: .relaxed)
            unsafe loop.run(on: asUnownedSerialExecutor())
        }
        thread.withLock { $0 = started }
    }

    /// Ends every wait with `.cancelled` and every sleep with `CancellationError`, runs the queued jobs, and blocks
    /// until the thread has ended. Idempotent. Must not be called on the reactor itself.
    ///
    /// Call it once no task runs here any more: a job enqueued later never runs.
    package func stop() {
        let running = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let running else { return }
        inbox.post(.stop)
        running.join()
    }

    /// Whether the caller runs on the reactor's thread.
    package var isCurrent: Bool { threadNumber.load(ordering: .relaxed) == pthread_self() }

    /// Queues a job. Thread-safe. Called by the Swift runtime.
    package func enqueue(_ job: consuming ExecutorJob) {
        inbox.post(UnownedJob(job))
    }

    /// This executor for an actor's `unownedExecutor`, so that the actor needs no `unsafe`. The actor must retain the reactor.
    @safe package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Traps unless the caller runs on this reactor. Called by the Swift runtime (`assumeIsolated`, `preconditionIsolated`).
    package func checkIsolated() {
        precondition(isCurrent, "must run on the reactor's thread")
    }

    /// Whether the caller runs on this reactor. Called by the Swift runtime.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
