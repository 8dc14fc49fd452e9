import Document
import JobFormat
import JobOperations
import LinuxIO
import SpoolStore
import Synchronization

/// The reading of one file on its own thread, including its sync, so that no app waits for another app's document.
///
/// The thread ends with the reading.
final class LongReading: Sendable {
    private let outcome: Outcome
    private let isAbandoned: StopFlag
    private let wakeup: Wakeup
    private let alarm: Alarm

    /// Starts to read a file completely.
    ///
    /// - Parameters:
    ///   - job: The file.
    ///   - context: The context for reading it.
    ///   - isLimited: Whether reading has a budget. A file that was read before has none.
    ///   - reactor: The reactor that keeps the deadlines of waits.
    /// - Throws: `SystemError` (EAGAIN): the process or the host cannot start another thread.
    init(_ job: OpenJob, _ context: JobContext, isLimited: Bool, on reactor: Reactor) throws(SystemError) {
        let (flag, wakeup, outcome) = (StopFlag(), Wakeup(on: reactor), Outcome())
        (isAbandoned, self.wakeup, self.outcome) = (flag, wakeup, outcome)
        alarm = Alarm(on: reactor) { _ in
            outcome.endWait()
            return nil
        }
        let thread = try SystemThread.start(name: "reading") {
            let budget: ReadingBudget = isLimited ? .ofThisThread(for: job) : .unlimited
            outcome.set(
                Result { () throws(SystemError) in
                    let reading = try JobSource.read(job, context, within: budget.unless { flag.isSet })
                    if !flag.isSet { try reading.secure() }
                    return reading
                })
            wakeup.signal()
        }
        thread.detach()
    }

    /// Returns the result; `nil` while the reading is under way, and after the result was taken.
    func take() -> Result<JobSource.Reading, SystemError>? { outcome.take() }

    /// Waits until the reading ends, but only for a short time.
    func wait() async {
        await wakeup.wait(until: .now + Self.pause)
    }

    /// Stops the reading at its next step, and waits for that, also in a cancelled task: the thread must not outlive the
    /// daemon. The wait is short if the thread hangs in a read.
    func abandon() async {
        isAbandoned.set()
        await outcome.wait(until: .now + Self.patience, alarm)
    }

    /// How long the app waits before it looks for short files again.
    private static let pause = Duration.milliseconds(10)
    /// How long to wait for an abandoned reading.
    private static let patience = Duration.seconds(2)
}

/// The result of a reading, and the task that waits for it.
private final class Outcome: Sendable {
    private struct State {
        var result: Result<JobSource.Reading, SystemError>?
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func set(_ result: Result<JobSource.Reading, SystemError>) {
        state.withLock { ($0.result, $0.isOver) = (result, true) }
        endWait()
    }

    func take() -> Result<JobSource.Reading, SystemError>? {
        state.withLock { state in
            defer { state.result = nil }
            return state.result
        }
    }

    /// Waits until there is a result or the deadline passes.
    func wait(until deadline: ContinuousClock.Instant, _ alarm: Alarm) async {
        await withCheckedContinuation { waiter in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiter = waiter }
                return state.isOver
            }
            if isOver { waiter.resume() } else if !alarm.set(to: deadline) { endWait() }
        }
    }

    /// Resumes the waiting task.
    func endWait() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

/// Asks another thread, or a budget, to stop.
final class StopFlag: Sendable {
    private let flag = Atomic(false)

    /// Whether the flag is set.
    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() {
        flag.store(true, ordering: .relaxed)
    }
}
