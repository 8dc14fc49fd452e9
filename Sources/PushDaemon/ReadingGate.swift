import LinuxIO
import Synchronization

/// Lets files be read side by side, or one of them while no other is: a file over which the daemon may have died.
///
/// Such a file keeps the others out for a while only, before it begins and while it is read, and waits for them as long. Each
/// further death doubles that, so that a file that kills the daemon only after a long time is found alone one day. Only another
/// such file waits until it has been read: the two would be read side by side at each start.
final class ReadingGate: Sendable {
    private struct State {
        var readerCount = 0
        /// Whether one of them is a file over which the daemon may have died, and how many more of those wait.
        var hasSuspect = false
        var suspectCount = 0
        /// Until when other files wait.
        var closedUntil: ContinuousClock.Instant?
        /// How long others wait for a file that is to be read alone, and it for them.
        var patience: Duration

        var isClosed: Bool { closedUntil.map { .now < $0 } ?? false }
    }

    private let state: Mutex<State>
    private let reactor: Reactor
    private let patience: Duration

    /// Creates a gate.
    ///
    /// - Parameters:
    ///   - reactor: What keeps the time of waits.
    ///   - patience: How long others wait for a file that is to be read alone after one death, and it for them.
    init(on reactor: Reactor, patience: Duration = .seconds(2)) {
        (self.reactor, self.patience) = (reactor, patience)
        state = Mutex(State(patience: patience))
    }

    /// Waits until the file may be read; `leave` says that it has been.
    ///
    /// - Parameters:
    ///   - alone: Whether the daemon may have died over it.
    ///   - deathCount: How often it may have.
    /// - Returns: Whether it may be read; `false` in a task that is cancelled while it waits.
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

    /// The file has been read.
    ///
    /// - Parameter alone: What `enter` was told of it.
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

    /// How often the patience is doubled at most: 2 s are 17 min then.
    private static let doublingLimit = 9

    /// How often those who wait look again. That happens after a death of the daemon only.
    private static let pause = Duration.milliseconds(10)
}
