import Document
import LinuxIO
import SpoolModel
import SpoolStore
import Synchronization

/// A file being read, and made durable, on a thread of its own, so that no app waits for another's document.
///
/// The thread ends with the file.
final class LongReading: Sendable {
    private let outcome: Outcome
    private let isAbandoned: StopFlag
    private let bell: Bell
    private let alarm: Alarm

    /// Starts to read a file to its end.
    ///
    /// - Parameters:
    ///   - job: The file.
    ///   - context: What reading it needs to know.
    ///   - isLimited: Whether it has a budget; a file that was read before has none.
    ///   - reactor: What keeps the time of waits.
    /// - Throws: `SystemError` (EAGAIN): the process or the host has no thread left.
    init(_ job: OpenJob, _ context: JobContext, isLimited: Bool, on reactor: Reactor) throws(SystemError) {
        let (flag, bell, outcome) = (StopFlag(), Bell(on: reactor), Outcome())
        (isAbandoned, self.bell, self.outcome) = (flag, bell, outcome)
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
            bell.ring()
        }
        thread.detach()
    }

    /// What came of it; `nil` while it goes on, and once it was taken.
    func take() -> Result<JobSource.Reading, SystemError>? { outcome.take() }

    /// Waits for the end, a little while at most.
    func wait() async {
        await bell.wait(until: .now + Self.pause)
    }

    /// Has the thread end at its next step, and waits for that, also in a task that is cancelled: it is to do nothing any more
    /// when the daemon is gone. One that hangs in a read is not waited for long.
    func abandon() async {
        isAbandoned.set()
        await outcome.wait(until: .now + Self.patience, alarm)
    }

    /// How long the app does nothing else before it looks for short files again.
    private static let pause = Duration.milliseconds(10)
    /// How long an abandoned reading is waited for.
    private static let patience = Duration.seconds(2)
}

/// What a reading leaves behind, and who waits for that.
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

    /// Waits until there is a result, or the time is up.
    func wait(until deadline: ContinuousClock.Instant, _ alarm: Alarm) async {
        await withCheckedContinuation { waiter in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiter = waiter }
                return state.isOver
            }
            if isOver { waiter.resume() } else if !alarm.set(to: deadline) { endWait() }
        }
    }

    /// Has the one who waits go on.
    func endWait() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}

/// Tells another thread, or a budget, that it is to end.
final class StopFlag: Sendable {
    private let flag = Atomic(false)

    /// Whether it is.
    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() {
        flag.store(true, ordering: .relaxed)
    }
}

extension ReadingBudget {
    /// The budget of a file that the calling thread reads from now on.
    static func ofThisThread(for job: OpenJob) -> ReadingBudget {
        let start = ThreadClock.nanoseconds()
        return ReadingBudget(byteCount: Int(clamping: job.status.byteCount)) {
            .nanoseconds(ThreadClock.nanoseconds() - start)
        }
    }
}
