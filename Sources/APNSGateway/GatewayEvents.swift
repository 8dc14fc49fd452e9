import Synchronization

/// What a gateway tells, in order, to one reader, who gets it without another thread between.
///
/// Has no bound of its own: settlements never outnumber what was submitted.
package final class GatewayEvents: AsyncSequence, Sendable {
    /// What is told.
    package typealias Element = GatewayEvent
    /// Reading does not fail.
    package typealias Failure = Never

    private struct State {
        var events: [GatewayEvent] = []
        var hasEnded = false
        var reader: CheckedContinuation<Void, Never>?
    }

    /// What is counted besides.
    package let meter = GatewayMeter()
    private let state = Mutex(State())

    /// Adds an event.
    func tell(_ event: GatewayEvent) {
        deliver { $0.events.append(event) }
    }

    /// Ends the sequence, once what was told is read.
    func finish() {
        deliver { $0.hasEnded = true }
    }

    /// Reads on from what nobody has read.
    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: self)
    }

    /// Reads events.
    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let events: GatewayEvents
        /// What was taken and not read, the next at the end.
        private var taken: [GatewayEvent] = []

        fileprivate init(events: GatewayEvents) {
            self.events = events
        }

        /// Waits for the next event; `nil` at the end, and when the task is cancelled.
        package mutating func next() async -> GatewayEvent? {
            await next(isolation: #isolation)
        }

        /// Waits for the next event; `nil` at the end, and when the task is cancelled.
        package mutating func next(isolation actor: isolated (any Actor)?) async -> GatewayEvent? {
            while taken.isEmpty {
                guard let told = events.take() else { return nil }
                taken = told.reversed()
                if taken.isEmpty {
                    await events.wait(isolation: actor)
                    if Task.isCancelled { return nil }
                }
            }
            return taken.popLast()
        }
    }

    private func deliver(_ change: (inout State) -> Void) {
        let reader = state.withLock { state in
            change(&state)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// All that was told and not taken; `nil` at the end.
    private func take() -> [GatewayEvent]? {
        state.withLock { state in
            if state.events.isEmpty, state.hasEnded { return nil }
            defer { state.events = [] }
            return state.events
        }
    }

    private func wait(isolation actor: isolated (any Actor)?) async {
        await withTaskCancellationHandler {
            // Only a closure that captures its actor stays on it; another would suspend on a thread of the pool.
            _ = actor
            await withCheckedContinuation { reader in
                let isIdle = state.withLock { state in
                    guard state.events.isEmpty, !state.hasEnded, !Task.isCancelled else { return false }
                    precondition(state.reader == nil, "a gateway has one reader")
                    state.reader = reader
                    return true
                }
                if !isIdle { reader.resume() }
            }
        } onCancel: {
            deliver { _ in }
        }
    }
}
