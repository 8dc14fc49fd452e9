import Synchronization

/// Lets only so many hooks run at a time, whatever the number of apps.
final class HookGate: Sendable {
    /// How many run side by side.
    static let limit = 8

    private struct State {
        var count = 0
        var lastNumber = 0
        /// Who waits for a place, the one that has waited longest first.
        var waiting: [(number: Int, task: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    /// Waits for a place, which `leave` gives back.
    ///
    /// - Returns: Whether there is one; `false` in a task that is cancelled while it waits: an app ends, however long the
    ///   hooks of others take.
    func enter() async -> Bool {
        await enter(isolation: #isolation)
    }

    /// Gives the place to the one that has waited longest.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.count -= 1
                return nil
            }
            return state.waiting.removeFirst().task
        }
        next?.resume(returning: true)
    }

    private func enter(isolation: isolated (any Actor)?) async -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            // Only a closure that captures its actor stays on it; another would suspend on a thread of the pool.
            _ = isolation
            return await withCheckedContinuation { begin(number, $0) }
        } onCancel: {
            giveUp(number)
        }
    }

    private func begin(_ number: Int, _ task: CheckedContinuation<Bool, Never>) {
        let hasPlace = state.withLock { state in
            guard state.count < Self.limit else {
                state.waiting.append((number, task))
                return false
            }
            state.count += 1
            return true
        }
        if hasPlace { return task.resume(returning: true) }
        // Cancelled before the handler could find it.
        if Task.isCancelled { giveUp(number) }
    }

    private func giveUp(_ number: Int) {
        let task = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let place = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiting.remove(at: place).task
        }
        task?.resume(returning: false)
    }
}
