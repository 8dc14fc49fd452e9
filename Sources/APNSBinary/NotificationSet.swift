import PushModel

/// A set of notifications by job and index, stored as a few runs however large it is.
struct NotificationSet: Sendable {
    private var indices: [JobID: RangeSet<Int>] = [:]

    /// Whether the set is empty.
    var isEmpty: Bool { indices.isEmpty }

    /// Adds the notifications of a batch.
    mutating func insert(_ batch: Batch) {
        guard !batch.isEmpty else { return }
        indices[batch.job, default: RangeSet()].insert(contentsOf: batch.indices)
    }

    /// Removes the notifications of a batch that are in the set.
    mutating func remove(_ batch: Batch) {
        indices[batch.job]?.remove(contentsOf: batch.indices)
        if indices[batch.job]?.isEmpty == true { indices[batch.job] = nil }
    }

    /// Removes all notifications of a job.
    mutating func remove(_ job: JobID) {
        indices[job] = nil
    }

    /// Splits a batch where it enters or leaves the set. The parts are in order and cover the whole batch.
    func split(_ batch: Batch) -> [(part: Batch, isInside: Bool)] {
        guard let mine = indices[batch.job] else { return [(batch, false)] }
        let whole = RangeSet(batch.indices)
        let inside = whole.intersection(mine).ranges.map { (part: batch[$0], isInside: true) }
        let outside = whole.subtracting(mine).ranges.map { (part: batch[$0], isInside: false) }
        return (inside + outside).sorted { $0.part.indices.lowerBound < $1.part.indices.lowerBound }
    }
}
