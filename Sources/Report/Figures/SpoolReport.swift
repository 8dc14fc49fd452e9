import APNSModel
package import Document
package import JobFormat
package import JournalModel
package import PushModel
import SpoolModel

/// A report on the jobs and notifications of a time span, by app, time and reason. Memory is bounded, except for about
/// 40 bytes per job to recognize jobs already counted, and about 300 for each job that did not simply succeed.
///
/// Such a job may be retried under its id and end differently; only the line of its last end counts.
package struct SpoolReport: Sendable {
    /// Why a notification was not accepted.
    package struct Reason: Hashable, Sendable {
        /// The reason from the gateway or the daemon; the outcome's word if there is none.
        package let name: String
        /// The outcome of the notification.
        package let outcome: String
        /// The recommended action; `nil` if there is none.
        package let verdict: String?
    }

    /// The sources of the report.
    package struct Sources: Hashable, Sendable {
        /// The number of feedback files.
        package var fileCount = 0
        /// The number of lines that could not be read.
        package var badLineCount = 0
        /// The number of jobs from `job` lines.
        package fileprivate(set) var lineCount = 0
        /// The number of repeated `job` lines.
        package fileprivate(set) var repeatCount = 0
        /// The number of `job` lines of jobs that had ended before and were retried.
        package fileprivate(set) var correctionCount = 0
        /// The number of lines of notifications that were not accepted.
        package fileprivate(set) var missedLineCount = 0
        /// The number of jobs found only in the archives.
        package fileprivate(set) var archivedCount = 0
        /// The number of those that have a result file.
        package fileprivate(set) var resultCount = 0
        /// The folders and files that could not be read.
        package var unreadable: [String] = []
    }

    /// A job that a later line may correct.
    private struct OpenJob {
        let account: JobAccount
        let app: String
        let end: WallTime
        let isByLine: Bool
    }

    /// The number of jobs in a table.
    package static let tableCount = 20

    /// The span of the report.
    package let span: Range<WallTime>
    /// The time buckets of all figures, from the first notification or job to the last; valid after `settle()`.
    package private(set) var buckets: TimeBuckets
    /// The figures of all apps.
    package private(set) var total = ReportFigures()
    /// The figures of each app.
    package private(set) var apps: [String: ReportFigures] = [:]
    /// The number of notifications that were not accepted, by reason.
    package private(set) var reasons: [Reason: Int] = [:]
    /// The number of failed jobs, by code.
    package private(set) var codes: [String: Int] = [:]
    /// The sources of the report.
    package var sources = Sources()
    private var missed = LeastElements<MissedJob>(limit: SpoolReport.tableCount)
    private var slow = LeastElements<SlowJob>(limit: SpoolReport.tableCount)
    private var neverSent = LeastElements<NeverSentJob>(limit: SpoolReport.tableCount)
    private var seen: Set<UInt64> = []
    /// The jobs that are not counted yet, by fingerprint.
    private var open: [UInt64: OpenJob] = [:]
    private var missedReasons = ReasonTally()

    /// Creates an empty report.
    package init(_ span: Range<WallTime>) {
        self.span = span
        buckets = TimeBuckets(since: span.lowerBound, until: span.upperBound)
    }

    /// The jobs with the most notifications that were not accepted.
    package var worstJobs: [ReportJob] { missed.sorted.map(\.job) }

    /// The jobs that took longest.
    package var slowestJobs: [ReportJob] { slow.sorted.map(\.job) }

    /// The last jobs that were never sent, the most recent first.
    package var neverSentJobs: [ReportJob] { neverSent.sorted.map(\.job) }

    /// The number of jobs that were never sent.
    package var neverSentCount: Int { NeverSentJob.codes.reduce(0) { $0 + codes[$1.rawValue, default: 0] } }

    /// Adds a feedback line of an app. A `job` line that was added before is not counted again.
    package mutating func add(_ line: Node, of app: String) {
        if line["kind"]?.isText("notification") == true { return addNotification(line) }
        guard line["kind"]?.isText("job") == true, let account = JobAccount(line) else { return }
        // From now on the file in the archive is known, whenever the job ended.
        if let path = account.path { seen.insert(Self.fingerprint("path", path)) }
        guard let end = account.finishedAt else { return }
        switch add(OpenJob(account: account, app: app, end: end, isByLine: true)) {
        case .first: break
        case .later: sources.correctionCount += 1
        case .again: sources.repeatCount += 1
        }
    }

    private enum Novelty {
        case first
        case later
        case again
    }

    /// Adds the account of a job that ended.
    private mutating func add(_ job: OpenJob) -> Novelty {
        guard let id = job.account.id else {
            count(job)
            return .first
        }
        let key = Self.fingerprint("id", id.description)
        let isKnown = !seen.insert(key).inserted
        if isKnown {
            guard let earlier = open[key], earlier.end < job.end else { return .again }
            open[key] = job
        } else if job.account.state == .failed || job.account.tally.missedCount > 0 {
            open[key] = job
        } else {
            // Everything was accepted, so a later line cannot improve it.
            count(job)
        }
        return isKnown ? .later : .first
    }

    private mutating func count(_ job: OpenJob) {
        guard span.contains(job.end) else { return }
        if job.isByLine {
            sources.lineCount += 1
        } else {
            (sources.archivedCount, sources.resultCount) = (sources.archivedCount + 1, sources.resultCount + 1)
        }
        add(job.account, isCounted: true, of: job.app, at: job.end)
    }

    /// Counts the jobs that a later line could still have corrected, and makes the buckets of all figures the same. Call
    /// it once, after the last line.
    package mutating func settle() {
        for job in open.values { count(job) }
        reasons = missedReasons.counts { key in
            open[key]?.account.tally ?? (seen.contains(key) ? Tally() : nil)
        }
        (open, missedReasons) = ([:], ReasonTally())
        guard let fitting = total.buckets else { return }
        buckets = fitting
        total.widen(to: fitting)
        for app in apps.keys { apps[app]?.widen(to: fitting) }
    }

    /// Returns whether a line has reported the job with this path.
    package func isKnown(path: String) -> Bool { seen.contains(Self.fingerprint("path", path)) }

    /// Adds a job that no line reports.
    ///
    /// - Parameters:
    ///   - result: Its result file; `nil` if it has none.
    ///   - name: The name of its file.
    ///   - state: The archive that it is in.
    ///   - place: Its app, and when it was archived.
    package mutating func add(
        result: Node?, of name: FileName, _ state: Conclusion.State, _ place: (app: String, at: WallTime)
    ) {
        if let told = result.flatMap({ JobAccount($0) }) {
            let end = told.finishedAt ?? place.at
            _ = add(OpenJob(account: told, app: place.app, end: end, isByLine: false))
        } else if span.contains(place.at) {
            sources.archivedCount += 1
            add(JobAccount(name: name.escaped, state: state), isCounted: false, of: place.app, at: place.at)
        }
    }

    private mutating func add(_ account: JobAccount, isCounted: Bool, of app: String, at end: WallTime) {
        total.add(account, isCounted: isCounted, at: end, since: span.lowerBound)
        apps[app, default: ReportFigures()].add(account, isCounted: isCounted, at: end, since: span.lowerBound)
        if account.state == .failed { codes[account.code ?? "unknown", default: 0] += 1 }
        let job = ReportJob(account, of: app, at: end)
        if account.tally.missedCount > 0 { missed.add(MissedJob(job: job)) }
        if job.took != nil { slow.add(SlowJob(job: job)) }
        if let entry = NeverSentJob(job: job) { neverSent.add(entry) }
    }

    private mutating func addNotification(_ line: Node) {
        guard let outcome = line["outcome"]?.string, outcome != Outcome.Kind.accepted.rawValue,
            let time = line.feedbackTime, span.contains(time)
        else { return }
        sources.missedLineCount += 1
        let reason = Reason(
            name: line["reason"]?.string ?? outcome, outcome: outcome, verdict: line["verdict"]?.string)
        missedReasons.add(reason, of: line["id"]?.string.map { Self.fingerprint("id", $0) })
    }

    /// Returns a fingerprint of a text (64-bit FNV-1a). The chance that two of a million texts collide is one in 30 million.
    private static func fingerprint(_ kind: String, _ text: String) -> UInt64 {
        var hash = FNV1a(kind.utf8.span)
        hash.add(text.utf8.span)
        return hash.value
    }
}
