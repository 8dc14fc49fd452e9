package import PushModel

/// Chooses the job whose recipients are read next: the jobs of an app in turn, except those with too many paused notifications.
///
/// A paused notification counts against its job, not against the app. A job is full, and rests, if more than `Limits.floor` of
/// its notifications are paused and at least as many as the app has left of `Limits.total`. So one failing job gets half of the
/// total, two get a third each, and the remainder is for the others. The job file is the buffer: the rest of a full job stays
/// there until enough of its paused notifications were resent, settled or taken back.
///
/// A job with at most `floor` paused notifications is never refused. If *j* jobs are read and a chunk has *c*
/// recipients, reading stops at `total` + *j* × (`floor` + *c*) paused notifications. All operations cost O(1), except
/// that `note` checks every resting job again.
package struct ReadingTurns: Sendable {
    /// How many of an app's notifications may be paused before its jobs rest.
    package struct Limits: Hashable, Sendable {
        /// The limit for all jobs together.
        package var total: Int
        /// How many notifications of one job may always be paused.
        package var floor: Int

        /// Creates limits.
        package init(total: Int, floor: Int) {
            (self.total, self.floor) = (total, floor)
        }
    }

    private let limits: Limits
    private var turns = Scheduler<JobID>()
    /// The number of paused notifications by job, without zeros.
    private var paused: [JobID: Int] = [:]
    /// The jobs that asked while they were full.
    private var resting: [JobID: Lane] = [:]
    /// The number of paused notifications of all jobs.
    package private(set) var pausedCount = 0

    /// Creates turns without jobs.
    package init(_ limits: Limits) {
        self.limits = limits
    }

    /// Whether no job is waiting for a turn. Resting jobs do not count.
    package var isEmpty: Bool { turns.isEmpty }

    /// The number of resting jobs.
    package var restingCount: Int { resting.count }

    /// Whether no job of this lane is waiting for a turn. Resting jobs do not count.
    package func isEmpty(_ lane: Lane) -> Bool { turns.isEmpty(lane) }

    /// Asks for a turn, after all other jobs of the lane. A full job rests first.
    package mutating func ask(_ job: JobID, in lane: Lane) {
        if isFull(job) { resting[job] = lane } else { turns.ask(job, in: lane) }
    }

    /// Gives a turn to the next job of the lane; `nil` if none may be read.
    package mutating func next(of lane: Lane) -> JobID? {
        while let job = turns.next(of: LaneSet(lane)) {
            guard isFull(job) else { return job }
            resting[job] = lane
        }
        return nil
    }

    /// Cancels the requests of the jobs for which `isUnwanted` returns true. Costs O(*n*).
    package mutating func removeAll(where isUnwanted: (JobID) -> Bool = { _ in true }) {
        turns.removeAll(where: isUnwanted)
        if !resting.isEmpty { resting = resting.filter { !isUnwanted($0.key) } }
    }

    /// Records how many notifications of a job are paused now.
    ///
    /// - Returns: The lanes of resting jobs that are waiting for a turn again.
    package mutating func note(_ count: Int, of job: JobID) -> LaneSet {
        pausedCount += count - (paused[job] ?? 0)
        paused[job] = count > 0 ? count : nil
        var woken = LaneSet()
        for (job, lane) in resting where !isFull(job) {
            resting[job] = nil
            turns.ask(job, in: lane)
            woken.insert(LaneSet(lane))
        }
        return woken
    }

    /// Whether too many notifications of a job are paused to read more of it.
    private func isFull(_ job: JobID) -> Bool {
        guard let count = paused[job], count > limits.floor else { return false }
        return count >= limits.total - pausedCount
    }
}
