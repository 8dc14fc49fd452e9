import Synchronization

/// Wakes one waiting task, from any thread or at a deadline. A signal without a waiting task is kept for the next wait.
/// For several tasks, see ``Condition``.
///
/// A deadline costs the reactor a turn only if it is earlier than all previous ones.
package final class Wakeup: Sendable {
    private let state: WakeupState
    private let alarm: Alarm

    /// Creates a wakeup that uses the reactor for its deadlines.
    ///
    /// - Parameters:
    ///   - reactor: The reactor.
    ///   - onFirst: Called by the first signal, after it has been kept. It may start the task that waits.
    package init(on reactor: Reactor, onFirst: (@Sendable () -> Void)? = nil) {
        let state = WakeupState(onFirst: onFirst)
        self.state = state
        alarm = Alarm(on: reactor) { state.alarm(at: $0) }
    }

    /// Ends the current wait, or the next one if no task is waiting.
    package func signal() {
        state.signal()
    }

    /// Waits for a signal, the deadline, or cancellation. Only one task may wait at a time.
    package func wait(until deadline: ContinuousClock.Instant? = nil) async {
        await wait(until: deadline, isolation: #isolation)
    }

    /// Waits until the task is cancelled.
    package static func waitForCancellation(on reactor: Reactor) async { await Wakeup(on: reactor).wait() }

    private func wait(until deadline: ContinuousClock.Instant?, isolation: isolated (any Actor)?) async {
        await withTaskCancellationHandler {
            // A closure stays on the actor only if it captures the actor; otherwise the task would change executors to
            // suspend.
            _ = isolation
            await withCheckedContinuation { sleeper in
                if let instant = state.begin(sleeper, until: deadline), !alarm.set(to: instant) {
                    state.endWithoutAlarm()
                }
                // The cancellation handler may have run before the sleeper was registered.
                if Task.isCancelled { state.end() }
            }
        } onCancel: {
            state.end()
        }
    }
}

/// The state shared by a wakeup and its alarm.
private final class WakeupState: Sendable {
    private struct State {
        var isSignalled = false
        var sleeper: CheckedContinuation<Void, Never>?
        /// The deadline of the current wait.
        var deadline: ContinuousClock.Instant?
        /// When the alarm next checks the deadline.
        var alarmAt: ContinuousClock.Instant?
        /// Called by the first signal.
        var onFirst: (@Sendable () -> Void)?

        mutating func takeSleeper() -> CheckedContinuation<Void, Never>? {
            defer { sleeper = nil }
            return sleeper
        }
    }

    private let state: Mutex<State>

    init(onFirst: (@Sendable () -> Void)?) {
        state = Mutex(State(onFirst: onFirst))
    }

    func signal() {
        var (sleeper, onFirst): (CheckedContinuation<Void, Never>?, (@Sendable () -> Void)?)
        state.withLock { state in
            // Most signals change nothing.
            if state.isSignalled { return }
            state.isSignalled = state.sleeper == nil
            (sleeper, onFirst) = (state.takeSleeper(), state.onFirst.take())
        }
        sleeper?.resume()
        onFirst?()
    }

    /// Ends the current wait, if there is one.
    func end() {
        state.withLock { $0.takeSleeper() }?.resume()
    }

    /// Ends the current wait, because no alarm will check its deadline.
    func endWithoutAlarm() {
        state.withLock { state in
            state.alarmAt = nil
            return state.takeSleeper()
        }?.resume()
    }

    /// Begins a wait, unless a signal was kept or the deadline has passed.
    ///
    /// - Returns: The time to set the alarm to; `nil` if the alarm need not change.
    func begin(
        _ sleeper: CheckedContinuation<Void, Never>, until deadline: ContinuousClock.Instant?
    ) -> ContinuousClock.Instant? {
        let isOver = deadline.map { $0 <= .now } ?? false
        let (isWaiting, instant) = state.withLock { state -> (Bool, ContinuousClock.Instant?) in
            if state.isSignalled || isOver {
                state.isSignalled = false
                return (false, nil)
            }
            precondition(state.sleeper == nil, "only one task may wait for a wakeup")
            (state.sleeper, state.deadline) = (sleeper, deadline)
            guard let deadline, state.alarmAt.map({ $0 > deadline }) ?? true else { return (true, nil) }
            state.alarmAt = deadline
            return (true, deadline)
        }
        if !isWaiting { sleeper.resume() }
        return instant
    }

    /// Ends the wait if its deadline has passed. Otherwise returns the deadline.
    func alarm(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let (sleeper, next) = state.withLock {
            state -> (CheckedContinuation<Void, Never>?, ContinuousClock.Instant?) in
            state.alarmAt = nil
            guard state.sleeper != nil, let deadline = state.deadline else { return (nil, nil) }
            if deadline <= now { return (state.takeSleeper(), nil) }
            state.alarmAt = deadline
            return (nil, deadline)
        }
        sleeper?.resume()
        return next
    }
}
