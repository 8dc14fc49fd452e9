/// The place where one task at a time waits on the reactor: for a descriptor, a deadline, or to be woken.
///
/// Belongs to one actor on the reactor, which alone may call it. Use it as a loop: wait, read until the kernel has
/// nothing more, process, write until the kernel takes nothing more.
package final class Waiter {
    /// The reactor whose thread it lives on.
    package let reactor: Reactor
    private let registration: Registration
    private let gate: Gate

    /// A waiter that is only ever woken or timed out.
    package init(on reactor: Reactor) {
        reactor.checkIsolated()
        self.reactor = reactor
        registration = reactor.loop.register()
        gate = Gate(registration)
    }

    /// A waiter for a descriptor, which must be open, and not be closed before `unwatch()`.
    init(on reactor: Reactor, watching descriptor: Int32) throws(SystemError) {
        reactor.checkIsolated()
        self.reactor = reactor
        registration = try reactor.loop.register(watching: descriptor)
        gate = Gate(registration)
    }

    deinit {
        reactor.inbox.post(.retire(registration))
    }

    /// Suspends until the descriptor is ready for something of `interest`, or hangs up, or somebody calls `wake()`,
    /// or the deadline passes, or the task is cancelled.
    ///
    /// Returns without suspending what is known already, but gives other tasks a turn now and then. Ready means
    /// "as far as known": a system call that then finds nothing says so, and the next wait suspends.
    ///
    /// - Parameters:
    ///   - interest: `.readable`, `.writable`, both, or neither.
    ///   - deadline: `nil` waits for ever. Only looked at when there is nothing else to return.
    /// - Returns: all of these that hold.
    package func wait(for interest: Readiness = [], until deadline: ContinuousClock.Instant? = nil) async -> Readiness {
        if Task.isCancelled { return registration.takeFound(for: interest).union(.cancelled) }
        if let found = beginWait(for: interest) { return found }
        return await suspendUnlessCancelled(until: deadline, isolation: #isolation)
    }

    /// The same as `wait` in a task that may have been cancelled: for closing in good order, before a near deadline.
    package func waitToTheEnd(for interest: Readiness, until deadline: ContinuousClock.Instant) async -> Readiness {
        if let found = beginWait(for: interest) { return found }
        return await suspend(until: deadline)
    }

    /// Lets the jobs that are queued and the descriptors that are ready go first, once. For a task that always finds more to
    /// do: `Task.yield()` would let it go on before the reactor has looked at its descriptors.
    ///
    /// A `wake()` from before or meanwhile is used up; look at what it was about afterwards.
    package func yield() async {
        reactor.checkIsolated()
        registration.beginYield()
        _ = await suspend(until: nil)
    }

    /// Makes the present wait, or else the next one, return at once with `.woken`. Several calls count as one.
    package func wake() {
        reactor.checkIsolated()
        registration.wake()
    }

    /// A handle with which any thread may wake this waiter.
    package var waker: Waker { Waker(inbox: reactor.inbox, registration: registration) }

    /// Notes that a system call has found the descriptor not ready for `kinds`.
    func noteExhausted(_ kinds: Readiness) {
        registration.noteExhausted(kinds)
    }

    /// Notes that a read got less than it had room for; the end of the stream, if it has been seen, is still unread.
    func noteShortRead() {
        registration.noteShortRead()
    }

    /// Ends the watch for the descriptor, which may then be closed. On any thread.
    func unwatch(_ descriptor: borrowing Descriptor) {
        reactor.loop.unwatch(descriptor.rawValue)
    }

    private func beginWait(for interest: Readiness) -> Readiness? {
        reactor.checkIsolated()
        return registration.beginWait(for: interest, turn: reactor.loop.turn)
    }

    private func suspendUnlessCancelled(
        until deadline: ContinuousClock.Instant?, isolation: isolated (any Actor)?
    ) async -> Readiness {
        let request = ReactorInbox.Request.cancelWait(registration, number: registration.waitNumber)
        return await withTaskCancellationHandler {
            // Only a closure that captures its actor stays on it; another would suspend on a thread of the pool.
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

/// Wakes one `Waiter` from any thread; does nothing once that is gone.
package struct Waker: Sendable {
    let inbox: ReactorInbox
    let registration: Registration

    /// Makes the waiter's present wait, or else its next one, return with `.woken`.
    package func wake() {
        inbox.post(.wake(registration))
    }
}
