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
    private let reactor: Reactor
    private let patience: Duration

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - reactor: The reactor that keeps the deadlines of waits.
    ///   - patience: How long other files wait for a suspect after one death of the daemon, and it for them.
    package init(on reactor: Reactor, patience: Duration = .seconds(2)) {
        (self.reactor, self.patience) = (reactor, patience)
        state = Mutex(State(patience: patience))
    }

    /// Waits until the file may be read. Call `leave` when it has been.
    ///
    /// - Parameters:
    ///   - alone: Whether the file is a suspect.
    ///   - deathCount: How often it may have killed the daemon.
    /// - Returns: Whether the file may be read; `false` if the task is cancelled while it waits.
    func enter(alone: Bool, deathCount: Int = 1) async -> Bool {
        if alone { state.withLock { begin(&$0, patience * (1 << min(max(0, deathCount - 1), Self.doublingLimit))) } }
        let start = ContinuousClock.now
        var bell: Bell?
        while !(alone ? beginAlone() : begin(after: start)) {
            guard !Task.isCancelled else {
                if alone { state.withLock { giveUp(&$0) } }
                return false
            }
            if bell == nil { bell = Bell(on: reactor) }
            await bell?.wait(until: .now + Self.pause)
        }
        return true
    }

    /// Records that the file has been read.
    ///
    /// - Parameter alone: The value that was passed to `enter`.
    func leave(alone: Bool) {
        state.withLock { state in
            state.readerCount -= 1
            guard alone else { return }
            state.hasSuspect = false
            state.closedUntil = state.suspectCount > 0 ? .now + state.patience : nil
        }
    }

    private func begin(_ state: inout State, _ patience: Duration) {
        state.patience = max(state.patience, patience)
        if state.suspectCount == 0, !state.hasSuspect { state.closedUntil = .now + state.patience }
        state.suspectCount += 1
    }

    private func giveUp(_ state: inout State) {
        state.suspectCount -= 1
        if state.suspectCount == 0, !state.hasSuspect { state.closedUntil = nil }
    }

    private func begin(after start: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            guard !state.isClosed || .now >= start + state.patience else { return false }
            state.readerCount += 1
            return true
        }
    }

    private func beginAlone() -> Bool {
        state.withLock { state in
            guard !state.hasSuspect, state.readerCount == 0 || !state.isClosed else { return false }
            state.closedUntil = state.readerCount == 0 ? .now + state.patience : nil
            (state.hasSuspect, state.readerCount) = (true, state.readerCount + 1)
            state.suspectCount -= 1
            return true
        }
    }

    /// The most doublings of the patience, which turn 2 s into 17 min.
    private static let doublingLimit = 9

    /// How often waiting tasks check again. They wait only after the daemon has died.
    private static let pause = Duration.milliseconds(10)
}
