import JobFormat
package import JournalModel
package import PushModel
import SpoolModel

/// A job in a table of a report.
package struct ReportJob: Hashable, Sendable {
    /// The app of the job.
    package let app: String
    /// The name of its file, escaped.
    package let name: String
    /// The archive that it ended in.
    package let state: Conclusion.State
    /// Why it did not simply succeed; `nil` if it did.
    package let code: String?
    /// The number of its notifications.
    package let notificationCount: Int
    /// Its notifications, counted by outcome.
    package let tally: Tally
    /// The time from claim to end; `nil` if it was never claimed.
    package let took: Duration?
    /// When it ended.
    package let end: WallTime

    init(_ account: JobAccount, of app: String, at end: WallTime) {
        (self.app, name) = (app, account.name)
        (state, code) = (account.state, account.code)
        (notificationCount, tally) = (account.notificationCount, account.tally)
        self.end = end
        took = account.claimedAt.map { max(Duration.zero, end - $0) }
    }
}

/// A job ordered by its number of notifications that were not accepted, the most first.
struct MissedJob: Comparable, Sendable {
    let job: ReportJob

    static func < (left: MissedJob, right: MissedJob) -> Bool { left.key < right.key }

    private var key: (Int, Int64, String, String) {
        (-job.tally.missedCount, -job.end.epochSeconds, job.app, job.name)
    }
}

/// A job ordered by its duration, the slowest first.
struct SlowJob: Comparable, Sendable {
    let job: ReportJob

    static func < (left: SlowJob, right: SlowJob) -> Bool { left.key < right.key }

    private var key: (Int64, String, String) { (-(job.took ?? .zero).wholeNanoseconds, job.app, job.name) }
}

/// A job of which nothing was sent, because its file could not be used; the most recent first.
struct NeverSentJob: Comparable, Sendable {
    /// The codes of such jobs.
    static let codes: [ResultCode] = [.unreadable, .incomplete, .invalid, .duplicate]

    let job: ReportJob

    /// Returns `nil` if the job was sent, at least in part, or ended for another reason.
    init?(job: ReportJob) {
        guard job.state == .failed, Self.codes.contains(where: { $0.rawValue == job.code }) else { return nil }
        self.job = job
    }

    static func < (left: NeverSentJob, right: NeverSentJob) -> Bool { left.key < right.key }

    private var key: (Int64, String, String) { (-job.end.epochSeconds, job.app, job.name) }
}
