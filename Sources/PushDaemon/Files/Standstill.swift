import APNSModel
import LinuxIO

/// Notices that a thread does not come back from one piece of work.
struct Standstill: Sendable {
    /// How long one piece of work takes at most where a filesystem answers at all.
    static let limit = Duration.seconds(10)

    private var pulse: WorkerThread.Pulse?
    private var since = Moment.zero
    /// When it came to a standstill, if it has.
    private(set) var begin: Moment?

    /// Takes what a look has found.
    ///
    /// - Returns: whether it has begun or ended with this look.
    mutating func note(_ new: WorkerThread.Pulse, at now: Moment) -> Bool {
        let wasStuck = begin != nil
        if new != pulse || !new.isAtWork {
            (pulse, since, begin) = (new, now, nil)
        } else if now >= since + Self.limit {
            begin = since
        }
        return wasStuck != (begin != nil)
    }
}
