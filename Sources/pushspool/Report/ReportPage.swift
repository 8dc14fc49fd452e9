import APNSModel
import SpoolModel

/// Formats a report as one self-contained page of HTML, without scripts or external resources.
///
/// The page contains no tokens, since a report has none.
struct ReportPage {
    /// The report.
    let report: SpoolReport
    /// When the page was made.
    private let madeAt: WallTime
    private var pictureCount = 0

    private init(_ report: SpoolReport, madeAt: WallTime) {
        (self.report, self.madeAt) = (report, madeAt)
    }

    /// Returns the page for a report.
    static func html(_ report: SpoolReport, madeAt: WallTime) -> String {
        var page = ReportPage(report, madeAt: madeAt)
        var markup = Markup()
        page.write(on: &markup)
        return "<!DOCTYPE html>\n" + markup.text + "\n"
    }

    private mutating func write(on page: inout Markup) {
        page.element("html", ["lang": "en"]) { page in
            page.element("head") { Self.writeHead(&$0) }
            page.element("body") { page in
                page.element("header") { writeHeader(&$0) }
                page.element("main") { writeMain(&$0) }
                page.element("footer") { writeSources(&$0) }
            }
        }
    }

    private static func writeHead(_ page: inout Markup) {
        page.void("meta", ["charset": "utf-8"])
        page.void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        // Declare that the page loads nothing.
        page.void(
            "meta",
            ["http-equiv": "Content-Security-Policy", "content": "default-src 'none'; style-src 'unsafe-inline'"])
        page.void("meta", ["name": "color-scheme", "content": "light dark"])
        page.element("title", text: "pushspool report")
        page.element("style") { $0.writeRaw("\n" + ReportStyle.sheet + "\n") }
    }

    private func writeHeader(_ page: inout Markup) {
        page.element("h1", text: "What became of push notifications")
        let span = "\(Self.minute(report.buckets.since)) to \(Self.minute(report.buckets.until)) UTC"
        page.element("p", ["class": "soft"], text: "\(span). Made by pushspool, \(Self.minute(madeAt)) UTC.")
        page.element("dl", ["class": "tiles"]) { page in
            for tile in tiles {
                page.element("div", ["class": tile.isAlarm ? "alarm" : "calm"]) { page in
                    page.element("dt", text: tile.name)
                    page.element("dd", text: tile.value)
                }
            }
        }
    }

    private var tiles: [(name: String, value: String, isAlarm: Bool)] {
        let total = report.total
        let missed = total.counts.missedCount
        return [
            ("jobs", ReportWords.count(total.jobCount), false),
            ("of them failed", ReportWords.count(total.failedCount), total.failedCount > 0),
            ("notifications", ReportWords.count(total.counts.accepted + missed), false),
            ("of them accepted", total.acceptedShare.map(ReportWords.percent) ?? "–", false),
            ("not accepted", ReportWords.count(missed), missed > 0),
            ("half claimed within", total.waiting.quantile(0.5).map(ReportWords.duration) ?? "–", false),
            ("half sent within", total.sending.quantile(0.5).map(ReportWords.duration) ?? "–", false),
        ]
    }

    private mutating func writeMain(_ page: inout Markup) {
        guard report.total.jobCount > 0 else {
            page.element("h2", text: "Nothing ended in this time")
            let places = "feedback/, done/ or failed/"
            let isAllRead = report.sources.unreadable.isEmpty
            page.element("p", text: "No job of it is in \(isAllRead ? places : "what may be read of \(places)").")
            return
        }
        page.element("h2", text: "Over time")
        writeThroughput(&page)
        page.element("div", ["class": "two"]) { page in
            writeOutcomes(&page, from: 0, title: "Outcomes")
            writeOutcomes(&page, from: 1, title: "Not accepted")
        }
        page.element("h2", text: "Why not")
        writeReasons(&page)
        page.element("h2", text: "How long it took")
        page.element("div", ["class": "two"]) { page in
            writeLatency(&page, report.total.waiting, title: "From the drop to the claim")
            writeLatency(&page, report.total.sending, title: "From the claim to the end")
        }
        writeApps(&page)
        writeJobs(&page)
    }

    /// Returns the number for the next picture.
    mutating func nextPicture() -> Int {
        pictureCount += 1
        return pictureCount
    }

    /// The time in minutes, such as `2026-11-21 08:36`.
    static func minute(_ time: WallTime) -> String {
        let text = time.rfc3339
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }
}
