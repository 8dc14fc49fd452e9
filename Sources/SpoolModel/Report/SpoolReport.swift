package import APNSModel
package import Document

/// What became of the jobs and notifications of a span of time, by app, by time, by reason: of any number of jobs in bounded
/// memory, but for some 40 bytes each by which those are known that were counted, and some 300 for each that did not simply
/// succeed.
///
/// Such a job may be tried again under its id, and end otherwise: the line of its last end counts.
package struct SpoolReport: Sendable {
    /// Why a notification was not accepted.
    package struct Reason: Hashable, Sendable {
        /// The gateway's word for it or ours; the outcome, if there is none.
        package let name: String
        /// What became of it.
        package let outcome: String
        /// What to do; `nil` if there is nothing.
        package let verdict: String?
    }

    /// What the report was made from.
    package struct Sources: Hashable, Sendable {
        /// Files of feedback.
        package var fileCount = 0
        /// Lines of them that could not be read.
        package var badLineCount = 0
        /// Jobs by their lines.
        package fileprivate(set) var lineCount = 0
        /// Lines of jobs that were told before.
        package fileprivate(set) var repeatCount = 0
        /// Lines of jobs that had ended before, and were tried again.
        package fileprivate(set) var correctionCount = 0
        /// Lines of notifications that were not accepted.
        package fileprivate(set) var missedLineCount = 0
        /// Jobs by their files in the archives only.
        package fileprivate(set) var archivedCount = 0
        /// Those of them that have a result file.
        package fileprivate(set) var resultCount = 0
        /// Folders and single files that cannot be read.
        package var unreadable: [String] = []
    }

    /// A job of which a later line may tell otherwise.
    private struct OpenJob {
        let account: JobAccount
        let app: String
        let end: WallTime
        let isByLine: Bool
    }

    /// How many jobs a table has.
    package static let tableCount = 20

    /// The parts of the time.
    package let buckets: TimeBuckets
    /// All apps together.
    package private(set) var total: ReportFigures
    /// Each app.
    package private(set) var apps: [String: ReportFigures] = [:]
    /// How often notifications were not accepted for which reason.
    package private(set) var reasons: [Reason: Int] = [:]
    /// How many jobs failed with which code.
    package private(set) var codes: [String: Int] = [:]
    /// What it was made from.
    package var sources = Sources()
    private var missed = LeastElements<MissedJob>(limit: SpoolReport.tableCount)
    private var slow = LeastElements<SlowJob>(limit: SpoolReport.tableCount)
    private var seen: Set<UInt64> = []
    /// Those that are not counted yet, by their fingerprints.
    private var open: [UInt64: OpenJob] = [:]
    private var missedReasons = ReasonTally()

    /// Counts nothing yet.
    package init(_ buckets: TimeBuckets) {
        self.buckets = buckets
        total = ReportFigures(buckets)
    }

    /// The jobs with the most notifications that were not accepted.
    package var worstJobs: [ReportJob] { missed.sorted.map(\.job) }

    /// The jobs that took longest.
    package var slowestJobs: [ReportJob] { slow.sorted.map(\.job) }

    /// Takes a line of feedback of an app. One that was taken before is not counted again, if it is about a job.
    package mutating func add(_ line: Node, of app: String) {
        if line["kind"]?.isText("notification") == true { return addNotification(line) }
        guard line["kind"]?.isText("job") == true, let account = JobAccount(line) else { return }
        // The file in the archive is then known, whenever that was.
        if let path = account.path { seen.insert(Self.fingerprint("path", path)) }
        guard let end = account.finishedAt else { return }
        switch take(OpenJob(account: account, app: app, end: end, isByLine: true)) {
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

    /// Takes an account of a job that ended.
    private mutating func take(_ job: OpenJob) -> Novelty {
        guard let id = job.account.id else {
            count(job)
            return .first
        }
        let key = Self.fingerprint("id", id.description)
        let isKnown = !seen.insert(key).inserted
        if isKnown {
            guard let earlier = open[key], earlier.end < job.end else { return .again }
            open[key] = job
        } else if job.account.state == .failed || job.account.counts.missedCount > 0 {
            open[key] = job
        } else {
            // It can end no better.
            count(job)
        }
        return isKnown ? .later : .first
    }

    private mutating func count(_ job: OpenJob) {
        guard buckets.contains(job.end) else { return }
        if job.isByLine {
            sources.lineCount += 1
        } else {
            (sources.archivedCount, sources.resultCount) = (sources.archivedCount + 1, sources.resultCount + 1)
        }
        add(job.account, isCounted: true, of: job.app, at: job.end)
    }

    /// Counts what a later line might have told otherwise until now. To be called once, behind the last line.
    package mutating func settle() {
        for job in open.values { count(job) }
        reasons = missedReasons.counts { key in
            open[key]?.account.counts ?? (seen.contains(key) ? JobAccount.Counts() : nil)
        }
        (open, missedReasons) = ([:], ReasonTally())
    }

    /// Returns whether a line has told of the job with this path.
    package func isKnown(path: String) -> Bool { seen.contains(Self.fingerprint("path", path)) }

    /// Takes a job that no line tells of.
    ///
    /// - Parameters:
    ///   - result: Its result file; `nil` if it has none.
    ///   - name: Its name.
    ///   - state: The archive it is in.
    ///   - place: Its app, and when it came into the archive.
    package mutating func add(
        result: Node?, of name: FileName, _ state: Conclusion.State, _ place: (app: String, at: WallTime)
    ) {
        if let told = result.flatMap({ JobAccount($0) }) {
            let end = told.finishedAt ?? place.at
            _ = take(OpenJob(account: told, app: place.app, end: end, isByLine: false))
        } else if buckets.contains(place.at) {
            sources.archivedCount += 1
            add(JobAccount(name: name.escaped, state: state), isCounted: false, of: place.app, at: place.at)
        }
    }

    private mutating func add(_ account: JobAccount, isCounted: Bool, of app: String, at end: WallTime) {
        total.add(account, isCounted: isCounted, at: end, in: buckets)
        var figures = apps.removeValue(forKey: app) ?? ReportFigures(buckets)
        figures.add(account, isCounted: isCounted, at: end, in: buckets)
        apps[app] = figures
        if account.state == .failed { codes[account.code ?? "unknown", default: 0] += 1 }
        let job = ReportJob(account, of: app, at: end)
        if account.counts.missedCount > 0 { missed.add(MissedJob(job: job)) }
        if job.took != nil { slow.add(SlowJob(job: job)) }
    }

    private mutating func addNotification(_ line: Node) {
        guard let outcome = line["outcome"]?.string, outcome != "accepted", let time = line.feedbackTime,
            buckets.contains(time)
        else { return }
        sources.missedLineCount += 1
        let reason = Reason(
            name: line["reason"]?.string ?? outcome, outcome: outcome, verdict: line["verdict"]?.string)
        missedReasons.add(reason, of: line["id"]?.string.map { Self.fingerprint("id", $0) })
    }

    /// A number by which a text is known (FNV-1a of 64 bits): of a million texts two have the same once in 30 million times.
    private static func fingerprint(_ kind: String, _ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in kind.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
