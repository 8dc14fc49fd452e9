import APNSModel
import PushModel

/// Entries of the feedback service that are published together. A token occurs once, with its newest time.
package struct GoneTokenGroup: Sendable {
    /// The number of tokens, and the number of their bytes, at which a group is full. Its lines take less than 4 MiB.
    package static let limits = (tokens: 16_384, bytes: 1 << 20)

    private var order: [DeviceToken] = []
    private var goneSince: [DeviceToken: UInt32] = [:]
    private var byteCount = 0

    /// Creates an empty group.
    package init() {}

    /// Whether the group is full.
    package var isFull: Bool { order.count >= Self.limits.tokens || byteCount >= Self.limits.bytes }

    /// Whether the group has no entries.
    package var isEmpty: Bool { order.isEmpty }

    /// Adds an entry, unless its token is empty.
    package mutating func add(_ entry: FeedbackTuple) {
        guard !entry.token.bytes.isEmpty else { return }
        if let known = goneSince[entry.token] {
            goneSince[entry.token] = max(known, entry.epochSeconds)
        } else {
            goneSince[entry.token] = entry.epochSeconds
            order.append(entry.token)
            byteCount += entry.token.bytes.count
        }
    }

    /// Removes and returns all entries, in the order in which their tokens were first added.
    package mutating func takeAll() -> [FeedbackTuple] {
        let entries = order.map { FeedbackTuple(epochSeconds: goneSince[$0] ?? 0, token: $0) }
        self = GoneTokenGroup()
        return entries
    }
}
