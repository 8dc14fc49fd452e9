import APNSModel

/// Notifications that are not to be sent before a moment.
///
/// Moments are rounded up to tenths of a second, so that a hundred thousand refusals make some thousand entries.
struct PausedBatches: Sendable {
    private static let grain: Int64 = 100_000_000

    private var batches: [Int64: [Batch]] = [:]
    /// The tenths of a second at which something ends, ascending.
    private var ends: [Int64] = []
    /// How many notifications pause.
    private(set) var count = 0

    /// When the first pause is over.
    var next: Moment? { ends.first.map { Moment(nanoseconds: $0 * Self.grain) } }

    /// Adds a batch.
    mutating func add(_ batch: Batch, until: Moment) {
        let end = (until.nanoseconds + Self.grain - 1) / Self.grain
        if batches[end] == nil { ends.insert(end, at: place(of: end)) }
        batches[end, default: []].append(batch)
        count += batch.count
    }

    /// Removes what has paused until `now`, and returns it, what has paused longest first.
    mutating func release(at now: Moment) -> [Batch] {
        let over = ends.prefix { $0 * Self.grain <= now.nanoseconds }
        guard !over.isEmpty else { return [] }
        let released = over.flatMap { batches.removeValue(forKey: $0) ?? [] }
        ends.removeFirst(over.count)
        count -= released.reduce(0) { $0 + $1.count }
        return released
    }

    /// Removes what pauses of a job, and returns it.
    mutating func remove(_ job: JobID) -> [Batch] {
        var removed: [Batch] = []
        for end in ends {
            removed += batches[end, default: []].filter { $0.job == job }
            batches[end]?.removeAll { $0.job == job }
        }
        count -= removed.reduce(0) { $0 + $1.count }
        return removed
    }

    /// Where an end belongs among the others.
    private func place(of end: Int64) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] < end { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
