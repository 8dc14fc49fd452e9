package import Logging
package import PushModel
import ServiceProcess
import Synchronization

/// The daemon's history of the wall clock, shared by all apps. Each pass of an app checks the clock.
package final class ClockWatch: Sendable {
    private let history = Mutex(ClockHistory())
    private let logger: Logger

    /// Creates the history, and checks the clock for the first time.
    package init(_ logger: Logger) {
        self.logger = logger
        look()
    }

    /// Compares the wall clock with the monotonic clock, and logs a step of the wall clock. Does not block.
    ///
    /// - Returns: The history so far.
    @discardableResult
    package func look() -> ClockHistory {
        let (time, moment) = Self.now()
        let (history, step) = history.withLock { history in
            let step = history.note(time, at: moment)
            return (history, step)
        }
        if let step {
            logger.notice(
                "the clock was set", metadata: [LogKey.step: "\(step)", LogKey.time: "\(time.rfc3339)"])
        }
        return history
    }

    /// Both clocks, read at nearly the same time: a delay between the two readings would look like a step.
    private static func now() -> (WallTime, Moment) {
        while true {
            let (before, time, after) = (Moment.now, WallTime.now, Moment.now)
            if after - before < ClockHistory.tolerance / 10 { return (time, after) }
        }
    }
}
