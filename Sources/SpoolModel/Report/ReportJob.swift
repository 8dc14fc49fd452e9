package import APNSModel

/// A job in a table of a report.
package struct ReportJob: Hashable, Sendable {
    /// Its app.
    package let app: String
    /// Its name, escaped.
    package let name: String
    /// Which archive it went to.
    package let state: Conclusion.State
    /// Why it did not simply succeed.
    package let code: String?
    /// What became of its notifications.
    package let counts: JobAccount.Counts
    /// How long it took from its claim on; `nil` if it was never claimed.
    package let took: Duration?
    /// When it ended.
    package let end: WallTime

    init(_ account: JobAccount, of app: String, at end: WallTime) {
        (self.app, name) = (app, account.name)
        (state, code) = (account.state, account.code)
        (counts, self.end) = (account.counts, end)
        took = account.claimedAt.map { max(Duration.zero, end - $0) }
    }
}

/// A job by how many of its notifications were not accepted: the worst is the least.
struct MissedJob: Comparable, Sendable {
    let job: ReportJob

    static func < (left: MissedJob, right: MissedJob) -> Bool { left.key < right.key }

    private var key: (Int, Int64, String, String) {
        (-job.counts.missedCount, -job.end.epochSeconds, job.app, job.name)
    }
}

/// A job by how long it took: the slowest is the least.
struct SlowJob: Comparable, Sendable {
    let job: ReportJob

    static func < (left: SlowJob, right: SlowJob) -> Bool { left.key < right.key }

    private var key: (Int64, String, String) { (-(job.took ?? .zero).wholeNanoseconds, job.app, job.name) }
}
