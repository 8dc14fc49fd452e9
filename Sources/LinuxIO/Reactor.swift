import Glibc
import Synchronization

/// The thread on which all sockets live: it runs actors' jobs and waits for descriptors and deadlines.
///
/// An actor moves there by returning `asUnownedSerialExecutor()` as its `unownedExecutor`; several may, and then
/// call each other without a change of thread. Nothing on a reactor may block. The thread holds its reactor, which
/// therefore lives until `stop()`. Many descriptors cost nothing while they are idle: one epoll_wait(2) sleeps for all.
package final class Reactor: SerialExecutor {
    let inbox: ReactorInbox
    let loop: ReactorLoop
    /// The number of the loop's own thread, 0 until it runs.
    private let threadNumber = Atomic<UInt>(0)
    private let thread = Mutex<SystemThread?>(nil)

    /// Starts the thread.
    ///
    /// - Parameter name: what `top -H` shows, at most 15 bytes.
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

    /// Ends every wait with `.cancelled` and every sleep with `CancellationError`, runs what is queued, and blocks
    /// until the thread has ended. Idempotent, but never called on the reactor itself.
    ///
    /// Call it when no task runs here any more: a job that comes later is never run.
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

    /// Queues a job; thread-safe. For the Swift runtime.
    package func enqueue(_ job: consuming ExecutorJob) {
        inbox.post(UnownedJob(job))
    }

    /// This executor for an actor's `unownedExecutor`, without `unsafe` there; the actor must hold the reactor.
    @safe package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Traps unless the caller runs here. For the Swift runtime (`assumeIsolated`, `preconditionIsolated`).
    package func checkIsolated() {
        precondition(isCurrent, "must run on the reactor's thread")
    }

    /// Whether the caller runs here. For the Swift runtime.
    package func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
