import LinuxIO
import Synchronization

/// Runs blocking work on a thread of its own, and abandons the thread at a deadline, because a filesystem may hang and
/// the doctor has to report that.
enum AbandonableWork {
    /// Runs the work and waits for its result.
    ///
    /// - Parameters:
    ///   - reactor: The reactor to wait on; the caller must run on it.
    ///   - deadline: When to abandon unfinished work. Its thread ends by itself, or with the process.
    ///   - work: The work. It must be harmless if the process ends in the middle of it.
    /// - Returns: The result; `nil` at the deadline.
    /// - Throws: `SystemError`: no thread can be started; `CancellationError`.
    static func run<Value: Sendable>(
        on reactor: Reactor, until deadline: ContinuousClock.Instant, _ work: @escaping @Sendable () -> Value
    ) async throws -> Value? {
        let waiter = Waiter(on: reactor)
        let answer = Answer<Value>(waker: waiter.waker)
        let thread = try SystemThread.start(name: "doctor") { answer.set(work()) }
        thread.detach()
        while true {
            if let value = answer.value { return value }
            let found = await waiter.wait(until: deadline)
            if let value = answer.value { return value }
            if found.contains(.cancelled) { throw CancellationError() }
            if found.contains(.timedOut) { return nil }
        }
    }

    /// The place where the thread leaves its result.
    private final class Answer<Value: Sendable>: Sendable {
        private let state = Mutex<Value?>(nil)
        private let waker: Waker

        init(waker: Waker) {
            self.waker = waker
        }

        var value: Value? { state.withLock { $0 } }

        func set(_ value: Value) {
            state.withLock { $0 = value }
            waker.wake()
        }
    }
}

/// The file that a long operation is working on, so that a hang can be attributed to it.
final class CurrentFile: Sendable {
    private let state: Mutex<String>

    /// Creates the record with a first place.
    init(_ place: String) {
        state = Mutex(place)
    }

    /// The current place, or the last one before the operation hung.
    var place: String { state.withLock { $0 } }

    /// Records that the operation has moved on to another place.
    func note(_ place: String) {
        state.withLock { $0 = place }
    }
}
