package import APNSModel

/// How many jobs of an app are in memory, and whether there is a place for another.
///
/// A quarter of each kind of place is for urgent jobs, so that no number of others keeps one out.
package struct Places: Sendable {
    /// How many places there are.
    package struct Limits: Hashable, Sendable {
        /// Jobs under way. Most of them only wait for confirmation.
        package var jobCount: Int
        /// Jobs open for reading.
        package var readerCount: Int
        /// Bytes of documents in memory.
        package var byteCount: Int

        /// Creates limits.
        package init(jobCount: Int, readerCount: Int, byteCount: Int) {
            (self.jobCount, self.readerCount, self.byteCount) = (jobCount, readerCount, byteCount)
        }

        /// What jobs that are not urgent may take of it.
        var forOthers: Limits {
            Limits(
                jobCount: jobCount - jobCount / 4, readerCount: readerCount - readerCount / 4,
                byteCount: byteCount - byteCount / 4)
        }

        /// Whether the use leaves a place.
        func leavesRoom(_ use: Limits) -> Bool {
            use.jobCount < jobCount && use.readerCount < readerCount && use.byteCount < byteCount
        }
    }

    private let limits: Limits
    private var urgent = Limits(jobCount: 0, readerCount: 0, byteCount: 0)
    private var others = Limits(jobCount: 0, readerCount: 0, byteCount: 0)

    /// Creates places that are all free.
    package init(_ limits: Limits) {
        self.limits = limits
    }

    /// Whether another job of the lane may be taken.
    ///
    /// - Parameters:
    ///   - lane: The job's.
    ///   - pending: How many more are about to be taken, of whatever lane.
    /// - Returns: Whether there is a place of each kind.
    package func hasRoom(for lane: Lane, pending: Int) -> Bool {
        var use = others
        use.jobCount += pending
        if lane != .urgent, !limits.forOthers.leavesRoom(use) { return false }
        use.jobCount += urgent.jobCount
        use.readerCount += urgent.readerCount
        use.byteCount += urgent.byteCount
        return limits.leavesRoom(use)
    }

    /// A job begins, and is open for reading.
    package mutating func begin(_ lane: Lane, byteCount: Int) {
        change(lane, Limits(jobCount: 1, readerCount: 1, byteCount: byteCount))
    }

    /// A job has been read to its end.
    package mutating func close(_ lane: Lane, byteCount: Int) {
        change(lane, Limits(jobCount: 0, readerCount: -1, byteCount: -byteCount))
    }

    /// A job that is read is over.
    package mutating func end(_ lane: Lane) {
        change(lane, Limits(jobCount: -1, readerCount: 0, byteCount: 0))
    }

    private mutating func change(_ lane: Lane, _ change: Limits) {
        if lane == .urgent { urgent.add(change) } else { others.add(change) }
    }
}

extension Places.Limits {
    fileprivate mutating func add(_ other: Places.Limits) {
        jobCount += other.jobCount
        readerCount += other.readerCount
        byteCount += other.byteCount
    }
}
