package import APNSModel

/// What is counted of an app since the daemon started, and how its queue is.
package struct AppMetrics: Hashable, Sendable {
    /// Why a notification was not accepted, where there is a reason.
    package struct Failure: Hashable, Comparable, Sendable {
        /// The outcome's word.
        package let outcome: String
        /// The reason as it is counted (`KnownReason`).
        package let reason: String

        /// Returns whether the left one is listed first.
        package static func < (left: Failure, right: Failure) -> Bool {
            (left.outcome, left.reason) < (right.outcome, right.reason)
        }
    }

    /// Why the daemon put a job on hold.
    package enum HoldCause: String, CaseIterable, Hashable, Sendable {
        /// Its bytes are not those that were checked.
        case changed
        /// The daemon died over it again and again.
        case poison
        /// The journal is damaged where it may have told of it.
        case damagedJournal = "damaged_journal"
    }

    /// What an app has that is not over, as far as its runner knows.
    package struct Queue: Hashable, Sendable {
        /// Files in `new/`.
        package var waitingCount = 0
        /// Jobs in `work/`.
        package var activeCount = 0
        /// Jobs in `hold/`; `nil` when that cannot be told.
        package var heldCount: Int?
        /// Files in `new/` with names that no job has.
        package var ignoredCount = 0
        /// When the first of those in `new/` that may be taken was dropped.
        package var oldestWaiting: WallTime?
        /// When the first of those in `work/` was dropped.
        package var oldestActive: WallTime?

        /// Creates an empty queue.
        package init() {}
    }

    /// How many notifications came to each outcome. Those that came to another later count with both.
    package private(set) var tally = Tally()
    /// How many were rejected or not sent, by reason.
    package private(set) var failures: [Failure: Int] = [:]
    /// How many were accepted, and then were not.
    package private(set) var revokedCount = 0
    /// How many were sent again that cannot have been accepted.
    package private(set) var resentCount = 0
    /// How many were sent again that may have been.
    package private(set) var doubtfulCount = 0
    /// How many connections came up.
    package private(set) var openedCount = 0
    /// How many failed, or did not come up.
    package private(set) var brokenCount = 0
    /// How many jobs were claimed.
    package private(set) var claimedCount = 0
    /// How many were archived in `done/`.
    package private(set) var doneCount = 0
    /// How many were archived in `failed/`.
    package private(set) var failedCount = 0
    /// How many of these failed for what.
    package private(set) var failedCounts: [ResultCode: Int] = [:]
    /// How many were put on hold for what.
    package private(set) var heldCounts: [HoldCause: Int] = [:]
    /// How many were replaced by their producers.
    package private(set) var overwrittenCount = 0
    /// How long jobs waited from drop to claim.
    package private(set) var waitTimes = Histogram.ofJobs
    /// How long they took from the claim until they had ended.
    package private(set) var sendTimes = Histogram.ofJobs
    /// What is not over.
    package var queue = Queue()
    /// Room on the app's volume, as of the last look.
    package var freeByteCount: Int64?

    /// Nothing was counted yet.
    package init() {}

    /// Counts notifications with this outcome.
    package mutating func note(_ outcome: Outcome, count: Int) {
        tally.add(outcome, count: count)
        guard let refusal = outcome.refusal else { return }
        failures[Failure(outcome: outcome.word, reason: KnownReason.name(of: refusal.reason)), default: 0] += count
    }

    /// Counts notifications that turned out not to have been accepted.
    package mutating func noteRevoked(_ count: Int) {
        revokedCount += count
    }

    /// Counts a connection that came up.
    package mutating func noteConnection() {
        openedCount += 1
    }

    /// Counts what the end of a connection meant; an end that is everyday business is no failure.
    package mutating func noteEndOfConnection(isRoutine: Bool, resent: Int, doubtful: Int) {
        if !isRoutine { brokenCount += 1 }
        resentCount += resent
        doubtfulCount += doubtful
    }

    /// Counts a job that was claimed, and how long after its drop, if it has waited all that time.
    package mutating func noteClaim(after wait: Duration?) {
        claimedCount += 1
        if let wait { waitTimes.add(nanoseconds: wait.wholeNanoseconds) }
    }

    /// Counts a job that was archived, and how long after its claim it had ended, if it was claimed at all.
    package mutating func noteEnd(_ conclusion: Conclusion, after length: Duration?) {
        switch conclusion.state {
        case .done: doneCount += 1
        case .failed: failedCount += 1
        }
        if let code = conclusion.code { failedCounts[code, default: 0] += 1 }
        if let length { sendTimes.add(nanoseconds: length.wholeNanoseconds) }
    }

    /// Counts a job that was put on hold.
    package mutating func noteHold(_ cause: HoldCause) {
        heldCounts[cause, default: 0] += 1
    }

    /// Counts a job that was replaced.
    package mutating func noteOverwritten() {
        overwrittenCount += 1
    }
}
