import Document
import JSON
import JobFormat
import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

@testable import Report

/// The page of a report.
struct ReportPageTests {
    private static let noon = WallTime(epochSeconds: 1_795_262_400)
    private static let hostile = "<script>alert(\"1\")</script>&amp;'\u{1}\u{202E}\u{FFFE}"

    private static func node(_ text: String) throws -> Node {
        var parser = JSON.Parser()
        return try parser.read(text).root
    }

    /// A report of jobs of some apps with hostile names, of which every third was not all accepted.
    private static func report(jobCount: Int, appCount: Int) throws -> SpoolReport {
        var report = SpoolReport(noon + .seconds(-604_800)..<noon)
        for number in 0..<jobCount {
            let end = noon + .seconds(-1 - number * 600)
            var writer = JSONWriter()
            writer.beginObject()
            for (key, value) in [
                ("kind", "job"), ("job", "\(number)\(hostile)"), ("id", "\(JobID(bits: UInt128(number + 1)))"),
                ("state", number.isMultiple(of: 7) ? "failed" : "done"), ("code", hostile),
                ("claimed_at", (end + .seconds(-30)).rfc3339), ("finished_at", end.rfc3339),
            ] {
                writer.key(key)
                writer.string(value)
            }
            writer.key("accepted")
            writer.integer(number)
            writer.key("rejected")
            writer.integer(number.isMultiple(of: 3) ? number : 0)
            writer.endObject()
            let app = "app-\(number % max(1, appCount))"
            report.add(try node(String(decoding: writer.bytes, as: UTF8.self)), of: app)
            let refusal = #"{"kind":"notification","outcome":"rejected","reason":"R\#(number % 20)<b>","#
            report.add(try node(refusal + #""token":"ab12cd34","at":"\#(end.rfc3339)"}"#), of: app)
        }
        report.settle()
        report.sources.unreadable = [hostile]
        return report
    }

    @Test(arguments: [(0, 0), (1, 1), (40, 1), (400, 40), (3000, 600)])
    func `the page is well-formed, whatever is called how`(jobCount: Int, appCount: Int) throws {
        let page = ReportPage.html(try Self.report(jobCount: jobCount, appCount: appCount), madeAt: Self.noon)
        #expect(Wellformed.fault(in: page) == nil)
        #expect(!page.contains("<script") && !page.contains("\u{202E}") && !page.contains("ab12cd34"))
        #expect(!page.contains("&amp;amp;'"))
        let isShort = jobCount < 1000 || page.utf8.count < 1 << 20
        #expect(isShort, "\(page.utf8.count) bytes")
    }

    @Test func `the page fetches nothing, and says that it needs nothing`() throws {
        let page = ReportPage.html(try Self.report(jobCount: 50, appCount: 3), madeAt: Self.noon)
        for word in ["src=", "href=", "url(", "@import", "<link", "<img", "<iframe", "http-equiv=\"refresh"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(page.contains("default-src &#39;none&#39;"))
        #expect(page.contains("prefers-color-scheme: dark"))
    }

    @Test func `every picture has a name, a description and a table`() throws {
        let page = ReportPage.html(try Self.report(jobCount: 100, appCount: 1), madeAt: Self.noon)
        let pictures = page.split(separator: "<svg").dropFirst()
        #expect(pictures.count == 8)
        for (number, picture) in pictures.enumerated() {
            #expect(picture.contains("role=\"img\" aria-labelledby=\"t\(number + 1) d\(number + 1)\""))
            #expect(picture.contains("<title id=\"t\(number + 1)\">"))
            #expect(picture.contains("<desc id=\"d\(number + 1)\">"))
        }
        #expect(page.split(separator: "<details>").count - 1 == pictures.count)
    }

    @Test func `a page without all feedback says what is missing, and shows no rate`() throws {
        var report = SpoolReport(Self.noon + .seconds(-604_800)..<Self.noon)
        let job = #"{"kind":"job","job":"a.json","id":"\#(JobID(bits: 1))","state":"done","accepted":3,"rejected":1,"#
        let (claim, end) = (Self.noon + .seconds(-9), Self.noon + .seconds(-5))
        let times = #""claimed_at":"\#(claim.rfc3339)","finished_at":"\#(end.rfc3339)"}"#
        report.add(try Self.node(job + times), of: "weather")
        var whole = report
        whole.settle()
        report.add(
            result: nil, of: try #require(FileName("b.json")), .done, (app: "weather", at: Self.noon + .seconds(-1)))
        report.settle()
        let pages = [whole, report].map { ReportPage.html($0, madeAt: Self.noon) }
        #expect(pages[0].contains("75 %") && pages[0].contains("Notifications per second"))
        #expect(!pages[0].contains("Feedback is missing"))
        for words in [" %", "Notifications per second", "Half within", "Latency"] {
            #expect(!pages[1].contains(words), "\(words)")
        }
        #expect(pages[1].contains("Feedback is missing: for 1 of 2 jobs, only the file in done/ or failed/ is left"))
        #expect(pages[1].contains("<dd>≥4</dd>") && pages[1].contains("Ended jobs per minute"))
    }

    @Test func `jobs that were never sent are jobs to look at`() throws {
        var report = SpoolReport(Self.noon + .seconds(-604_800)..<Self.noon)
        for number in 0..<22 {
            let end = Self.noon + .seconds(number - 100)
            let job = #"{"kind":"job","job":"\#(number).json","id":"\#(JobID(bits: UInt128(number)))","#
            let rest = #""state":"failed","code":"invalid","finished_at":"\#(end.rfc3339)"}"#
            report.add(try Self.node(job + rest), of: "weather")
        }
        report.settle()
        let page = ReportPage.html(report, madeAt: Self.noon)
        #expect(page.contains(">Never sent</h3>") && page.contains(">21.json<") && !page.contains(">1.json<"))
        #expect(page.contains("and 2 earlier jobs") && page.contains("data-label=\"code\">invalid<"))
    }

    @Test func `a time in which nothing ended says so`() throws {
        let page = ReportPage.html(try Self.report(jobCount: 0, appCount: 0), madeAt: Self.noon)
        #expect(page.contains("No jobs ended in this period") && !page.contains("<svg"))
        #expect(page.contains("No job from then is in the readable part of feedback/, done/ or failed/."))
        #expect(page.contains("2026-11-14 12:00 to 2026-11-21 12:00 UTC"))
    }

    @Test func `text is escaped where it stands`() {
        #expect(Markup.escaped("a<b>&\"'\n\u{7}é\u{2067}") == "a&lt;b&gt;&amp;&quot;&#39; \u{FFFD}é\u{FFFD}")
        var markup = Markup()
        markup.element("p", ["title": "\"<"], text: "<p>")
        markup.void("br", [:])
        #expect(markup.text == "<p title=\"&quot;&lt;\">&lt;p&gt;</p><br/>")
    }

    @Test(arguments: [
        (ReportWords.count(1, "job"), "1 job"), (ReportWords.count(1234, "job"), "1,234 jobs"),
        (ReportWords.count(0), "0"), (ReportWords.count(1234), "1,234"), (ReportWords.count(-1_234_567), "-1,234,567"),
        (ReportWords.short(950), "950"), (ReportWords.short(1200), "1.2k"), (ReportWords.short(35_000_000), "35M"),
        (ReportWords.percent(1), "100 %"), (ReportWords.percent(0.99999), "99.9 %"), (ReportWords.percent(0), "0 %"),
        (ReportWords.duration(.zero), "<1 ms"), (ReportWords.duration(.milliseconds(250)), "250 ms"),
        (ReportWords.duration(.milliseconds(1234)), "1.2 s"), (ReportWords.duration(.seconds(3600)), "1 h"),
        (ReportWords.decimal(9.96), "10"), (ReportWords.decimal(0.04), "0"), (ReportWords.decimal(.infinity), "∞"),
        (ReportWords.coordinate(12.34), "12.3"), (ReportWords.coordinate(-0.5), "-0.5"),
        (ReportWords.coordinate(.nan), "0"), (ReportWords.coordinate(3), "3"),
    ])
    func `numbers are short`(words: String, wanted: String) {
        #expect(words == wanted)
    }

    @Test(arguments: [
        "<a>", "<a></b>", "<a b=c></a>", "<a>&nbsp;</a>", "<a/", "</a>", "<a b=\"<\"/>", "x & y", "<a/><b/>",
    ])
    func `what is not well-formed is found`(text: String) {
        #expect(Wellformed.fault(in: text) != nil)
    }
}

/// Checks that a page is well-formed XML, of the few forms that ours has.
private enum Wellformed {
    /// What is wrong; `nil` if nothing is.
    static func fault(in page: String) -> String? {
        var rest = page.hasPrefix("<!DOCTYPE html>\n") ? page.dropFirst(16) : page[...]
        var open: [Substring] = []
        var rootCount = 0
        while let start = rest.firstIndex(of: "<") {
            if let fault = fault(inText: rest[..<start]) { return fault }
            guard let end = rest[start...].firstIndex(of: ">") else { return "an element without an end" }
            let tag = rest[rest.index(after: start)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("/") {
                guard open.popLast() == tag.dropFirst() else { return "\(tag) ends nothing" }
                continue
            }
            if open.isEmpty { rootCount += 1 }
            guard let name = name(of: tag) else { return "no element: \(tag.prefix(80))" }
            if !tag.hasSuffix("/") { open.append(name) }
        }
        if let fault = fault(inText: rest) { return fault }
        return open.isEmpty && rootCount == 1 ? nil : "\(open) open, \(rootCount) at the top"
    }

    /// The name of an element whose attributes are all in quotes.
    private static func name(of tag: Substring) -> Substring? {
        let form = #"([a-z][a-z0-9]*)(?: [a-zA-Z][a-zA-Z-]*[0-9]?="[^"<]*")*/?"#
        let regex = try? Regex<(Substring, Substring)>(form)
        return regex.flatMap { tag.wholeMatch(of: $0)?.output.1 }
    }

    private static func fault(inText text: Substring) -> String? {
        for part in text.split(separator: "&", omittingEmptySubsequences: false).dropFirst() {
            let isEntity = ["amp;", "lt;", "gt;", "quot;", "#39;"].contains { part.hasPrefix($0) }
            if !isEntity { return "an & in \(part.prefix(40))" }
        }
        let isClean = text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" }
        return isClean ? nil : "a control character"
    }
}
