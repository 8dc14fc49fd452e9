package import LinuxIO
import Synchronization

/// Lets files be read concurrently, except suspects: a file that may have killed the daemon is read while no other file
/// is.
///
/// Other files wait for a suspect before it begins and while it is read, but only for a limited time, and it waits for
/// them just as long. Each further death of the daemon doubles that time, so that even a file that kills the daemon
/// only after a long time is eventually read alone. Only a second suspect waits until the first has been read
/// completely: otherwise the two would be read together at each start.
package final class ReadingGate: Sendable {
    private struct State {
        var readerCount = 0
        /// Whether a suspect is being read, and how many more are waiting.
        var hasSuspect = false
        var suspectCount = 0
        /// The time until which other files wait.
        var closedUntil: ContinuousClock.Instant?
        /// How long other files wait for a suspect, and it for them.
        var patience: Duration

        var isClosed: Bool { closedUntil.map { .now < $0 } ?? false }
    }

    private let state: Mutex<State>
    private let patience: Duration
    /// Broadcast when a waiting file may be read.
    private let change: Condition

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - reactor: The reactor that keeps the deadlines of waits.
    ///   - patience: How long other files wait for a suspect after one death of the daemon, and it for them.
    package init(on reactor: Reactor, patience: Duration = .seconds(2)) {
        self.patience = patience
        state = Mutex(State(patience: patience))
        change = Condition(on: reactor)
    }

    /// Waits until the file may be read. Call `leave` when it has been.
    ///
    /// - Parameters:
    ///   - alone: Whether the file is a suspect.
    ///   - deathCount: How often it may have killed the daemon.
    /// - Returns: Whether the file may be read; `false` if the task is cancelled while it waits.
    package func enter(alone: Bool, deathCount: Int = 1) async -> Bool {
        if alone { state.withLock { begin(&$0, patience * (1 << min(max(0, deathCount - 1), Self.doublingLimit))) } }
        let start = ContinuousClock.now
        if alone ? beginAlone() : begin(after: start) { return true }
        while !Task.isCancelled {
            let deadline = alone ? nextOpening : min(nextOpening ?? start, start + state.withLock { $0.patience })
            if await change.wait(until: deadline, for: { alone ? beginAlone() : begin(after: start) }) { return true }
        }
        if alone { giveUp() }
        return false
    }

    /// Records that the file has been read.
    ///
    /// - Parameter alone: The value that was passed to `enter`.
    package func leave(alone: Bool) {
        let isAwaited = state.withLock { state in
            state.readerCount -= 1
            guard alone else { return state.suspectCount > 0 }
            state.hasSuspect = false
            state.closedUntil = state.suspectCount > 0 ? .now + state.patience : nil
            return true
        }
        if isAwaited { change.broadcast() }
    }

    /// When the gate opens without a broadcast; `nil` if it is open, or no time is set.
    private var nextOpening: ContinuousClock.Instant? { state.withLock { $0.isClosed ? $0.closedUntil : nil } }

    private func begin(_ state: inout State, _ patience: Duration) {
        state.patience = max(state.patience, patience)
        if state.suspectCount == 0, !state.hasSuspect { state.closedUntil = .now + state.patience }
        state.suspectCount += 1
    }

    private func giveUp() {
        state.withLock { state in
            state.suspectCount -= 1
            if state.suspectCount == 0, !state.hasSuspect { state.closedUntil = nil }
        }
        change.broadcast()
    }

    private func begin(after start: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            guard !state.isClosed || .now >= start + state.patience else { return false }
            state.readerCount += 1
            return true
        }
    }

    private func beginAlone() -> Bool {
        let mayRead = state.withLock { state in
            guard !state.hasSuspect, state.readerCount == 0 || !state.isClosed else { return false }
            state.closedUntil = state.readerCount == 0 ? .now + state.patience : nil
            (state.hasSuspect, state.readerCount) = (true, state.readerCount + 1)
            state.suspectCount -= 1
            return true
        }
        // Other files wait no longer if they are being read anyway.
        if mayRead { change.broadcast() }
        return mayRead
    }

    /// The most doublings of the patience, which turn 2 s into 17 min.
    private static let doublingLimit = 9
}
