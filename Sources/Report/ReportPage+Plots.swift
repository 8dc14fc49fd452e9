import JournalModel
import SpoolModel

extension ReportPage {
    /// Writes a plot of the ended jobs, which are all known, whether or not their notifications are.
    mutating func writeEnds(_ page: inout Markup) {
        let (total, series) = (report.total, report.total.jobSeries.rows)
        let sums = Self.sums(total.jobSeries, from: 0)
        let plot = Plot(
            number: nextPicture(), title: "Ended jobs per \(length)",
            summary: "\(ReportWords.count(total.jobCount)) in total, \(ReportWords.count(total.failedCount)) failed.",
            height: 220, axis: PlotAxis(upTo: sums.max() ?? 0, isWhole: true))
        let words = ReportFigures.states.map(\.rawValue)
        let columns = sums.indices.map { part in series.map { $0[part] } }
        let counts = columns.map { $0.map { ReportWords.count(Int($0.rounded())) } }
        let rows = sums.indices.filter { sums[$0] > 0 }.map { [time($0)] + counts[$0] }
        let table = ReportTable(header: ["from (UTC)"] + words, rows: rows, numbers: [1, 2], times: [0])
        let styles = ["plain", "rejected"]
        let legend = zip(words, styles).map { (name: $0.0, style: $0.1) }
        ReportFigure(title: plot.title, table: table, legend: legend).write(on: &page) { page in
            plot.draw(on: &page, ticks: report.buckets.ticks) { page in
                plot.bars(on: &page, columns, classes: styles) { part in
                    "\(time(part)): \(words[0]) \(counts[part][0]), \(words[1]) \(counts[part][1])"
                }
            }
        }
    }

    /// Writes a plot of the outcomes per second.
    mutating func writeThroughput(_ page: inout Markup) {
        let buckets = report.buckets
        let sums = Self.sums(report.total.series, from: 0).map { $0 / Double(buckets.widthInSeconds) }
        let most = sums.max() ?? 0
        let plot = Plot(
            number: nextPicture(), title: "Notifications per second",
            summary: "Peak: \(ReportWords.decimal(most)) per second, averaged over each \(length).", height: 220,
            axis: PlotAxis(upTo: most, isWhole: false))
        let rows = sums.indices.filter { sums[$0] > 0 }.map { [time($0), ReportWords.decimal(sums[$0])] }
        let table = ReportTable(header: ["from (UTC)", "per second"], rows: rows, numbers: [1], times: [0])
        ReportFigure(title: plot.title, table: table, note: plot.summary).write(on: &page) { page in
            plot.draw(on: &page, ticks: buckets.ticks, unit: "/s") { plot.line(on: &$0, sums) }
        }
    }

    /// Writes a plot of outcomes with a column for each time bucket. Starts with the outcome at `first`, so that
    /// accepted notifications need not hide the others.
    mutating func writeOutcomes(_ page: inout Markup, from first: Int, title: String) {
        let plot = outcomePlot(report.total, from: first, title: title, height: 300)
        let series = report.total.series.rows
        let shown = (first..<series.count).filter { outcome in series[outcome].contains { $0 > 0 } }
        let words = ReportFigures.outcomes
        let legend = shown.map { outcome in
            let sum = Int(series[outcome].reduce(0, +).rounded())
            return (name: "\(words[outcome]) \(ReportWords.count(sum))", style: words[outcome])
        }
        var rows: [[String]] = []
        for part in 0..<report.buckets.count where shown.contains(where: { series[$0][part] > 0 }) {
            rows.append([time(part)] + shown.map { ReportWords.count(Int(series[$0][part].rounded())) })
        }
        let header = ["from (UTC)"] + shown.map { words[$0] }
        let table = ReportTable(header: header, rows: rows, numbers: Set(header.indices.dropFirst()), times: [0])
        let figure = ReportFigure(title: plot.title, table: table, legend: legend)
        figure.write(on: &page) { draw(plot, of: report.total, from: first, on: &$0) }
    }

    /// The frame of a plot of outcomes.
    mutating func outcomePlot(
        _ figures: ReportFigures, from first: Int, title: String, height: Double
    ) -> Plot {
        let sums = Self.sums(figures.series, from: first)
        let (most, total) = (sums.max() ?? 0, Int(sums.reduce(0, +).rounded()))
        return Plot(
            number: nextPicture(), title: "\(title): notifications per \(length)",
            summary: "\(ReportWords.count(total)) in total, at most \(ReportWords.short(most)) per \(length).",
            height: height, axis: PlotAxis(upTo: most, isWhole: true))
    }

    /// Draws a plot of outcomes.
    func draw(_ plot: Plot, of figures: ReportFigures, from first: Int, on page: inout Markup) {
        let words = Array(ReportFigures.outcomes[first...])
        let columns = (0..<report.buckets.count).map { part in figures.series.rows[first...].map { $0[part] } }
        plot.draw(on: &page, ticks: report.buckets.ticks) { page in
            plot.bars(on: &page, columns, classes: words) { part in
                let counts = zip(words, columns[part]).filter { $0.1 > 0 }
                let text = counts.map { "\($0.0) \(ReportWords.count(Int($0.1.rounded())))" }
                return "\(time(part)): \(text.joined(separator: ", "))"
            }
        }
    }

    /// The sum of the counts in each time bucket, starting with the kind at `first`.
    private static func sums(_ series: TimeSeries, from first: Int) -> [Double] {
        var sums = series.rows[first]
        for row in series.rows[(first + 1)...] {
            for part in sums.indices { sums[part] += row[part] }
        }
        return sums
    }

    /// Writes a plot of the distribution of a latency.
    mutating func writeLatency(_ page: inout Markup, _ histogram: LatencyHistogram, title: String) {
        let columns = histogram.columns
        let plot = Plot(
            number: nextPicture(), title: "\(title): jobs by duration", summary: Self.summary(of: histogram),
            height: 300,
            axis: PlotAxis(upTo: Double(columns.map(\.count).max() ?? 0), isWhole: true))
        let names = columns.map { ReportWords.duration($0.from) }
        let every = max(1, (columns.count + 6) / 7)
        let ticks = columns.indices.filter { $0.isMultiple(of: every) }.map { place in
            TimeBuckets.Tick(fraction: Double(place) / Double(columns.count), label: names[place])
        }
        let counts = columns.map { ReportWords.count($0.count) }
        let rows = zip(names, counts).map { [$0.0, $0.1] }
        let table = ReportTable(header: ["from", "jobs"], rows: rows, numbers: [1])
        ReportFigure(title: plot.title, table: table, note: plot.summary).write(on: &page) { page in
            plot.draw(on: &page, ticks: ticks) { page in
                plot.bars(on: &page, columns.map { [Double($0.count)] }, classes: ["plain"]) { place in
                    "from \(names[place]): \(ReportWords.count(columns[place].count, "job"))"
                }
            }
        }
    }

    private static func summary(of histogram: LatencyHistogram) -> String {
        let shares = [(0.5, "Half"), (0.9, "9 of 10"), (0.99, "99 of 100")]
        let words = shares.compactMap { share, name in
            histogram.quantile(share).map { "\(name) within \(ReportWords.duration($0))" }
        }
        guard !words.isEmpty else { return "Not known for any job." }
        return words.joined(separator: ", ") + ", the longest took \(ReportWords.duration(histogram.longest))."
    }

    /// The length of a time bucket in words.
    private var length: String {
        let seconds = report.buckets.widthInSeconds
        for (unit, name) in [(86_400, "day"), (3600, "hour"), (60, "minute")] as [(Int64, String)]
        where seconds >= unit {
            return seconds == unit ? name : "\(seconds / unit) \(name)s"
        }
        return "\(seconds) seconds"
    }

    /// The start of a time bucket.
    private func time(_ part: Int) -> String { Self.minute(report.buckets.start(of: part)) }
}
