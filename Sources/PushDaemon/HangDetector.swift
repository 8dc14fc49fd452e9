import LinuxIO
import PushModel

/// Detects a thread that does not return from one piece of work.
struct HangDetector: Sendable {
    /// The longest time that one piece of work takes on a filesystem that responds.
    static let limit = Duration.seconds(10)

    private var progress: WorkerThread.Progress?
    private var since = Moment.zero
    /// When the standstill began; `nil` if there is none.
    private(set) var begin: Moment?

    /// Takes a new sample of the thread's progress.
    ///
    /// - Returns: Whether a standstill began or ended with this sample.
    mutating func note(_ new: WorkerThread.Progress, at now: Moment) -> Bool {
        let wasStuck = begin != nil
        if new != progress || !new.isAtWork {
            (progress, since, begin) = (new, now, nil)
        } else if now >= since + Self.limit {
            begin = since
        }
        return wasStuck != (begin != nil)
    }
}
