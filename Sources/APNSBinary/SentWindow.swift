import APNSModel

/// Notifications in the order in which one connection sent them, each with its sequence number.
///
/// Sequence numbers count up from 0 in 64 bits and never wrap; the 32-bit identifier on the wire is derived from them and
/// never 0, because that is what a gateway says when it does not know.
struct SentWindow: Sendable {
    private struct Run: Sendable {
        var batch: Batch
        var first: UInt64
        var end: UInt64 { first + UInt64(batch.count) }
    }

    /// How many identifiers there are: all but 0.
    static let identifierCount: UInt64 = 0xFFFF_FFFF

    private var runs: [Run] = []
    private var head = 0
    /// How many notifications there are.
    private(set) var count = 0

    /// The oldest sequence number in it.
    var oldest: UInt64? { head < runs.count ? runs[head].first : nil }

    /// The sequence number behind the newest in it.
    var end: UInt64? { head < runs.count ? runs[runs.count - 1].end : nil }

    /// The identifier of a sequence number: 1 to 2³²−1, then 1 again.
    static func identifier(of sequence: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: sequence % identifierCount + 1)
    }

    /// The sequence number that an identifier names, given that it lies in `range`, which is shorter than 2³²−1.
    static func sequence(of identifier: UInt32, in range: Range<UInt64>) -> UInt64? {
        guard identifier != 0 else { return nil }
        let round = range.lowerBound - range.lowerBound % identifierCount
        let candidate = round + UInt64(identifier) - 1
        let sequence = candidate < range.lowerBound ? candidate + identifierCount : candidate
        return range.contains(sequence) ? sequence : nil
    }

    /// Adds a batch whose first notification has the given sequence number, at least that behind the newest.
    mutating func append(_ batch: Batch, first: UInt64) {
        count += batch.count
        if head < runs.count, runs[runs.count - 1].end == first, runs[runs.count - 1].batch.merge(batch) { return }
        runs.append(Run(batch: batch, first: first))
    }

    /// Removes what comes before `sequence` and returns it, oldest first.
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

    /// Removes the oldest ones beyond `limit`.
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
