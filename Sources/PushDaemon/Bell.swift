package import LinuxIO
import Synchronization

/// Wakes one task that waits, from any thread, or at a deadline. A ring that nobody waits for is kept.
///
/// Whoever waits goes on where it ran, with no other thread between. A deadline costs the reactor a turn only when it is
/// earlier than those before.
package final class Bell: Sendable {
    private let clapper: Clapper
    private let alarm: Alarm

    /// Creates a bell whose deadlines the reactor keeps.
    package init(on reactor: Reactor) {
        let clapper = Clapper()
        self.clapper = clapper
        alarm = Alarm(on: reactor) { clapper.alarm(at: $0) }
    }

    /// Ends the present wait, or else the next one.
    package func ring() {
        clapper.ring()
    }

    /// Waits for a ring, the deadline, or cancellation; one task at a time.
    package func wait(until deadline: ContinuousClock.Instant? = nil) async {
        await wait(until: deadline, isolation: #isolation)
    }

    private func wait(until deadline: ContinuousClock.Instant?, isolation: isolated (any Actor)?) async {
        await withTaskCancellationHandler {
            // Only a closure that captures its actor stays on it; another would suspend on a thread of the pool.
            _ = isolation
            await withCheckedContinuation { sleeper in
                if let instant = clapper.begin(sleeper, until: deadline), !alarm.set(to: instant) {
                    clapper.endWithoutAlarm()
                }
                // Cancelled before the handler could find the sleeper.
                if Task.isCancelled { clapper.end() }
            }
        } onCancel: {
            clapper.end()
        }
    }
}

/// What a bell and its alarm share.
private final class Clapper: Sendable {
    private struct State {
        var hasRung = false
        var sleeper: CheckedContinuation<Void, Never>?
        /// Until when the sleeper waits at most.
        var deadline: ContinuousClock.Instant?
        /// When the alarm looks at that.
        var alarmAt: ContinuousClock.Instant?

        mutating func takeSleeper() -> CheckedContinuation<Void, Never>? {
            defer { sleeper = nil }
            return sleeper
        }
    }

    private let state = Mutex(State())

    func ring() {
        let sleeper = state.withLock { state in
            state.hasRung = state.sleeper == nil
            return state.takeSleeper()
        }
        sleeper?.resume()
    }

    /// Ends the present wait, if there is one.
    func end() {
        state.withLock { $0.takeSleeper() }?.resume()
    }

    /// Ends the present wait, since nothing will look at its deadline.
    func endWithoutAlarm() {
        state.withLock { state in
            state.alarmAt = nil
            return state.takeSleeper()
        }?.resume()
    }

    /// Begins a wait, unless the bell has rung or the time is up.
    ///
    /// - Returns: what the alarm must be set to, if it must.
    func begin(
        _ sleeper: CheckedContinuation<Void, Never>, until deadline: ContinuousClock.Instant?
    ) -> ContinuousClock.Instant? {
        let isOver = deadline.map { $0 <= .now } ?? false
        let (isWaiting, instant) = state.withLock { state -> (Bool, ContinuousClock.Instant?) in
            if state.hasRung || isOver {
                state.hasRung = false
                return (false, nil)
            }
            precondition(state.sleeper == nil, "one task at a time waits for a bell")
            (state.sleeper, state.deadline) = (sleeper, deadline)
            guard let deadline, state.alarmAt.map({ $0 > deadline }) ?? true else { return (true, nil) }
            state.alarmAt = deadline
            return (true, deadline)
        }
        if !isWaiting { sleeper.resume() }
        return instant
    }

    /// Ends the wait if its time is up; else says when it is.
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
