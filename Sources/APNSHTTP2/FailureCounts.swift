import APNSModel

/// How often single notifications have failed in which way. Empty as long as nothing fails.
struct FailureCounts: Sendable {
    /// A way to fail.
    enum Kind: Int, Sendable {
        /// The gateway asked for another try at once.
        case now
        /// It asked for one later.
        case later
        /// It failed itself.
        case serverError
        /// No answer came.
        case doubt
        /// It refused the stream unprocessed.
        case returned
        /// The gateway found fault with the app.
        case app
    }

    private var counts: [JobID: [Int: SIMD8<UInt16>]] = [:]

    /// Whether nothing has failed.
    var isEmpty: Bool { counts.isEmpty }

    /// Counts one more failure of a batch of one, and returns how many there are.
    mutating func count(_ kind: Kind, of one: Batch) -> Int {
        count(kind, of: one.job, one.indices.lowerBound)
    }

    /// Counts one more failure of each notification, and returns the runs that have failed equally often.
    mutating func counts(_ kind: Kind, of batch: Batch) -> [(part: Batch, count: Int)] {
        var runs: [(part: Batch, count: Int)] = []
        var (start, last) = (batch.indices.lowerBound, 0)
        for index in batch.indices {
            let count = count(kind, of: batch.job, index)
            if count != last, index > start {
                runs.append((batch[start..<index], last))
                start = index
            }
            last = count
        }
        if start < batch.indices.upperBound { runs.append((batch[start..<batch.indices.upperBound], last)) }
        return runs
    }

    /// Forgets notifications that have an outcome.
    mutating func remove(_ batch: Batch) {
        guard var known = counts.removeValue(forKey: batch.job) else { return }
        if known.count < batch.count {
            known = known.filter { !batch.indices.contains($0.key) }
        } else {
            for index in batch.indices { known[index] = nil }
        }
        if !known.isEmpty { counts[batch.job] = known }
    }

    /// Forgets a job.
    mutating func remove(_ job: JobID) {
        counts[job] = nil
    }

    private mutating func count(_ kind: Kind, of job: JobID, _ index: Int) -> Int {
        let count = min(counts[job]?[index]?[kind.rawValue] ?? 0, UInt16.max - 1) + 1
        counts[job, default: [:]][index, default: SIMD8()][kind.rawValue] = count
        return Int(count)
    }
}
