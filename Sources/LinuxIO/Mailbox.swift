import Synchronization

/// Carries items from a thread that must never wait to one task that takes them in batches.
///
/// If more than `capacity` items wait, a single overflow item replaces them all.
final class Mailbox<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var isOverflowing = false
        var isClosed = false
        var consumer: CheckedContinuation<[Item]?, Never>?
    }

    private let state = Mutex(State())
    private let capacity: Int
    private let overflow: Item

    init(capacity: Int, overflow: Item) {
        self.capacity = capacity
        self.overflow = overflow
    }

    /// Adds items; never blocks.
    func post(_ items: [Item]) {
        guard !items.isEmpty else { return }
        deliver { state in
            if !state.isOverflowing { state.items += items }
            if state.items.count > capacity { (state.items, state.isOverflowing) = ([overflow], true) }
        }
    }

    /// Closes the mailbox; the consumer still gets the waiting items.
    func close() {
        deliver { $0.isClosed = true }
    }

    /// Waits for items and takes them all; returns `nil` once the mailbox is closed and empty, or the task is cancelled.
    func take() async -> [Item]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { consumer in
                deliver { state in
                    precondition(state.consumer == nil, "a mailbox has one consumer")
                    state.consumer = consumer
                }
                // The task was cancelled before the handler could find the consumer.
                if Task.isCancelled { abandon() }
            }
        } onCancel: {
            abandon()
        }
    }

    private func abandon() {
        let consumer = state.withLock { state in
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume(returning: nil)
    }

    private func deliver(_ change: (inout State) -> Void) {
        let (consumer, items) = state.withLock { state -> (CheckedContinuation<[Item]?, Never>?, [Item]?) in
            change(&state)
            guard let consumer = state.consumer, state.isClosed || !state.items.isEmpty else { return (nil, nil) }
            let items = state.items.isEmpty ? nil : state.items
            (state.items, state.isOverflowing, state.consumer) = ([], false, nil)
            return (consumer, items)
        }
        consumer?.resume(returning: items)
    }
}
