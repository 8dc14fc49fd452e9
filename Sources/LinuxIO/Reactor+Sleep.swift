extension Reactor {
    /// Suspends the calling task, on any executor, until `deadline` or up to a millisecond later.
    ///
    /// Time during which the machine is suspended counts (CLOCK_BOOTTIME).
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled or the reactor stops.
    package func sleep(until deadline: ContinuousClock.Instant) async throws {
        if isCurrent {
            // Avoids a thread change.
            let found = await Waiter(on: self).wait(until: deadline)
            if found.contains(.cancelled) { throw CancellationError() }
            return
        }
        let sleep = Sleep()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isTaken = inbox.post(.startSleep(sleep, continuation, until: deadline))
                if !isTaken { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            inbox.post(.cancelSleep(sleep))
        }
    }

    /// Suspends the calling task for `duration`; the same as `sleep(until: .now + duration)`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled or the reactor stops.
    package func sleep(for duration: Duration) async throws {
        try await sleep(until: .now + duration)
    }
}

/// One call of `Reactor.sleep(until:)`.
///
/// Unchecked because only the reactor's thread touches it; other threads only post it to the inbox.
final class Sleep: DeadlineEntry, @unchecked Sendable {
    private var continuation: CheckedContinuation<Void, any Error>?
    private var isCancelled = false

    /// Stores the sleeping task. Returns `false` if the sleep was already cancelled; the task has then been resumed.
    func begin(_ sleeper: CheckedContinuation<Void, any Error>) -> Bool {
        if isCancelled {
            sleeper.resume(throwing: CancellationError())
        } else {
            continuation = sleeper
        }
        return !isCancelled
    }

    /// Ends the sleep early, or prevents it from starting.
    func cancel() {
        isCancelled = true
        continuation?.resume(throwing: CancellationError())
        continuation = nil
    }

    override func deadlinePassed() {
        continuation?.resume()
        continuation = nil
    }
}
