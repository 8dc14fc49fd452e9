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
    /// The same by job, without zeros.
    private var counts: [JobID: Int] = [:]

    /// When the first pause is over.
    var next: Moment? { ends.first.map { Moment(nanoseconds: $0 * Self.grain) } }

    /// How many notifications of a job pause.
    func count(of job: JobID) -> Int { counts[job] ?? 0 }

    /// Adds a batch.
    mutating func add(_ batch: Batch, until: Moment) {
        let end = (until.nanoseconds + Self.grain - 1) / Self.grain
        if batches[end] == nil { ends.insert(end, at: place(of: end)) }
        batches[end, default: []].append(batch)
        change(batch.job, by: batch.count)
    }

    /// Removes what has paused until `now`, and returns it, what has paused longest first.
    mutating func release(at now: Moment) -> [Batch] {
        let over = ends.prefix { $0 * Self.grain <= now.nanoseconds }
        guard !over.isEmpty else { return [] }
        let released = over.flatMap { batches.removeValue(forKey: $0) ?? [] }
        ends.removeFirst(over.count)
        for batch in released { change(batch.job, by: -batch.count) }
        return released
    }

    /// What pauses of a job. Costs as much as `remove`.
    func batches(of job: JobID) -> [Batch] {
        counts[job] == nil ? [] : batches.values.flatMap { $0.filter { $0.job == job } }
    }

    /// Removes what pauses of a job, and returns it. Costs O(*n*) in all that pauses, and O(1) when nothing of the job does.
    mutating func remove(_ job: JobID) -> [Batch] {
        guard let ours = counts[job] else { return [] }
        var removed: [Batch] = []
        for end in ends {
            removed += batches[end, default: []].filter { $0.job == job }
            batches[end]?.removeAll { $0.job == job }
        }
        change(job, by: -ours)
        return removed
    }

    private mutating func change(_ job: JobID, by change: Int) {
        count += change
        let ours = (counts[job] ?? 0) + change
        counts[job] = ours == 0 ? nil : ours
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
