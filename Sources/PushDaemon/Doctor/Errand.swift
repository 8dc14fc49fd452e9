import LinuxIO
import Synchronization

/// Blocking work on a thread of its own, which is left to itself when it takes too long: a filesystem may hang, and the
/// doctor is there to say so.
enum Errand {
    /// Does the work, and waits for it.
    ///
    /// - Parameters:
    ///   - reactor: Where to wait; the caller must run on it.
    ///   - deadline: Work that still goes on then is abandoned; its thread ends by itself, or with the process.
    ///   - work: What to do; must leave nothing behind that matters if the process ends meanwhile.
    /// - Returns: What came of it; `nil` at the deadline.
    /// - Throws: `SystemError`: no thread is left; `CancellationError`.
    static func run<Value: Sendable>(
        on reactor: Reactor, until deadline: ContinuousClock.Instant, _ work: @escaping @Sendable () -> Value
    ) async throws -> Value? {
        let waiter = Waiter(on: reactor)
        let answer = Answer<Value>(waker: waiter.waker)
        let thread = try SystemThread.start(name: "doctor") { answer.give(work()) }
        thread.detach()
        while true {
            if let value = answer.value { return value }
            let found = await waiter.wait(until: deadline)
            if let value = answer.value { return value }
            if found.contains(.cancelled) { throw CancellationError() }
            if found.contains(.timedOut) { return nil }
        }
    }

    /// Where the thread leaves what came of it.
    private final class Answer<Value: Sendable>: Sendable {
        private let state = Mutex<Value?>(nil)
        private let waker: Waker

        init(waker: Waker) {
            self.waker = waker
        }

        var value: Value? { state.withLock { $0 } }

        func give(_ value: Value) {
            state.withLock { $0 = value }
            waker.wake()
        }
    }
}

/// Where a look through files is: when one hangs, it is known which.
final class Whereabouts: Sendable {
    private let state: Mutex<String>

    /// Begins at a place.
    init(_ place: String) {
        state = Mutex(place)
    }

    /// Where it is now, or was when it stopped coming on.
    var place: String { state.withLock { $0 } }

    /// Says that it goes on at another place.
    func note(_ place: String) {
        state.withLock { $0 = place }
    }
}
