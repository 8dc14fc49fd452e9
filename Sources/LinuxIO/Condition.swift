import Synchronization

/// Lets several tasks wait until something is true. As with a POSIX condition variable, each change is followed by
/// `broadcast`, from any thread, and then every waiting task checks again.
///
/// Unlike there, no lock is needed: a broadcast between a check and the wait after it is not lost.
package final class Condition: Sendable {
    private struct State {
        /// The number of broadcasts so far.
        var turn = 0
        var waiting: [Wakeup] = []
    }

    private let state = Mutex(State())
    private let reactor: Reactor

    /// Creates a condition that uses the reactor for the deadlines of waits.
    package init(on reactor: Reactor) {
        self.reactor = reactor
    }

    /// Makes all waiting tasks check again.
    package func broadcast() {
        let woken = state.withLock { state in
            defer { state.waiting = [] }
            state.turn += 1
            return state.waiting
        }
        for wakeup in woken { wakeup.signal() }
    }

    /// Waits until a check succeeds. It runs at once, and after each broadcast.
    ///
    /// - Parameters:
    ///   - deadline: When to give up; `nil`: never.
    ///   - check: Whether the task may go on.
    /// - Returns: `false` at the deadline, or if the task is cancelled.
    package func wait(until deadline: ContinuousClock.Instant? = nil, for check: () -> Bool) async -> Bool {
        while true {
            let turn = state.withLock { $0.turn }
            if check() { return true }
            guard !Task.isCancelled, deadline.map({ .now < $0 }) ?? true else { return false }
            await wait(past: turn, until: deadline)
        }
    }

    /// Waits for the broadcast after this number of them, or the deadline.
    private func wait(past turn: Int, until deadline: ContinuousClock.Instant?) async {
        let wakeup = Wakeup(on: reactor)
        let mustWait = state.withLock { state in
            guard state.turn == turn else { return false }
            state.waiting.append(wakeup)
            return true
        }
        guard mustWait else { return }
        await wakeup.wait(until: deadline)
        state.withLock { state in state.waiting.removeAll { $0 === wakeup } }
    }
}
