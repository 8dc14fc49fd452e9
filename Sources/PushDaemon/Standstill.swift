import APNSModel
import LinuxIO

/// Detects a thread that does not return from one piece of work.
struct Standstill: Sendable {
    /// The longest time that one piece of work takes on a filesystem that responds.
    static let limit = Duration.seconds(10)

    private var pulse: WorkerThread.Pulse?
    private var since = Moment.zero
    /// When the standstill began; `nil` if there is none.
    private(set) var begin: Moment?

    /// Takes a new sample of the thread's pulse.
    ///
    /// - Returns: Whether a standstill began or ended with this sample.
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
