package import APNSModel

/// Whose recipients are read next: the jobs of an app in turn, except those that have too much paused already.
///
/// A paused notification counts against its job, not against the app. A job is full, and rests, when more than
/// `Limits.floor` of its notifications pause and no fewer than the app has left of `Limits.total`: one failing job gets half
/// of the total, two get a third each, and what is left is for the others. The job file is the buffer: the rest of a full job
/// stays there until enough of what pauses was sent again, settled or taken back.
///
/// A job of which at most `floor` notifications pause is never refused. If *j* jobs are read and a chunk has *c* recipients,
/// reading stops at `total` + *j* × (`floor` + *c*) paused notifications. All operations cost O(1), except that `note` gives
/// every resting job another look.
package struct ReadingTurns: Sendable {
    /// How much of an app may pause before its jobs rest.
    package struct Limits: Hashable, Sendable {
        /// How many notifications of all jobs.
        package var total: Int
        /// How many of one job may always pause.
        package var floor: Int

        /// Creates limits.
        package init(total: Int, floor: Int) {
            (self.total, self.floor) = (total, floor)
        }
    }

    private let limits: Limits
    private var turns = Scheduler<JobID>()
    /// How many notifications pause, by job; without zeros.
    private var paused: [JobID: Int] = [:]
    /// Jobs that asked while they were full.
    private var resting: [JobID: Lane] = [:]
    /// How many notifications of all jobs pause.
    package private(set) var pausedCount = 0

    /// Creates turns that no job has asked for.
    package init(_ limits: Limits) {
        self.limits = limits
    }

    /// Whether no job asks that may be read.
    package var isEmpty: Bool { turns.isEmpty }

    /// How many jobs rest.
    package var restingCount: Int { resting.count }

    /// Whether no job of this lane asks that may be read.
    package func isEmpty(_ lane: Lane) -> Bool { turns.isEmpty(lane) }

    /// Asks for a turn, behind all other jobs of the lane. A full job rests first.
    package mutating func ask(_ job: JobID, in lane: Lane) {
        if isFull(job) { resting[job] = lane } else { turns.ask(job, in: lane) }
    }

    /// Gives a turn to the next job of the lane; `nil` when none may be read.
    package mutating func next(of lane: Lane) -> JobID? {
        while let job = turns.next(of: LaneSet(lane)) {
            guard isFull(job) else { return job }
            resting[job] = lane
        }
        return nil
    }

    /// Takes back the questions of those that `isUnwanted` says yes to. Costs O(*n*).
    package mutating func removeAll(where isUnwanted: (JobID) -> Bool = { _ in true }) {
        turns.removeAll(where: isUnwanted)
        if !resting.isEmpty { resting = resting.filter { !isUnwanted($0.key) } }
    }

    /// Notes how many notifications of a job pause now.
    ///
    /// - Returns: The lanes in which jobs that rested ask again.
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

    /// Whether so much of a job pauses that no more of it is read.
    private func isFull(_ job: JobID) -> Bool {
        guard let count = paused[job], count > limits.floor else { return false }
        return count >= limits.total - pausedCount
    }
}
