package import JobFormat

/// Lets only one job per sign be under way at a time. The next is examined when the outcome of the previous is known.
package struct RefTurns: Sendable {
    /// The most files that can wait to be notified. Others have to ask again.
    package let limit: Int

    private var counts: [JobSign: Int] = [:]
    /// The waiting files by sign; `nil` stands for jobs that have not been examined yet.
    private var waiting: [JobSign?: Set<FileName>] = [:]
    private var waitingCount = 0

    /// Creates turns with no job under way.
    package init(limit: Int = 10_000) {
        self.limit = limit
    }

    /// The signs of the jobs under way.
    package var signs: some Sequence<JobSign> { counts.keys }

    /// Whether a job with the sign is under way.
    package func isTaken(_ sign: JobSign) -> Bool { counts[sign] != nil }

    /// Records that a job with the sign is under way. While a job is handed over, it is counted twice.
    package mutating func begin(_ sign: JobSign) {
        counts[sign, default: 0] += 1
    }

    /// Reverses one call of `begin(_:)`.
    ///
    /// - Returns: The files that were waiting, if no job with the sign is under way any more.
    package mutating func end(_ sign: JobSign) -> Set<FileName> {
        guard let count = counts[sign], count < 2 else {
            counts[sign]? -= 1
            return []
        }
        counts[sign] = nil
        return release(sign)
    }

    /// Makes a file wait until the job under way ends.
    ///
    /// - Parameters:
    ///   - name: The file.
    ///   - sign: The sign that both share, or `nil` to wait until all jobs have been examined.
    /// - Returns: Whether there is room for it.
    package mutating func wait(_ name: FileName, for sign: JobSign?) -> Bool {
        if waiting[sign]?.contains(name) == true { return true }
        guard waitingCount < limit else { return false }
        waiting[sign, default: []].insert(name)
        waitingCount += 1
        return true
    }

    /// Removes and returns the files that wait for a sign, or for unexamined jobs (`nil`).
    package mutating func release(_ sign: JobSign?) -> Set<FileName> {
        let names = waiting.removeValue(forKey: sign) ?? []
        waitingCount -= names.count
        return names
    }
}
