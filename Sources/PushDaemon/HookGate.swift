import LinuxIO
import Synchronization

/// Lets only so many hooks begin side by side, whatever the number of apps.
///
/// A hook has its place until it has ended, but for a share of time at most. Then the one that has waited longest gets it, and
/// both run: hooks that hang keep no app waiting for longer than there are others before it. An app runs one hook at a time, so
/// that no more run than there are apps.
final class HookGate: Sendable {
    /// How many places there are.
    static let limit = 8

    private let line: HookLine
    private let alarm: Alarm

    /// Creates a gate all of whose places are free.
    ///
    /// - Parameters:
    ///   - reactor: What keeps the time of places.
    ///   - share: For how long a hook keeps others out at most.
    init(on reactor: Reactor, share: Duration = .seconds(1)) {
        let line = HookLine(share: share)
        self.line = line
        alarm = Alarm(on: reactor) { line.advance(at: $0) }
    }

    /// Waits for a place, which `leave` gives back.
    ///
    /// - Parameter begin: Called if there is none at once, before the wait.
    /// - Returns: The place's number; `nil` in a task that is cancelled while it waits: an app ends, however long the
    ///   hooks of others take.
    func enter(whenFull begin: () -> Void = {}) async -> Int? {
        let number = line.nextNumber()
        if line.take(number) { return number }
        begin()
        return await wait(number, isolation: #isolation) ? number : nil
    }

    /// Gives a place to the one that has waited longest, unless its time was over before.
    func leave(_ number: Int) {
        line.leave(number)
    }

    private func wait(_ number: Int, isolation: isolated (any Actor)?) async -> Bool {
        await withTaskCancellationHandler {
            // Only a closure that captures its actor stays on it; another would suspend on a thread of the pool.
            _ = isolation
            return await withCheckedContinuation { task in
                if let instant = line.join(number, task), !alarm.set(to: instant) { line.giveUp(number) }
                // Cancelled before the handler could find it.
                if Task.isCancelled { line.giveUp(number) }
            }
        } onCancel: {
            line.giveUp(number)
        }
    }
}

/// Who has a place, and who waits for one.
private final class HookLine: Sendable {
    private struct State {
        var lastNumber = 0
        /// Until when each place keeps others out.
        var taken: [Int: ContinuousClock.Instant] = [:]
        /// Who waits, the one that has waited longest first.
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

    /// Takes a free place for which nobody waits.
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
    /// - Returns: When a place will be free at the latest.
    func join(_ number: Int, _ task: CheckedContinuation<Bool, Never>) -> ContinuousClock.Instant? {
        state.withLock { $0.waiting.append((number, task)) }
        return advance(at: .now)
    }

    /// Gives the places that are free to those who wait.
    ///
    /// - Returns: When the next one is free at the latest; `nil` if nobody waits.
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
