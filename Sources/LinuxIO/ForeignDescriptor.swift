import Glibc

/// A descriptor of a C library that is watched on a reactor. The library owns it, and must close it after this is released.
///
/// Belongs to one actor on the reactor. Only that actor may call it.
package final class ForeignDescriptor {
    private let number: Int32
    /// Where its owner is woken.
    package let waiter: Waiter

    /// Watches an open descriptor.
    ///
    /// - Throws: `SystemError`: a limit is reached.
    package init(_ number: Int32, on reactor: Reactor) throws(SystemError) {
        waiter = try Waiter(on: reactor, watching: number)
        self.number = number
    }

    deinit {
        waiter.unwatch(number)
    }

    /// Waits until the descriptor can be read, `waiter.wake()` is called, the deadline passes, or the task is cancelled.
    ///
    /// Asks the kernel first: the library may have left something unread.
    package func waitUntilReadable(until deadline: ContinuousClock.Instant?) async -> Readiness {
        if isReadable {
            await waiter.yield()
            return Task.isCancelled ? [.readable, .cancelled] : .readable
        }
        waiter.noteExhausted(.readable)
        return await waiter.wait(for: .readable, until: deadline)
    }

    private var isReadable: Bool {
        var query = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&query, 1, 0) > 0
    }
}
