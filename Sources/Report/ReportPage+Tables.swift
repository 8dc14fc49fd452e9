import JournalModel
import SpoolModel

extension ReportPage {
    /// The most apps with a plot.
    private static let drawnAppCount = 12
    /// The most apps in the table.
    private static let tabledAppCount = 500
    /// The most bars in one plot.
    private static let barCount = 12

    /// Writes the reasons of notifications and the codes of failed jobs.
    mutating func writeReasons(_ page: inout Markup) {
        let figures = [reasonFigure, codeFigure].filter { !$0.rows.isEmpty }
        guard !figures.isEmpty else {
            page.element("p", text: "No job failed, and no feedback line reports a notification that was not accepted.")
            return
        }
        page.element("div", ["class": "two"]) { page in
            for figure in figures {
                let bars = Array(figure.rows.prefix(Self.barCount))
                let rows = Plot.Rows(number: nextPicture(), title: figure.title, rows: bars)
                ReportFigure(title: figure.title, table: figure.table).write(on: &page) { rows.draw(on: &$0) }
            }
        }
    }

    private typealias Bars = (title: String, rows: [(name: String, count: Int, style: String)], table: ReportTable)

    private var reasonFigure: Bars {
        let reasons = report.frequentReasons
        let rows = reasons.map { (name: $0.key.name, count: $0.value, style: Self.style($0.key.outcome)) }
        let cells = reasons.prefix(SpoolReport.tableCount).map { reason, count in
            [reason.name, reason.outcome, reason.verdict ?? "", ReportWords.count(count)]
        }
        let header = ["reason", "outcome", "verdict", "notifications"]
        return ("Reasons of notifications", rows, ReportTable(header: header, rows: cells, numbers: [3]))
    }

    private var codeFigure: Bars {
        let codes = report.frequentCodes
        let rows = codes.map { (name: $0.key, count: $0.value, style: "rejected") }
        let cells = codes.prefix(SpoolReport.tableCount).map { [$0.key, ReportWords.count($0.value)] }
        return ("Codes of failed jobs", rows, ReportTable(header: ["code", "jobs"], rows: cells, numbers: [1]))
    }

    private static func style(_ outcome: String) -> String {
        ReportFigures.outcomes.contains(outcome) ? outcome : "unknown"
    }

    /// Writes a table of all apps, and plots of the busiest.
    mutating func writeApps(_ page: inout Markup) {
        let apps = report.apps.sorted {
            ($1.value.notificationCount, $1.value.jobCount, $0.key)
                < ($0.value.notificationCount, $0.value.jobCount, $1.key)
        }
        page.element("h2", text: "Apps")
        let rows = apps.prefix(Self.tabledAppCount).map { Self.appRow($0.key, $0.value) }
        let latencies = ["claim p50", "claim p99", "sent p50", "sent p99"]
        let header = ["app", "jobs", "failed", "notifications", "accepted"] + latencies
        page.element("div", ["class": "card"]) { page in
            ReportTable(header: header, rows: rows, numbers: Set(1..<header.count)).write(on: &page)
            let more = apps.count - rows.count
            if more > 0 { page.element("p", ["class": "soft"], text: "and \(ReportWords.count(more)) more apps") }
        }
        guard apps.count > 1 else { return }
        page.element("div", ["class": "two"]) { page in
            for (name, figures) in apps.prefix(Self.drawnAppCount) {
                let plot = outcomePlot(figures, from: 0, title: name, height: 240)
                page.element("section", ["class": "card"]) { page in
                    page.element("h3", text: name)
                    draw(plot, of: figures, from: 0, on: &page)
                }
            }
        }
    }

    private static func appRow(_ name: String, _ figures: ReportFigures) -> [String] {
        let quantiles = [\ReportFigures.waiting, \ReportFigures.sending].flatMap { times in
            [0.5, 0.99].map { figures.quantile($0, of: times).map(ReportWords.duration) ?? "–" }
        }
        let jobs = [figures.jobCount, figures.failedCount].map(ReportWords.count)
        let share = figures.acceptedShare.map(ReportWords.percent) ?? "–"
        return [name] + jobs + [notificationCount(figures), share] + quantiles
    }

    /// The number of notifications, as far as it is known.
    static func notificationCount(_ figures: ReportFigures) -> String {
        (figures.isWhole ? "" : "≥") + ReportWords.count(figures.tally.total)
    }

    /// Writes the jobs that may need attention.
    func writeJobs(_ page: inout Markup) {
        page.element("h2", text: "Jobs to look at")
        if report.neverSentCount > 0 { writeNeverSent(&page) }
        let header = ["app", "job", "ended (UTC)", "state", "code", "notifications", "not accepted", "took"]
        let tables = [("Most not accepted", report.worstJobs), ("Slowest from claim to end", report.slowestJobs)]
        for (title, jobs) in tables where !jobs.isEmpty {
            page.element("div", ["class": "card"]) { page in
                page.element("h3", text: title)
                let table = ReportTable(header: header, rows: jobs.map(Self.jobRow), numbers: [5, 6, 7], times: [2])
                table.write(on: &page)
            }
        }
    }

    private func writeNeverSent(_ page: inout Markup) {
        let jobs = report.neverSentJobs
        page.element("div", ["class": "card"]) { page in
            page.element("h3", text: "Never sent")
            let rows = jobs.map { [$0.app, $0.name, Self.minute($0.end), $0.code ?? ""] }
            ReportTable(header: ["app", "job", "ended (UTC)", "code"], rows: rows, numbers: [], times: [2])
                .write(on: &page)
            let more = report.neverSentCount - jobs.count
            if more > 0 { page.element("p", ["class": "soft"], text: "and \(ReportWords.count(more, "earlier job"))") }
            let advice = "`pushspool show APP/JOB` says why. Correct the producer, and drop the job again."
            page.element("p", ["class": "soft"], text: advice)
        }
    }

    private static func jobRow(_ job: ReportJob) -> [String] {
        [
            job.app, job.name, minute(job.end), job.state.rawValue, job.code ?? "",
            ReportWords.count(job.notificationCount), ReportWords.count(job.tally.missedCount),
            job.took.map(ReportWords.duration) ?? "–",
        ]
    }

    /// Writes the sources of the report, and thereby its limits.
    func writeSources(_ page: inout Markup) {
        page.element("h2", text: "Sources")
        page.element("ul") { page in
            for sentence in sentences { page.element("li", text: sentence) }
        }
    }

    private var sentences: [String] {
        let sources = report.sources
        let (lines, files) = (ReportWords.count(sources.lineCount, "job"), ReportWords.count(sources.fileCount, "file"))
        let archived = ReportWords.count(sources.archivedCount, "job")
        let uncounted = ReportWords.count(report.total.uncountedCount, "job")
        var sentences = [
            "From feedback lines: \(lines) in \(files).",
            """
            From done/ and failed/ only, because the lines in feedback/ were removed: \(archived), with a result file: \
            \(ReportWords.count(sources.resultCount)).
            """,
            """
            Unknown number of notifications and time of claim: \(uncounted), counted as jobs but in no other figure.
            """,
            """
            Reasons come from \(ReportWords.count(sources.missedLineCount, "line")) about notifications that are still in \
            feedback/. For a finished job, no more of them count than its result has.
            """,
            "Notifications are spread evenly over the time from their job's claim to its end. Times are UTC.",
            "The p50 and p99 times are accurate to within a quarter.",
        ]
        if sources.correctionCount > 0 {
            let jobs = ReportWords.count(sources.correctionCount, "line")
            sentences.append("About retried jobs: \(jobs). Each job counts with its last result.")
        }
        if sources.repeatCount > 0 {
            sentences.append("Repeated, and not counted: \(ReportWords.count(sources.repeatCount, "line")) about jobs.")
        }
        if sources.badLineCount > 0 {
            sentences.append("Unreadable, and not counted: \(ReportWords.count(sources.badLineCount, "line")).")
        }
        if !sources.unreadable.isEmpty {
            let folders = sources.unreadable.prefix(20).joined(separator: ", ")
            let more = sources.unreadable.count > 20 ? " and \(sources.unreadable.count - 20) more" : ""
            sentences.append("Not included, because it cannot be read: \(folders)\(more).")
        }
        return sentences
    }
}
