import PushModel

/// Notifications that must not be sent before a given time.
///
/// Times are rounded up to tenths of a second, so that a hundred thousand refusals make only some thousand entries.
struct PausedBatches: Sendable {
    private static let grain: Int64 = 100_000_000

    private var batches: [Int64: [Batch]] = [:]
    /// The tenths of a second at which pauses end, ascending.
    private var ends: [Int64] = []
    /// The number of paused notifications.
    private(set) var count = 0
    /// The number of paused notifications by job, without zeros.
    private var counts: [JobID: Int] = [:]

    /// When the first pause ends.
    var next: Moment? { ends.first.map { Moment(nanoseconds: $0 * Self.grain) } }

    /// The jobs with paused notifications, in no particular order.
    var jobs: Dictionary<JobID, Int>.Keys { counts.keys }

    /// The number of a job's paused notifications.
    func count(of job: JobID) -> Int { counts[job] ?? 0 }

    /// Adds a batch.
    mutating func add(_ batch: Batch, until: Moment) {
        let end = (until.nanoseconds + Self.grain - 1) / Self.grain
        if batches[end] == nil { ends.insert(end, at: place(of: end)) }
        batches[end, default: []].append(batch)
        change(batch.job, by: batch.count)
    }

    /// Removes and returns the batches whose pause has ended, earliest end first.
    mutating func release(at now: Moment) -> [Batch] {
        let over = ends.prefix { $0 * Self.grain <= now.nanoseconds }
        guard !over.isEmpty else { return [] }
        let released = over.flatMap { batches.removeValue(forKey: $0) ?? [] }
        ends.removeFirst(over.count)
        for batch in released { change(batch.job, by: -batch.count) }
        return released
    }

    /// A job's paused batches. Costs the same as `remove`.
    func batches(of job: JobID) -> [Batch] {
        counts[job] == nil ? [] : batches.values.flatMap { $0.filter { $0.job == job } }
    }

    /// Removes and returns a job's paused batches. Costs O(*n*) in all paused batches, and O(1) if none are the job's.
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

    /// The index of an end in the sorted list.
    private func place(of end: Int64) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] < end { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
