package import JobFormat
package import JournalModel
package import PushModel

/// The counters of an app since the daemon started, and the state of its queue.
package struct AppMetrics: Hashable, Sendable {
    /// Why a notification was not accepted, for outcomes with a reason.
    package struct Failure: Hashable, Comparable, Sendable {
        /// The outcome's word.
        package let outcome: String
        /// The reason under which it is counted (`KnownReason`).
        package let reason: String

        /// Returns whether the left one sorts first.
        package static func < (left: Failure, right: Failure) -> Bool {
            (left.outcome, left.reason) < (right.outcome, right.reason)
        }
    }

    /// How a run of a hook ended.
    package enum HookEnd: String, CaseIterable, Hashable, Sendable {
        /// The hook took the file.
        case taken
        /// The hook refused the file for good.
        case refused
        /// The hook failed or could not be run; it gets the file again.
        case failed
    }

    /// The unfinished jobs of an app, as far as its runner knows, and the feedback that waits.
    package struct Queue: Hashable, Sendable {
        /// Files in `new/`.
        package var waitingCount = 0
        /// Jobs in `work/`.
        package var activeCount = 0
        /// Jobs in `hold/`; `nil` if unknown.
        package var heldCount: Int?
        /// Files in `new/` whose names are not job names.
        package var ignoredCount = 0
        /// Feedback files that wait for the hook or another consumer; `nil` if unknown.
        package var feedbackCount: Int?
        /// When the oldest of them was published.
        package var oldestFeedback: WallTime?
        /// Since when the hook has not taken the oldest of them.
        package var hookFailingSince: WallTime?
        /// The drop time of the oldest file in `new/` that may be taken.
        package var oldestWaiting: WallTime?
        /// The drop time of the oldest job in `work/`.
        package var oldestActive: WallTime?

        /// Creates an empty queue.
        package init() {}
    }

    /// Notifications by outcome. A notification whose outcome changed counts under both.
    package private(set) var tally = Tally()
    /// When the gateway last accepted a notification; `nil` if it has not since the start.
    package private(set) var lastAcceptedAt: WallTime?
    /// Rejected and unsent notifications, by reason.
    package private(set) var failures: [Failure: Int] = [:]
    /// Notifications that were counted as accepted, and were not.
    package private(set) var revokedCount = 0
    /// Resent notifications that cannot have been accepted before.
    package private(set) var resentCount = 0
    /// Resent notifications that may have been accepted before.
    package private(set) var doubtfulCount = 0
    /// Connections established since the start.
    package private(set) var openedCount = 0
    /// Connections that failed, or could not be established.
    package private(set) var brokenCount = 0
    /// Claimed jobs.
    package private(set) var claimedCount = 0
    /// Jobs archived in `done/`.
    package private(set) var doneCount = 0
    /// Jobs archived in `failed/`.
    package private(set) var failedCount = 0
    /// Failed jobs, by result code.
    package private(set) var failedCounts: [ResultCode: Int] = [:]
    /// Held jobs, by cause.
    package private(set) var heldCounts: [RecoveryPlan.HoldReason: Int] = [:]
    /// Jobs that their producers replaced.
    package private(set) var overwrittenCount = 0
    /// The times that jobs waited from drop to claim.
    package private(set) var waitTimes = Histogram.ofJobs
    /// The times that jobs took from claim to end.
    package private(set) var sendTimes = Histogram.ofJobs
    /// Runs of the hook, by their end; empty if the app has had no hook.
    package private(set) var hookEnds: [HookEnd: Int] = [:]
    /// The unfinished jobs, and the feedback that waits.
    package var queue = Queue()
    /// Free space on the app's volume, as last checked.
    package var freeByteCount: Int64?

    /// Creates counters that are all zero.
    package init() {}

    /// Counts notifications that got this outcome at `time`.
    package mutating func note(_ outcome: Outcome, count: Int, at time: WallTime) {
        tally.add(outcome, count: count)
        if outcome == .accepted { lastAcceptedAt = time }
        guard let refusal = outcome.refusal else { return }
        failures[Failure(outcome: outcome.kind.rawValue, reason: KnownReason.name(of: refusal.reason)), default: 0] +=
            count
    }

    /// Counts notifications that had been counted as accepted, and were not.
    package mutating func noteRevoked(_ count: Int) {
        revokedCount += count
    }

    /// Counts an established connection.
    package mutating func noteConnection() {
        openedCount += 1
    }

    /// Counts the end of a connection and its resent notifications. A routine end is not a failure.
    package mutating func noteEndOfConnection(isRoutine: Bool, resent: Int, doubtful: Int) {
        if !isRoutine { brokenCount += 1 }
        resentCount += resent
        doubtfulCount += doubtful
    }

    /// Counts a claimed job, and its time from drop to claim; `nil` if it was held or archived in between.
    package mutating func noteClaim(after wait: Duration?) {
        claimedCount += 1
        if let wait { waitTimes.add(nanoseconds: wait.wholeNanoseconds) }
    }

    /// Counts an archived job, and the time from its claim to its end if it was claimed.
    package mutating func noteEnd(_ conclusion: Conclusion, after length: Duration?) {
        switch conclusion.state {
        case .done: doneCount += 1
        case .failed: failedCount += 1
        }
        if let code = conclusion.code { failedCounts[code, default: 0] += 1 }
        if let length { sendTimes.add(nanoseconds: length.wholeNanoseconds) }
    }

    /// Counts a held job.
    package mutating func noteHold(_ cause: RecoveryPlan.HoldReason) {
        heldCounts[cause, default: 0] += 1
    }

    /// Counts runs of the hook; none, to begin with zero.
    package mutating func noteHook(_ end: HookEnd, count: Int = 1) {
        hookEnds[end, default: 0] += count
    }

    /// Counts a job that its producer replaced.
    package mutating func noteOverwritten() {
        overwrittenCount += 1
    }
}
