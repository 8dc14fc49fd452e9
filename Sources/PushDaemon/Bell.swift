package import LinuxIO
import Synchronization

/// Wakes one task that waits, from any thread, or at a deadline. A ring that nobody waits for is kept.
package actor Bell {
    private struct Wire {
        var waker: Waker?
        var hasRung = false
    }

    private let reactor: Reactor
    private let wire = Mutex(Wire())
    /// Made at the first wait: it must be born on the reactor.
    private var waiter: Waiter?

    /// Creates a bell whose waiting happens on the reactor.
    package init(on reactor: Reactor) {
        self.reactor = reactor
    }

    /// The reactor's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    /// Ends the present wait, or else the next one.
    package nonisolated func ring() {
        wire.withLock { wire in
            wire.waker?.wake()
            wire.hasRung = wire.waker == nil
        }
    }

    /// Waits for a ring, the deadline, or cancellation; one task at a time.
    package func wait(until deadline: ContinuousClock.Instant? = nil) async {
        let waiter = waiter ?? Waiter(on: reactor)
        if self.waiter == nil {
            self.waiter = waiter
            let waker = waiter.waker
            let hasRung = wire.withLock { wire in
                wire.waker = waker
                return wire.hasRung
            }
            if hasRung { return }
        }
        _ = await waiter.wait(until: deadline)
    }
}
