/// Sees to it that of the jobs with one ref only one is under way at a time: the next is looked at when it is known what
/// became of the one before.
package struct RefTurns: Sendable {
    /// Stands for the refs of jobs that have not been looked into: no ref is empty.
    package static let unknown = ""

    /// How many files may wait to be told; the others are to ask again.
    package let limit: Int

    private var counts: [String: Int] = [:]
    private var waiting: [String: Set<FileName>] = [:]
    private var waitingCount = 0

    /// Creates turns of which nobody has one.
    package init(limit: Int = 10_000) {
        self.limit = limit
    }

    /// Whether a job with the ref is under way.
    package func isTaken(_ ref: String) -> Bool { counts[ref] != nil }

    /// Notes that a job with the ref is under way, which is known twice while it passes from one hand to another.
    package mutating func begin(_ ref: String) {
        counts[ref, default: 0] += 1
    }

    /// Notes that it is so once less.
    ///
    /// - Returns: The files that have waited for that, if no job with the ref is under way any more.
    package mutating func end(_ ref: String) -> Set<FileName> {
        guard let count = counts[ref], count < 2 else {
            counts[ref]? -= 1
            return []
        }
        counts[ref] = nil
        return release(ref)
    }

    /// Has a file wait for the end of the job that is under way.
    ///
    /// - Parameters:
    ///   - name: The file.
    ///   - ref: Its ref, or `unknown`.
    /// - Returns: Whether there is room for it.
    package mutating func wait(_ name: FileName, for ref: String) -> Bool {
        if waiting[ref]?.contains(name) == true { return true }
        guard waitingCount < limit else { return false }
        waiting[ref, default: []].insert(name)
        waitingCount += 1
        return true
    }

    /// Lets go of the files that wait for a ref, and returns them.
    package mutating func release(_ ref: String) -> Set<FileName> {
        let names = waiting.removeValue(forKey: ref) ?? []
        waitingCount -= names.count
        return names
    }
}
