import CLinux
import Glibc

/// A POSIX thread with a name that `top -H` and debuggers show.
///
/// The executors (`Reactor`, `WorkerThread`) run on such threads. A few blocking calls, such as name lookups and
/// reading inotify events, have a thread of their own.
package struct SystemThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread that runs `body` to its end.
    ///
    /// - Parameters:
    ///   - name: at most 15 bytes; a longer name is cut.
    ///   - body: the code to run. Retains its captures until it returns.
    /// - Returns: the thread, to be joined or detached.
    /// - Throws: `SystemError` (EAGAIN): the process or the host has no thread left.
    package static func start(name: String, body: @escaping @Sendable () -> Void) throws(SystemError) -> SystemThread {
        let box = unsafe Unmanaged.passRetained(ThreadBody(name: String(name.prefix(15)), run: body))
        var handle = pthread_t()
        let code = unsafe pthread_create(
            &handle, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
                unsafe clinux_name_this_thread(body.name)
                body.run()
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            unsafe box.release()
            throw SystemError(code: code, operation: "pthread_create", subject: name)
        }
        return SystemThread(handle: handle)
    }

    /// Blocks the calling thread for this time, by poll(2) without descriptors: a signal may end it early. For threads on
    /// which nothing else waits.
    ///
    /// - Parameter milliseconds: at least 0.
    package static func sleep(milliseconds: Int32) {
        _ = poll(nil, 0, milliseconds)
    }

    /// Whether the calling thread is this one.
    package var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Blocks until the thread has ended. Call exactly one of `join` and `detach`, once.
    package func join() {
        precondition(!isCurrent, "a thread cannot wait for its own end")
        let code = pthread_join(handle, nil)
        precondition(code == 0, "pthread_join failed with \(code)")
    }

    /// Lets the thread end by itself, without a join.
    package func detach() {
        let code = pthread_detach(handle)
        precondition(code == 0, "pthread_detach failed with \(code)")
    }
}

/// The arguments of a new thread, passed as one pointer.
private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}
