package import LinuxIO
import Synchronization

/// Limits how many hooks begin at the same time, regardless of the number of apps.
///
/// A hook keeps its place until it ends, but at most for its share of time. Then the hook that has waited longest gets
/// the place, and both run. So hooks that hang delay another one only in proportion to the number of hooks waiting
/// before it. Each app runs one hook at a time, so there are never more running hooks than apps.
package final class HookGate: Sendable {
    /// The number of places.
    static let limit = 8

    private let line: HookLine
    private let alarm: Alarm

    /// Creates a gate with all places free.
    ///
    /// - Parameters:
    ///   - reactor: The reactor that keeps the deadlines of places.
    ///   - share: The longest time for which a hook keeps a place to itself.
    package init(on reactor: Reactor, share: Duration = .seconds(1)) {
        let line = HookLine(share: share)
        self.line = line
        alarm = Alarm(on: reactor) { line.advance(at: $0) }
    }

    /// Waits for a place. Give it back by `leave`.
    ///
    /// - Parameter begin: Called before the wait, if no place is free.
    /// - Returns: The number of the place; `nil` if the task is cancelled while it waits, so that an app can end
    ///   regardless of other apps' hooks.
    func enter(whenFull begin: () -> Void = {}) async -> Int? {
        let number = line.nextNumber()
        if line.take(number) { return number }
        begin()
        return await wait(number, isolation: #isolation) ? number : nil
    }

    /// Frees a place for the hook that has waited longest. Has no effect if the place's time is up.
    func leave(_ number: Int) {
        line.leave(number)
    }

    private func wait(_ number: Int, isolation: isolated (any Actor)?) async -> Bool {
        await withTaskCancellationHandler {
            // A closure stays on the actor only if it captures the actor; otherwise the task would suspend on a thread
            // of the pool.
            _ = isolation
            return await withCheckedContinuation { task in
                if let instant = line.join(number, task), !alarm.set(to: instant) { line.giveUp(number) }
                // The cancellation handler may have run before the task was registered.
                if Task.isCancelled { line.giveUp(number) }
            }
        } onCancel: {
            line.giveUp(number)
        }
    }
}

/// The taken places and the waiting hooks.
private final class HookLine: Sendable {
    private struct State {
        var lastNumber = 0
        /// The end of each place's share of time.
        var taken: [Int: ContinuousClock.Instant] = [:]
        /// The waiting hooks, the one that has waited longest first.
        var waiting: [(number: Int, task: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())
    private let share: Duration

    init(share: Duration) {
        self.share = share
    }

    func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Takes a place if one is free and no hook is waiting.
    func take(_ number: Int) -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            state.taken = state.taken.filter { $0.value > now }
            guard state.waiting.isEmpty, state.taken.count < HookGate.limit else { return false }
            state.taken[number] = now + share
            return true
        }
    }

    /// Waits for a place.
    ///
    /// - Returns: The latest time at which the next place becomes free.
    func join(_ number: Int, _ task: CheckedContinuation<Bool, Never>) -> ContinuousClock.Instant? {
        state.withLock { $0.waiting.append((number, task)) }
        return advance(at: .now)
    }

    /// Gives free places to waiting hooks.
    ///
    /// - Returns: The latest time at which the next place becomes free; `nil` if no hook is waiting.
    func advance(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let (tasks, next) = state.withLock { state in
            state.taken = state.taken.filter { $0.value > now }
            let entering = state.waiting.prefix(HookGate.limit - state.taken.count)
            state.waiting.removeFirst(entering.count)
            for entry in entering { state.taken[entry.number] = now + share }
            return (entering.map(\.task), state.waiting.isEmpty ? nil : state.taken.values.min())
        }
        for task in tasks { task.resume(returning: true) }
        return next
    }

    func leave(_ number: Int) {
        state.withLock { $0.taken[number] = nil }
        _ = advance(at: .now)
    }

    func giveUp(_ number: Int) {
        let task = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiting.remove(at: place).task
        }
        task?.resume(returning: false)
    }
}
