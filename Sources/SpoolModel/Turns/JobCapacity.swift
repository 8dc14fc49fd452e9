package import PushModel

/// Counts an app's jobs in memory, and decides whether there is room for another.
///
/// A quarter of each resource is reserved for urgent jobs, so that other jobs cannot block them.
package struct JobCapacity: Sendable {
    /// The limits, or the amounts in use.
    package struct Limits: Hashable, Sendable {
        /// Active jobs. Most of them only wait for confirmation.
        package var jobCount: Int
        /// Jobs open for reading.
        package var readerCount: Int
        /// Bytes of documents in memory.
        package var byteCount: Int

        /// Creates limits.
        package init(jobCount: Int, readerCount: Int, byteCount: Int) {
            (self.jobCount, self.readerCount, self.byteCount) = (jobCount, readerCount, byteCount)
        }

        /// The part that jobs in other lanes than urgent may use.
        var forOthers: Limits {
            Limits(
                jobCount: jobCount - jobCount / 4, readerCount: readerCount - readerCount / 4,
                byteCount: byteCount - byteCount / 4)
        }

        /// Whether there is room for more than `use`.
        func leavesRoom(_ use: Limits) -> Bool {
            use.jobCount < jobCount && use.readerCount < readerCount && use.byteCount < byteCount
        }
    }

    private let limits: Limits
    private var urgent = Limits(jobCount: 0, readerCount: 0, byteCount: 0)
    private var others = Limits(jobCount: 0, readerCount: 0, byteCount: 0)

    /// Creates limits with nothing in use.
    package init(_ limits: Limits) {
        self.limits = limits
    }

    /// Whether another job of the lane may be taken.
    ///
    /// - Parameters:
    ///   - lane: The lane of the job.
    ///   - pending: How many more jobs, of any lane, are about to be taken.
    /// - Returns: Whether there is room in each resource.
    package func hasRoom(for lane: Lane, pending: Int) -> Bool {
        var use = others
        use.jobCount += pending
        if lane != .urgent, !limits.forOthers.leavesRoom(use) { return false }
        use.jobCount += urgent.jobCount
        use.readerCount += urgent.readerCount
        use.byteCount += urgent.byteCount
        return limits.leavesRoom(use)
    }

    /// Counts a job that begins and is open for reading.
    package mutating func begin(_ lane: Lane, byteCount: Int) {
        change(lane, Limits(jobCount: 1, readerCount: 1, byteCount: byteCount))
    }

    /// Counts a job that was read to its end.
    package mutating func close(_ lane: Lane, byteCount: Int) {
        change(lane, Limits(jobCount: 0, readerCount: -1, byteCount: -byteCount))
    }

    /// Counts the end of a job that was already read.
    package mutating func end(_ lane: Lane) {
        change(lane, Limits(jobCount: -1, readerCount: 0, byteCount: 0))
    }

    private mutating func change(_ lane: Lane, _ change: Limits) {
        if lane == .urgent { urgent.add(change) } else { others.add(change) }
    }
}

extension JobCapacity.Limits {
    fileprivate mutating func add(_ other: JobCapacity.Limits) {
        jobCount += other.jobCount
        readerCount += other.readerCount
        byteCount += other.byteCount
    }
}
