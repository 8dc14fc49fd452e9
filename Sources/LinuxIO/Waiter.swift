/// The place where one task at a time waits on the reactor: for a descriptor, a deadline, or a wakeup.
///
/// Belongs to one actor on the reactor. Only that actor may call it. Use it in a loop: wait, read until the kernel has
/// no more bytes, process, write until the kernel accepts no more.
package final class Waiter {
    /// The waiter's reactor.
    package let reactor: Reactor
    private let registration: Registration
    private let gate: Gate

    /// Creates a waiter without a descriptor, for deadlines and wakeups only.
    package init(on reactor: Reactor) {
        reactor.checkIsolated()
        self.reactor = reactor
        registration = reactor.loop.register()
        gate = Gate(registration)
    }

    /// Creates a waiter for an open descriptor. Do not close the descriptor before `unwatch()`.
    init(on reactor: Reactor, watching descriptor: Int32) throws(SystemError) {
        reactor.checkIsolated()
        self.reactor = reactor
        registration = try reactor.loop.register(watching: descriptor)
        gate = Gate(registration)
    }

    deinit {
        reactor.inbox.post(.retire(registration))
    }

    /// Suspends until the descriptor is ready for one of `interest` or hangs up, `wake()` is called, the deadline
    /// passes, or the task is cancelled.
    ///
    /// Returns a known result without suspending, but gives other tasks a turn now and then. Ready means "as far as
    /// known": if a system call then finds the descriptor not ready, report that, and the next wait suspends.
    ///
    /// - Parameters:
    ///   - interest: `.readable`, `.writable`, both, or neither.
    ///   - byteCount: About how many bytes must have arrived on a TCP connection before it counts as readable. Read
    ///     afterwards whatever is returned: fewer may have arrived.
    ///   - deadline: `nil` waits without limit. Checked only if there is nothing else to return.
    /// - Returns: all conditions that hold.
    package func wait(
        for interest: Readiness = [], atLeast byteCount: Int = 1, until deadline: ContinuousClock.Instant? = nil
    ) async -> Readiness {
        reactor.checkIsolated()
        if !interest.isEmpty { registration.setLowWater(byteCount) }
        defer { if byteCount > 1 { registration.noteGathered() } }
        if Task.isCancelled { return registration.takeFound(for: interest).union(.cancelled) }
        if let found = beginWait(for: interest) { return found }
        return await suspendUnlessCancelled(until: deadline, isolation: #isolation)
    }

    /// Waits like `wait`, but ignores cancellation of the task: for an orderly close before a near deadline.
    package func waitToTheEnd(for interest: Readiness, until deadline: ContinuousClock.Instant) async -> Readiness {
        reactor.checkIsolated()
        registration.setLowWater(1)
        if let found = beginWait(for: interest) { return found }
        return await suspend(until: deadline)
    }

    /// Whether a read would find nothing, as far as epoll has reported.
    var isDrained: Bool { registration.isDrained }

    /// Lets the queued jobs and ready descriptors go first, once. For a task that always has more work: with
    /// `Task.yield()` it would continue before the reactor polls its descriptors.
    ///
    /// This consumes a `wake()` made before or during the call. Check its cause afterwards.
    package func yield() async {
        reactor.checkIsolated()
        registration.beginYield()
        _ = await suspend(until: nil)
    }

    /// Makes the current wait, or else the next one, return at once with `.woken`. Several calls count as one.
    package func wake() {
        reactor.checkIsolated()
        registration.wake()
    }

    /// A handle with which any thread can wake this waiter.
    package var waker: Waker { Waker(inbox: reactor.inbox, registration: registration) }

    /// Records that a system call found the descriptor not ready for `kinds`.
    func noteExhausted(_ kinds: Readiness) {
        registration.noteExhausted(kinds)
    }

    /// Records that a read returned fewer bytes than the buffer holds. If the stream has ended, its end can still be read.
    func noteShortRead() {
        registration.noteShortRead()
    }

    /// Stops watching the descriptor, which may then be closed. Callable from any thread.
    func unwatch(_ descriptor: borrowing Descriptor) {
        reactor.loop.unwatch(descriptor.rawValue)
    }

    private func beginWait(for interest: Readiness) -> Readiness? {
        registration.beginWait(for: interest, turn: reactor.loop.turn)
    }

    private func suspendUnlessCancelled(
        until deadline: ContinuousClock.Instant?, isolation: isolated (any Actor)?
    ) async -> Readiness {
        let request = ReactorInbox.Request.cancelWait(registration, number: registration.waitNumber)
        return await withTaskCancellationHandler {
            // Only a closure that captures its actor stays on it. Otherwise this would suspend on a thread of the pool.
            _ = isolation
            return await suspend(until: deadline)
        } onCancel: { [inbox = reactor.inbox] in
            inbox.post(request)
        }
    }

    private func suspend(until deadline: ContinuousClock.Instant?) async -> Readiness {
        reactor.loop.suspend(registration, until: deadline)
        return await gate.pass()
    }
}

/// Wakes one `Waiter` from any thread. Does nothing once the waiter has been released.
package struct Waker: Sendable {
    let inbox: ReactorInbox
    let registration: Registration

    /// Makes the waiter's current wait, or else its next one, return with `.woken`.
    package func wake() {
        inbox.post(.wake(registration))
    }
}
