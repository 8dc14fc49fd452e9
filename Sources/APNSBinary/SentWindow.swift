import PushModel

/// The notifications of one connection in the order in which they were sent, each with its sequence number.
///
/// Sequence numbers count up from 0 in 64 bits and never wrap. The 32-bit identifier on the wire is derived from them.
/// It is never 0, because gateways use 0 for an unknown notification.
struct SentWindow: Sendable {
    private struct Run: Sendable {
        var batch: Batch
        var first: UInt64
        var end: UInt64 { first + UInt64(batch.count) }
    }

    /// The number of identifiers: all but 0.
    static let identifierCount: UInt64 = 0xFFFF_FFFF

    private var runs: [Run] = []
    private var head = 0
    /// The number of notifications.
    private(set) var count = 0

    /// The oldest sequence number in it.
    var oldest: UInt64? { head < runs.count ? runs[head].first : nil }

    /// The sequence number after the newest in it.
    var end: UInt64? { head < runs.count ? runs[runs.count - 1].end : nil }

    /// The identifier of a sequence number: 1 to 2³²−1, then 1 again.
    static func identifier(of sequence: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: sequence % identifierCount + 1)
    }

    /// The sequence number of an identifier in `range`, which must be shorter than 2³²−1.
    static func sequence(of identifier: UInt32, in range: Range<UInt64>) -> UInt64? {
        guard identifier != 0 else { return nil }
        let round = range.lowerBound - range.lowerBound % identifierCount
        let candidate = round + UInt64(identifier) - 1
        let sequence = candidate < range.lowerBound ? candidate + identifierCount : candidate
        return range.contains(sequence) ? sequence : nil
    }

    /// Adds a batch. `first` is the sequence number of its first notification, and at least `end`.
    mutating func append(_ batch: Batch, first: UInt64) {
        count += batch.count
        if head < runs.count, runs[runs.count - 1].end == first, runs[runs.count - 1].batch.merge(batch) { return }
        runs.append(Run(batch: batch, first: first))
    }

    /// Removes the notifications before `sequence` and returns them, oldest first.
    mutating func removeAll(before sequence: UInt64) -> [(batch: Batch, first: UInt64)] {
        var removed: [(batch: Batch, first: UInt64)] = []
        while head < runs.count, runs[head].first < sequence {
            let first = runs[head].first
            let taken = runs[head].batch.removeFirst(Int(min(sequence - first, UInt64(runs[head].batch.count))))
            runs[head].first += UInt64(taken.count)
            removed.append((taken, first))
            count -= taken.count
            if runs[head].batch.isEmpty { head += 1 }
        }
        if head > 32, head * 2 > runs.count {
            runs.removeFirst(head)
            head = 0
        }
        return removed
    }

    /// Removes the oldest notifications in excess of `limit`.
    mutating func keepNewest(_ limit: Int) {
        while count > limit, let oldest {
            _ = removeAll(before: oldest + UInt64(min(count - limit, runs[head].batch.count)))
        }
    }

    /// Removes everything and returns it, oldest first.
    mutating func removeAll() -> [Batch] {
        removeAll(before: .max).map(\.batch)
    }
}
