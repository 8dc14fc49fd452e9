extension Reactor {
    /// Suspends the calling task, on whatever executor it runs, until `deadline` or up to a millisecond later.
    ///
    /// Time spent with the machine suspended counts (CLOCK_BOOTTIME).
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled or the reactor stops.
    package func sleep(until deadline: ContinuousClock.Instant) async throws {
        if isCurrent {
            // The way that changes no thread.
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

    /// Suspends the calling task for a while; the same as `sleep(until: .now + duration)`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled or the reactor stops.
    package func sleep(for duration: Duration) async throws {
        try await sleep(until: .now + duration)
    }
}

/// One call of `Reactor.sleep(until:)`.
///
/// Unchecked because it is touched by the reactor's thread alone: others only post it to the inbox.
final class Sleep: DeadlineEntry, @unchecked Sendable {
    private var continuation: CheckedContinuation<Void, any Error>?
    private var isCancelled = false

    /// Takes the sleeper over. Returns `false` if it was cancelled before, and has then been resumed.
    func begin(_ sleeper: CheckedContinuation<Void, any Error>) -> Bool {
        if isCancelled {
            sleeper.resume(throwing: CancellationError())
        } else {
            continuation = sleeper
        }
        return !isCancelled
    }

    /// Ends the sleep early, or keeps it from beginning.
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
