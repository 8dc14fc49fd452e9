import Document
import JSON
import JobFormat
import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

@testable import Report

/// What is counted for a report.
struct SpoolReportTests {
    private static let day = noon + .seconds(-86_400)..<noon

    private func node(_ text: String) throws -> Node {
        var parser = JSON.Parser()
        return try parser.read(text).root
    }

    /// A `job` line of a job that took 10 s to be claimed, and 30 s from then on.
    private func line(
        _ number: Int, at end: WallTime = noon + .seconds(-3600), accepted: Int = 1, rejected: Int = 0
    ) throws -> Node {
        let state = accepted > 0 ? #""state":"done""# : #""state":"failed","code":"refused""#
        let (claimed, dropped) = (end + .seconds(-30), end + .seconds(-40))
        return try node(
            #"{"v":1,"kind":"job","job":"\#(number).json","id":"\#(JobID(bits: UInt128(number)))",\#(state),"#
                + #""path":"weather/done/2026-11-21/\#(number).json","notifications":\#(accepted + rejected),"#
                + #""accepted":\#(accepted),"rejected":\#(rejected),"expired":0,"unsent":0,"unknown":0,"#
                + #""dropped_at":"\#(dropped.rfc3339)","claimed_at":"\#(claimed.rfc3339)","#
                + #""finished_at":"\#(end.rfc3339)"}"#)
    }

    private func notification(_ reason: String?, outcome: String = "rejected", at time: WallTime) throws -> Node {
        let words = reason.map { #","reason":"\#($0)","verdict":"message""# } ?? ""
        return try node(#"{"v":1,"kind":"notification","outcome":"\#(outcome)"\#(words),"at":"\#(time.rfc3339)"}"#)
    }

    @Test func `jobs and notifications are counted by app, outcome and time`() throws {
        var report = SpoolReport(Self.day)
        report.add(try line(1, accepted: 7, rejected: 3), of: "weather")
        report.add(try line(2, accepted: 0, rejected: 2), of: "weather")
        report.add(try line(3, accepted: 5), of: "news")
        report.settle()
        #expect(report.total.jobCount == 3 && report.total.failedCount == 1 && report.codes == ["refused": 1])
        #expect(report.total.tally.accepted == 12 && report.total.tally.rejected == 5)
        #expect(report.apps["weather"]?.jobCount == 2 && report.apps["news"]?.notificationCount == 5)
        #expect(report.total.acceptedShare == 12.0 / 17.0)
        let sums = report.total.series.rows.map { $0.reduce(0, +) }
        #expect(zip(sums, [12, 5, 0, 0, 0]).allSatisfy { abs($0 - Double($1)) < 1e-9 }, "\(sums)")
        #expect(report.total.waiting.longest == .seconds(10) && report.total.sending.longest == .seconds(30))
        #expect(report.sources.lineCount == 3 && report.total.uncountedCount == 0)
    }

    @Test func `what ended before or behind the time is left out`() throws {
        var report = SpoolReport(Self.day)
        for (number, offset) in [-86_401, -86_400, -1, 0, 1].enumerated() {
            report.add(try line(number, at: noon + .seconds(offset)), of: "weather")
            report.add(try notification("R", at: noon + .seconds(offset)), of: "weather")
        }
        report.settle()
        #expect(report.total.jobCount == 2 && report.reasons.values.reduce(0, +) == 2)
    }

    @Test func `a job that is told of twice counts once, and so does one whose file is seen too`() throws {
        var report = SpoolReport(Self.day)
        for _ in 0..<3 { report.add(try line(1, accepted: 4), of: "weather") }
        #expect(report.total.jobCount == 1 && report.sources.repeatCount == 2)
        #expect(report.isKnown(path: "weather/done/2026-11-21/1.json"))
        #expect(!report.isKnown(path: "weather/done/2026-11-21/2.json"))
        let result = try line(1)
        let name = try #require(FileName("1~2.json"))
        report.add(result: result, of: name, .done, (app: "weather", at: noon + .seconds(-1)))
        #expect(report.total.jobCount == 1)
    }

    /// The `job` line of a job for 300, of which so many were cancelled.
    private func end(cancelled: Int, at end: WallTime) throws -> Node {
        let state = cancelled > 0 ? #""state":"failed","code":"cancelled""# : #""state":"done""#
        return try node(
            #"{"v":1,"kind":"job","job":"a.json","id":"\#(JobID(bits: 7))",\#(state),"notifications":300,"#
                + #""accepted":\#(300 - cancelled),"unsent":\#(cancelled),"#
                + #""claimed_at":"\#((end + .seconds(-5)).rfc3339)","finished_at":"\#(end.rfc3339)"}"#)
    }

    /// The line of a notification of that job.
    private func unsent(_ reason: String, at time: WallTime) throws -> Node {
        try node(
            #"{"v":1,"kind":"notification","id":"\#(JobID(bits: 7))","outcome":"unsent","#
                + #""reason":"\#(reason)","at":"\#(time.rfc3339)"}"#)
    }

    @Test func `a job that was tried again counts as it ended last`() throws {
        for order in [[0, 1], [0, 1, 0], [1, 0]] {
            var report = SpoolReport(Self.day)
            let (first, last) = (noon + .seconds(-7200), noon + .seconds(-3600))
            for _ in 0..<242 { report.add(try unsent("Cancelled", at: first), of: "weather") }
            let ends = [try end(cancelled: 242, at: first), try end(cancelled: 0, at: last)]
            for number in order { report.add(ends[number], of: "weather") }
            report.settle()
            #expect(report.total.jobCount == 1 && report.total.doneCount == 1 && report.codes.isEmpty, "\(order)")
            #expect(report.total.tally.accepted == 300 && report.total.tally.missedCount == 0, "\(order)")
            #expect(report.reasons.isEmpty && report.worstJobs.isEmpty && report.slowestJobs.count == 1, "\(order)")
            #expect(report.sources.lineCount == 1 && report.total.sending.longest == .seconds(5), "\(order)")
            #expect(report.sources.correctionCount == (order[0] == 0 ? 1 : 0), "\(order)")
            #expect(report.sources.repeatCount == order.count - 1 - report.sources.correctionCount, "\(order)")
        }
    }

    @Test func `of a job that has ended no more reasons count than it ended with, the last first`() throws {
        var report = SpoolReport(Self.day)
        let (first, last) = (noon + .seconds(-7200), noon + .seconds(-3600))
        for _ in 0..<242 { report.add(try unsent("Cancelled", at: first), of: "weather") }
        report.add(try end(cancelled: 242, at: first), of: "weather")
        for _ in 0..<100 { report.add(try unsent("Stopped", at: last), of: "weather") }
        report.add(try end(cancelled: 110, at: last), of: "weather")
        report.settle()
        let counts = Dictionary(uniqueKeysWithValues: report.reasons.map { ($0.key.name, $0.value) })
        #expect(counts == ["Stopped": 100, "Cancelled": 10])
        #expect(report.total.tally.unsent == 110 && report.total.jobCount == 1)
    }

    @Test func `a job that ended before the time, and was tried again in it, counts`() throws {
        var report = SpoolReport(Self.day)
        report.add(try end(cancelled: 242, at: noon + .seconds(-90_000)), of: "weather")
        report.add(try end(cancelled: 0, at: noon + .seconds(-3600)), of: "weather")
        report.settle()
        #expect(report.total.doneCount == 1 && report.total.jobCount == 1 && report.total.tally.accepted == 300)
    }

    @Test func `a job without a line counts by its result file, or as a job only`() throws {
        var report = SpoolReport(Self.day)
        let name = try #require(FileName("a.json"))
        let text =
            #"{"v":1,"job":"a.json","id":"\#(JobID(bits: 9))","state":"failed","code":"unsent","#
            + #""finished_at":"\#((noon + .seconds(-60)).rfc3339)","#
            + #""counts":{"notifications":3,"accepted":1,"unsent":2}}"#
        report.add(result: try node(text), of: name, .failed, (app: "weather", at: noon + .seconds(-5)))
        report.add(result: nil, of: name, .done, (app: "weather", at: noon + .seconds(-5)))
        report.settle()
        #expect(report.total.jobCount == 2 && report.total.uncountedCount == 1)
        #expect(report.total.tally.unsent == 2 && report.sources.archivedCount == 2 && report.sources.resultCount == 1)
        #expect(report.codes == ["unsent": 1] && report.worstJobs.map(\.name) == ["a.json"])
    }

    @Test func `notifications of a long job are spread over its time`() throws {
        var report = SpoolReport(noon + .seconds(-3600)..<noon)
        let (begin, end) = (noon + .seconds(-600), noon + .seconds(-300))
        let text =
            #"{"v":1,"kind":"job","job":"a.json","state":"done","notifications":300,"accepted":300,"#
            + #""claimed_at":"\#(begin.rfc3339)","finished_at":"\#(end.rfc3339)"}"#
        report.add(try node(text), of: "weather")
        report.settle()
        let accepted = report.total.series.rows[0]
        #expect(accepted.prefix(5).allSatisfy { abs($0 - 60) < 1e-6 } && abs(accepted.reduce(0, +) - 300) < 1e-6)
    }

    @Test(arguments: [(1, 1, 60), (3600, 61, 60), (86_400, 49, 1800), (600_000, 84, 7200)])
    func `the buckets of a report of a week fit its jobs`(seconds: Int, count: Int, width: Int) throws {
        var report = SpoolReport(noon + .seconds(-604_800)..<noon)
        let ends = [seconds, 1, max(1, seconds / 2)].map { noon + .seconds(-$0) }
        for (number, end) in ends.enumerated() {
            report.add(try line(number, at: end), of: number == 0 ? "weather" : "news")
        }
        report.settle()
        let buckets = report.buckets
        #expect(buckets.count == count && buckets.widthInSeconds == width)
        for figures in [report.total] + report.apps.values {
            #expect((figures.series.rows + figures.jobSeries.rows).allSatisfy { $0.count == buckets.count })
            #expect(abs(figures.series.rows[0].reduce(0, +) - figures.jobSeries.rows[0].reduce(0, +)) < 1e-6)
        }
        let sums = report.total.series.rows[0]
        #expect(try #require(sums.first) > 0 && (try #require(sums.last)) > 0, "\(sums)")
    }

    @Test func `counts do not change when buckets widen`() {
        for seed in UInt64(0)..<100 {
            var random = SeededGenerator(seed: seed)
            var (series, first, last) = (TimeSeries(kindCount: 2), noon, noon)
            for number in 1...50 {
                let end = noon + .seconds(Int64.random(in: -1...1, using: &random) * Int64(1) << Int64(number / 2))
                let begin = end + .seconds(-Int64.random(in: 0...600, using: &random))
                (first, last) = (number == 1 ? begin : min(first, begin), number == 1 ? end : max(last, end))
                series.add([1, 2], from: begin, to: end, since: noon + .seconds(-1_000_000_000))
            }
            let sums = series.rows.map { $0.reduce(0, +) }
            #expect(abs(sums[0] - 50) < 1e-6 && abs(sums[1] - 100) < 1e-6, "seed \(seed): \(sums)")
            #expect(series.buckets == TimeBuckets(since: first, until: last + .nanoseconds(1)), "seed \(seed)")
        }
    }

    @Test func `there is no share and no quantile of some of the jobs`() throws {
        var report = SpoolReport(Self.day)
        report.add(try line(1, accepted: 3, rejected: 1), of: "weather")
        report.add(try line(2, accepted: 5), of: "news")
        report.add(result: nil, of: try #require(FileName("a.json")), .done, (app: "weather", at: noon + .seconds(-5)))
        report.settle()
        #expect(report.total.jobCount == 3 && report.total.tally.total == 9)
        #expect(report.total.acceptedShare == nil && report.apps["weather"]?.acceptedShare == nil)
        #expect(report.total.quantile(0.5, of: \.sending) == nil && report.apps["news"]?.acceptedShare == 1)
        let lines = String(decoding: ReportLines.json(report), as: UTF8.self).split(separator: "\n")
        #expect(lines.map { $0.contains("_p50_ms") } == [false, true, false])
    }

    @Test func `jobs that were never sent are listed, the last first`() throws {
        var report = SpoolReport(Self.day)
        let codes = ["invalid", "incomplete", "duplicate", "unreadable", "cancelled", "refused"]
        for (number, code) in codes.enumerated() {
            let end = noon + .seconds(-100 + number)
            report.add(
                try node(
                    #"{"kind":"job","job":"\#(code).json","id":"\#(JobID(bits: UInt128(number)))","state":"failed","#
                        + #""code":"\#(code)","finished_at":"\#(end.rfc3339)"}"#), of: "weather")
        }
        report.settle()
        let names = ["unreadable.json", "duplicate.json", "incomplete.json", "invalid.json"]
        #expect(report.neverSentJobs.map(\.name) == names && report.neverSentCount == 4)
    }

    @Test func `reasons are counted, accepted ones are not, and a peer cannot make too many`() throws {
        var report = SpoolReport(Self.day)
        let time = noon + .seconds(-1)
        for number in 0..<1000 { report.add(try notification("R\(number)", at: time), of: "weather") }
        for _ in 0..<5 { report.add(try notification("R1", at: time), of: "weather") }
        report.add(try notification(nil, outcome: "expired", at: time), of: "weather")
        report.add(try notification(nil, outcome: "accepted", at: time), of: "weather")
        report.settle()
        #expect(report.reasons.count <= 302 && report.reasons.values.reduce(0, +) == 1006)
        #expect(report.reasons.first(where: { $0.key.name == "R1" })?.value == 6)
        #expect(report.sources.missedLineCount == 1006)
    }

    @Test func `the tables have the worst and the slowest jobs of very many`() throws {
        for seed in UInt64(0)..<10 {
            var random = SeededGenerator(seed: seed)
            var (report, missed) = (SpoolReport(Self.day), [Int]())
            for number in 0..<300 {
                let rejected = Int.random(in: 0...10_000, using: &random)
                missed.append(rejected)
                report.add(try line(number, rejected: rejected), of: "weather")
            }
            report.settle()
            let worst = report.worstJobs.map(\.tally.rejected)
            #expect(worst == Array(missed.sorted(by: >).prefix(SpoolReport.tableCount)), "seed \(seed)")
            #expect(report.slowestJobs.count == SpoolReport.tableCount, "seed \(seed)")
        }
    }

    @Test(arguments: [
        #"{"kind":"job"}"#, #"{"kind":"job","job":7,"state":"done"}"#, #"{"kind":"job","job":"a","state":"odd"}"#,
        #"{"kind":"job","job":"a","state":"done"}"#, #"{"kind":"token","token":"00"}"#, "[]", "7", #"{"kind":{}}"#,
        #"{"kind":"notification","outcome":"rejected","at":"yesterday"}"#,
    ])
    func `lines that tell nothing count as nothing`(text: String) throws {
        var report = SpoolReport(Self.day)
        report.add(try node(text), of: "weather")
        report.settle()
        #expect(report.total.jobCount == 0 && report.reasons.isEmpty)
    }

    @Test func `numbers beyond all measure do no harm`() throws {
        var report = SpoolReport(Self.day)
        let time = (noon + .seconds(-1)).rfc3339
        for number in 0..<9 {
            let text =
                #"{"kind":"job","job":"a","id":"\#(JobID(bits: UInt128(number)))","state":"done","#
                + #""accepted":9e18,"rejected":9223372036854775807,"expired":9223372036854775807,"unsent":-5,"#
                + #""dropped_at":"0001-01-01T00:00:00Z","claimed_at":"9999-01-01T00:00:00Z","finished_at":"\#(time)"}"#
            report.add(try node(text), of: "weather")
        }
        report.settle()
        #expect(report.total.jobCount == 9 && report.total.tally.unsent == 0 && report.total.tally.rejected > 0)
        #expect(report.total.sending.longest == .zero)
    }
}

/// The time of these tests.
let noon = WallTime(epochSeconds: 1_795_262_400)
