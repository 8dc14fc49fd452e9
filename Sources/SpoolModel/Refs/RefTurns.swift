/// Sees to it that of the jobs with one sign only one is under way at a time: the next is looked at when it is known what
/// became of the one before.
package struct RefTurns: Sendable {
    /// How many files may wait to be told; the others are to ask again.
    package let limit: Int

    private var counts: [JobSign: Int] = [:]
    /// The files by what they wait for; `nil` stands for jobs that have not been looked into.
    private var waiting: [JobSign?: Set<FileName>] = [:]
    private var waitingCount = 0

    /// Creates turns of which nobody has one.
    package init(limit: Int = 10_000) {
        self.limit = limit
    }

    /// Whether a job with the sign is under way.
    package func isTaken(_ sign: JobSign) -> Bool { counts[sign] != nil }

    /// Notes that a job with the sign is under way, which is known twice while it passes from one hand to another.
    package mutating func begin(_ sign: JobSign) {
        counts[sign, default: 0] += 1
    }

    /// Notes that it is so once less.
    ///
    /// - Returns: The files that have waited for that, if no job with the sign is under way any more.
    package mutating func end(_ sign: JobSign) -> Set<FileName> {
        guard let count = counts[sign], count < 2 else {
            counts[sign]? -= 1
            return []
        }
        counts[sign] = nil
        return release(sign)
    }

    /// Has a file wait for the end of the job that is under way.
    ///
    /// - Parameters:
    ///   - name: The file.
    ///   - sign: What it has in common with that, or `nil`: it waits until all jobs have been looked into.
    /// - Returns: Whether there is room for it.
    package mutating func wait(_ name: FileName, for sign: JobSign?) -> Bool {
        if waiting[sign]?.contains(name) == true { return true }
        guard waitingCount < limit else { return false }
        waiting[sign, default: []].insert(name)
        waitingCount += 1
        return true
    }

    /// Lets go of the files that wait for a sign, or for the unknown, and returns them.
    package mutating func release(_ sign: JobSign?) -> Set<FileName> {
        let names = waiting.removeValue(forKey: sign) ?? []
        waitingCount -= names.count
        return names
    }
}
