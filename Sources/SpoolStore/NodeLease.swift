import LinuxIO
package import PushModel
import Synchronization

/// The time until which a node of a cluster may act on its jobs. Any thread may ask, at the cost of reading a clock.
///
/// A heartbeat that began at *t* and succeeded makes it valid until *t* plus its length, even if the call took long.
/// The clock also counts while the host is suspended. Another node waits this length, which is in the mark, after it has
/// taken the lock.
package final class NodeLease: Sendable {
    /// For how long a heartbeat counts.
    package let length: Duration
    private let end = Atomic<Int64>(.min)
    private let isLost = Atomic(false)

    /// Creates a lease that is not valid yet.
    package init(length: Duration) {
        self.length = length
    }

    /// Whether the node may act at this moment.
    package var isValid: Bool { BootClock.nanoseconds() < end.load(ordering: .acquiring) }

    /// Makes the lease valid, counted from the moment before the call that proved it. Has no effect after `lose`.
    package func renew(from start: Moment) {
        end.store((start + length).nanoseconds, ordering: .releasing)
        // `lose` may have come in between.
        if isLost.load(ordering: .sequentiallyConsistent) { end.store(.min, ordering: .sequentiallyConsistent) }
    }

    /// Ends the lease for good: the jobs are, or may be, another node's.
    package func lose() {
        isLost.store(true, ordering: .sequentiallyConsistent)
        end.store(.min, ordering: .sequentiallyConsistent)
    }
}
