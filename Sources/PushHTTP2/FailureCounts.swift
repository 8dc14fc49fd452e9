import PushModel

/// Counts how often each notification failed, by kind of failure. Empty as long as nothing fails.
struct FailureCounts: Sendable {
    /// A kind of failure.
    enum Kind: Int, Sendable {
        /// The gateway asked for an immediate retry.
        case now
        /// The gateway asked for a later retry.
        case later
        /// The gateway reported a failure of its own.
        case serverError
        /// No answer came.
        case doubt
        /// The gateway refused the stream without processing it.
        case returned
        /// The gateway complained about the app.
        case app
    }

    private var counts: [JobID: [Int: SIMD8<UInt16>]] = [:]

    /// Whether nothing has failed.
    var isEmpty: Bool { counts.isEmpty }

    /// Counts one more failure of a batch of one, and returns the new count.
    mutating func count(_ kind: Kind, of one: Batch) -> Int {
        count(kind, of: one.job, one.indices.lowerBound)
    }

    /// Counts one more failure of each notification, and returns the runs with equal counts.
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

    /// Removes notifications that have an outcome.
    mutating func remove(_ batch: Batch) {
        guard var known = counts.removeValue(forKey: batch.job) else { return }
        if known.count < batch.count {
            known = known.filter { !batch.indices.contains($0.key) }
        } else {
            for index in batch.indices { known[index] = nil }
        }
        if !known.isEmpty { counts[batch.job] = known }
    }

    /// Forgets one kind of failures of all notifications.
    mutating func remove(_ kind: Kind) {
        for (job, known) in counts {
            counts[job] = known.mapValues { counts in
                var counts = counts
                counts[kind.rawValue] = 0
                return counts
            }
        }
    }

    /// Removes a job.
    mutating func remove(_ job: JobID) {
        counts[job] = nil
    }

    private mutating func count(_ kind: Kind, of job: JobID, _ index: Int) -> Int {
        let count = min(counts[job]?[index]?[kind.rawValue] ?? 0, UInt16.max - 1) + 1
        counts[job, default: [:]][index, default: SIMD8()][kind.rawValue] = count
        return Int(count)
    }
}
