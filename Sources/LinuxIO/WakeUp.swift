import CLinux
import Glibc

/// An eventfd(2) counter with which one thread wakes another that sleeps in poll(2) or read(2).
struct WakeUp: ~Copyable, Sendable {
    let descriptor: Descriptor

    /// - Throws: `SystemError`, usually EMFILE.
    init() throws(SystemError) {
        let number = clinux_eventfd()
        guard number >= 0 else { throw .last("eventfd") }
        descriptor = Descriptor(adopting: number)
    }

    /// Wakes the sleeper, or lets its next sleep end at once.
    borrowing func signal() {
        var one: UInt64 = 1
        // Fails only when 2^64-2 signals are pending: then the sleeper wakes anyway.
        _ = unsafe write(descriptor.rawValue, &one, 8)
    }

    /// Sleeps until somebody signals, and takes all signals given so far.
    borrowing func wait() {
        var count: UInt64 = 0
        while unsafe read(descriptor.rawValue, &count, 8) < 0, errno == EINTR {}
    }
}
