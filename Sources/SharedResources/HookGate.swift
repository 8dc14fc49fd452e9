package import LinuxIO
import Synchronization

/// Limits how many hooks begin at the same time, regardless of the number of apps.
///
/// A hook keeps its place until it ends, but at most for its share of time. Then the hook that has waited longest gets
/// the place, and both run. So hooks that hang delay another one only in proportion to the number of hooks waiting
/// before it. Each app runs one hook at a time, so there are never more running hooks than apps.
package final class HookGate: Sendable {
    /// The number of places.
    package static let limit = 8

    private struct State {
        var lastNumber = 0
        /// The end of each place's share of time.
        var taken: [Int: ContinuousClock.Instant] = [:]
        /// The waiting hooks, the one that has waited longest first.
        var waiting: [Int] = []
    }

    private let state = Mutex(State())
    private let share: Duration
    /// Broadcast when a place may be free, or another hook is first.
    private let change: Condition

    /// Creates a gate with all places free.
    ///
    /// - Parameters:
    ///   - reactor: The reactor that keeps the deadlines of places.
    ///   - share: The longest time for which a hook keeps a place to itself.
    package init(on reactor: Reactor, share: Duration = .seconds(1)) {
        self.share = share
        change = Condition(on: reactor)
    }

    /// Waits for a place. Give it back by `leave`.
    ///
    /// - Parameter begin: Called before the wait, if no place is free.
    /// - Returns: The number of the place; `nil` if the task is cancelled while it waits, so that an app can end
    ///   regardless of other apps' hooks.
    package func enter(whenFull begin: () -> Void = {}) async -> Int? {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.waiting.append(state.lastNumber)
            return state.lastNumber
        }
        if acquire(number) { return number }
        begin()
        while !Task.isCancelled {
            if await change.wait(until: nextEnd, for: { acquire(number) }) { return number }
        }
        state.withLock { state in state.waiting.removeAll { $0 == number } }
        change.broadcast()
        return nil
    }

    /// Frees a place for the hook that has waited longest. Has no effect if the place's time is up.
    package func leave(_ number: Int) {
        state.withLock { $0.taken[number] = nil }
        change.broadcast()
    }

    /// Acquires a place, if one is free for this hook.
    private func acquire(_ number: Int) -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            state.taken = state.taken.filter { $0.value > now }
            let isNext = state.waiting.prefix(Self.limit - state.taken.count).contains(number)
            guard isNext else { return false }
            state.waiting.removeAll { $0 == number }
            state.taken[number] = now + share
            return true
        }
    }

    /// The latest time at which the next place becomes free. Others may be about to take all that are free.
    private var nextEnd: ContinuousClock.Instant { state.withLock { $0.taken.values.min() } ?? .now + share }
}
