import Synchronization

/// The ordered events of a gateway for one reader. No other thread is involved in passing them.
///
/// The buffer needs no bound of its own: there are never more settlements than submitted notifications.
package final class GatewayEvents: AsyncSequence, Sendable {
    /// An event.
    package typealias Element = GatewayEvent
    /// Reading does not fail.
    package typealias Failure = Never

    private struct State {
        var events: [GatewayEvent] = []
        var hasEnded = false
        var reader: CheckedContinuation<Void, Never>?
    }

    /// The gateway's counters.
    package let meter = GatewayMeter()
    private let state = Mutex(State())

    /// Creates an empty sequence.
    init() {}

    /// Adds an event.
    func append(_ event: GatewayEvent) {
        deliver { $0.events.append(event) }
    }

    /// Ends the sequence after the events already in it.
    func finish() {
        deliver { $0.hasEnded = true }
    }

    /// Reads from the first unread event.
    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(events: self)
    }

    /// Reads events.
    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let events: GatewayEvents
        /// The events taken but not yet returned, the next one last.
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

    /// Takes all buffered events; `nil` at the end.
    private func take() -> [GatewayEvent]? {
        state.withLock { state in
            if state.events.isEmpty, state.hasEnded { return nil }
            defer { state.events = [] }
            return state.events
        }
    }

    private func wait(isolation actor: isolated (any Actor)?) async {
        await withTaskCancellationHandler {
            // Only a closure that captures its actor stays on it; without this, it would suspend on a pool thread.
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
