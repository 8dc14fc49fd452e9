package import APNSModel
package import Document

/// What became of the jobs and notifications of a span of time, by app, by time, by reason: of any number of jobs in bounded
/// memory, but for some 40 bytes each by which those are known that were counted.
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
        /// Lines of notifications that were not accepted.
        package fileprivate(set) var missedLineCount = 0
        /// Jobs by their files in the archives only.
        package fileprivate(set) var archivedCount = 0
        /// Those of them that have a result file.
        package fileprivate(set) var resultCount = 0
        /// Folders and single files that cannot be read.
        package var unreadable: [String] = []
    }

    /// How many jobs a table has.
    package static let tableCount = 20
    private static let reasonLimit = 300
    private static let other = Reason(name: "others", outcome: "", verdict: nil)

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
        if let id = account.id, !seen.insert(Self.fingerprint("id", id.description)).inserted {
            sources.repeatCount += 1
            return
        }
        guard let end = account.finishedAt, buckets.contains(end) else { return }
        sources.lineCount += 1
        add(account, isCounted: true, of: app, at: end)
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
        let told = result.flatMap { JobAccount($0) }
        if let id = told?.id, !seen.insert(Self.fingerprint("id", id.description)).inserted { return }
        let end = told?.finishedAt ?? place.at
        guard buckets.contains(end) else { return }
        sources.archivedCount += 1
        if told != nil { sources.resultCount += 1 }
        let account = told ?? JobAccount(name: name.escaped, state: state)
        add(account, isCounted: told != nil, of: place.app, at: end)
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
        let isRoom = reasons[reason] != nil || reasons.count < Self.reasonLimit
        reasons[isRoom ? reason : Self.other, default: 0] += 1
    }

    /// A number by which a text is known (FNV-1a of 64 bits): of a million texts two have the same once in 30 million times.
    private static func fingerprint(_ kind: String, _ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in kind.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
