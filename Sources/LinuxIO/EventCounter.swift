import CLinux
import Glibc

/// An eventfd(2) counter with which one thread wakes another that sleeps in poll(2) or read(2).
package struct EventCounter: ~Copyable, Sendable {
    let descriptor: Descriptor

    /// Creates a counter without signals.
    ///
    /// - Throws: `SystemError`, usually EMFILE.
    package init() throws(SystemError) {
        let number = clinux_eventfd()
        descriptor = try Descriptor(opened: number, "eventfd")
    }

    /// Wakes the sleeping thread, or makes its next sleep end at once.
    package borrowing func signal() {
        var one: UInt64 = 1
        // Fails only if 2^64-2 signals are pending, and then the thread wakes up anyway.
        _ = unsafe write(descriptor.rawValue, &one, 8)
    }

    /// Sleeps until a signal, and consumes all signals given so far.
    package borrowing func wait() {
        var count: UInt64 = 0
        while unsafe read(descriptor.rawValue, &count, 8) < 0, errno == EINTR {}
    }

    /// Sleeps until a signal, or until the deadline or up to a millisecond later; `nil` waits without limit.
    package borrowing func wait(until deadline: ContinuousClock.Instant?) {
        guard let deadline else { return wait() }
        while true {
            let rest = (deadline - .now) / .milliseconds(1)
            guard rest > 0 else { return }
            let found = clinux_wait_readable_until(descriptor.rawValue, Int32(clamping: Int64(min(rest, 1e9)) + 1))
            // A signal is pending: this consumes it and returns at once.
            if found > 0 { return wait() }
        }
    }
}
