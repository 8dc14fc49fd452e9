import Foundation
import Glibc
import JobFormat
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct RetentionSweepTests {
    let spool: TestSpool
    /// Forty days after `noon`.
    let late: WallTime

    init() throws {
        spool = try TestSpool()
        late = spool.noon + .seconds(40 * 86_400)
    }

    /// What a sweep goes by.
    private struct Terms {
        var rules = RetentionRules()
        var scope = SweepSchedule.Scope.everything
        var told: WallTime?
        var live: Set<ArchivePlace> = []

        init() { rules.failed = .days(39) }
    }

    /// Sweeps to the end, and says what came of it.
    private func sweep(at now: WallTime, _ change: (inout Terms) -> Void = { _ in }) -> SweepReport {
        var terms = Terms()
        change(&terms)
        let sweep = RetentionSweep(spool.app, terms.rules, terms.scope, toldThrough: terms.told)
        let live = terms.live
        while sweep.step(at: now, sparing: { live }) {}
        return sweep.report
    }

    private func days(_ archive: String) throws -> [String] { try spool.folder(archive).sortedNames() }

    @Test func `a day that is over goes with its jobs and results, and the others stay`() throws {
        for number in 0..<3 {
            let id = UInt128(number)
            _ = try spool.archive(try fileName("d\(number).json"), contents: "{}", id: id)
            _ = try spool.archive(try fileName("f\(number).json"), contents: "{}", id: id + 10, result: "why")
        }
        let recent = (late + .seconds(-5 * 86_400)).day
        try spool.folder("done").makeChild(Array(recent.utf8), mode: 0o750).put("young.json", "{}")
        let report = sweep(at: late)
        #expect(report.jobCounts == [.done: 3, .failed: 3] && report.failure == nil && report.leftovers.isEmpty)
        #expect(try days("done") == [recent] && days("failed") == [])
        #expect(try spool.folder("done/\(recent)").sortedNames() == ["young.json"])
    }

    @Test func `what other nodes have told producers goes after a week without a line`() throws {
        let folder = try spool.app.staging.makeChild(EndedJob.folder, mode: 0o755)
        for name in ["ended-gone", "earlier-gone", "ended-\(spool.app.node)", "held", "notes"] { try folder.put(name) }
        let status = try #require(try folder.status(of: Array("ended-gone".utf8)))
        let written = WallTime(nanoseconds: status.modifiedAt)
        #expect(sweep(at: written + .seconds(6 * 86_400)).failure == nil)
        #expect(try folder.names().count == 5)
        #expect(sweep(at: written + .seconds(8 * 86_400)).failure == nil)
        #expect(try folder.sortedNames() == ["ended-\(spool.app.node)", "held", "notes"])
    }

    @Test func `nothing goes before its time`() throws {
        _ = try spool.archive(try fileName("d.json"), contents: "{}", id: 1)
        _ = try spool.archive(try fileName("f.json"), contents: "{}", id: 2, result: "why")
        let end = try #require(WallTime(rfc3339: "2026-11-22T00:00:00Z"))
        let before = sweep(at: end + .seconds(30 * 86_400) + .nanoseconds(-1))
        #expect(!before.hasDeleted)
        let after = sweep(at: end + .seconds(30 * 86_400))
        #expect(after.jobCounts == [.done: 1])
        #expect(try days("failed") == ["2026-11-21"])
    }

    @Test func `what is kept for ever is not even looked at`() throws {
        _ = try spool.archive(try fileName("d.json"), contents: "{}", id: 1)
        try spool.folder("done").put("stranger")
        let report = sweep(at: late + .seconds(86_400 * 36_500)) { terms in
            (terms.rules.done, terms.rules.failed, terms.rules.feedback) = (.forever, .forever, .forever)
        }
        #expect(report == SweepReport())
        #expect(try days("done") == ["2026-11-21", "stranger"])
    }

    @Test func `what the journal has not forgotten stays, with its result`() throws {
        let live = try spool.archive(try fileName("live.json"), contents: "{}", id: 1, result: "why")
        _ = try spool.archive(try fileName("over.json"), contents: "{}", id: 2, result: "why")
        let first = sweep(at: late) { $0.live = [live] }
        #expect(first.jobCounts == [.failed: 1])
        #expect(try spool.folder("failed/2026-11-21").sortedNames() == ["live.json", "live.json.result.json"])
        #expect(sweep(at: late).jobCounts == [.failed: 1])
        #expect(try days("failed") == [])
    }

    @Test func `a place that is given away is not touched`() throws {
        let name = try fileName("job.json")
        let place = try spool.app.archives.place(for: name, in: .done, at: spool.noon, withResult: false)
        try spool.folder("done/2026-11-21").put("job.json", "another's")
        #expect(!sweep(at: late).hasDeleted)
        #expect(try spool.folder("done/2026-11-21").text(place.name.escaped) == "another's")
    }

    @Test func `a result without its job goes too`() throws {
        try spool.folder("failed").makeChild(Array("2026-11-21".utf8), mode: 0o750).put("a.json.result.json", "why")
        let report = sweep(at: late)
        #expect(report.failure == nil && !report.hasDeleted)
        #expect(try days("failed") == [])
    }

    @Test func `names that are not ours stay, and are reported by their folder`() throws {
        _ = try spool.archive(try fileName("d.json"), contents: "{}", id: 1)
        let day = try spool.folder("done/2026-11-21")
        for name in ["notes.txt", "a.json~", ".nfs001"] { try day.put(name) }
        try day.makeChild(Array("folder.json".utf8), mode: 0o755).put("inside.json", "{}")
        try spool.folder("done").put("2026-11-20", "a file")
        _ = try spool.folder("done").makeChild(Array("old".utf8), mode: 0o755)
        try spool.folder("failed").put(".hidden")
        let report = sweep(at: late)
        #expect(report.jobCounts == [.done: 1] && report.failure == nil)
        #expect(report.leftovers.map(\.path) == ["done", "done/2026-11-21"])
        #expect(report.leftovers.map(\.count) == [2, 3])
        #expect(try day.sortedNames() == [".nfs001", "a.json~", "folder.json", "notes.txt"])
        #expect(try spool.folder("done/2026-11-21/folder.json").sortedNames() == ["inside.json"])
        #expect(try days("done") == ["2026-11-20", "2026-11-21", "old"])
    }

    @Test func `no link is followed: the link goes, or stays, and what it names is as it was`() throws {
        let elsewhere = try TemporaryDirectory()
        try elsewhere.directory.put("kept.json", "{}")
        let done = try spool.folder("done")
        try done.makeSymbolicLink(Array("2026-01-01".utf8), to: elsewhere.path)
        let day = try done.makeChild(Array("2026-01-02".utf8), mode: 0o750)
        try day.makeSymbolicLink(Array("link.json".utf8), to: elsewhere.path + "/kept.json")
        let report = sweep(at: late)
        #expect(report.leftovers.map(\.path) == ["done"] && report.failure == nil)
        #expect(try done.sortedNames() == ["2026-01-01"])
        #expect(try elsewhere.directory.sortedNames() == ["kept.json"])
    }

    @Test func `special files that were refused go`() throws {
        let day = try spool.folder("failed").makeChild(Array("2026-11-21".utf8), mode: 0o750)
        try spool.place.makePipe("weather/failed/2026-11-21/pipe.json")
        try day.put("pipe.json.result.json", "why")
        #expect(sweep(at: late).jobCounts == [.failed: 1])
        #expect(try days("failed") == [])
    }

    @Test func `an archive of many files is emptied in short steps`() throws {
        let day = try spool.folder("done").makeChild(Array("2026-11-21".utf8), mode: 0o750)
        let count = 3 * RetentionSweep.stepLimit
        for number in 0..<count { try day.put("n\(number).json") }
        let sweep = RetentionSweep(spool.app, RetentionRules(), .everything, toldThrough: nil)
        var (stepCount, before) = (0, 0)
        while sweep.step(at: late, sparing: { [] }) {
            let deleted = sweep.report.jobCounts[.done] ?? 0
            #expect(deleted - before <= RetentionSweep.stepLimit)
            (stepCount, before) = (stepCount + 1, deleted)
        }
        #expect(before == count && stepCount >= 4)
        #expect(try days("done") == [])
    }

    @Test func `what is kept for no time goes on its day, whose folder stays until the day is over`() throws {
        _ = try spool.archive(try fileName("d.json"), contents: "{}", id: 1)
        _ = try spool.archive(try fileName("f.json"), contents: "{}", id: 2, result: "why")
        let keepNone = { (terms: inout Terms) in (terms.rules.done, terms.scope) = (.limited(.zero), .unkept) }
        let report = sweep(at: spool.noon, keepNone)
        #expect(report.jobCounts == [.done: 1])
        #expect(try days("done") == ["2026-11-21"] && spool.folder("done/2026-11-21").names().isEmpty)
        #expect(sweep(at: late, keepNone).failure == nil)
        #expect(try days("done") == [] && days("failed") == ["2026-11-21"])
    }

    @Test func `what is kept for no time is there for two seconds, with its result, whenever the sweep comes`() throws {
        let place = try spool.archive(try fileName("f.json"), contents: "{}", id: 1, result: "why")
        let status = try #require(try spool.folder("failed/2026-11-21").status(of: place.name.bytes))
        let cameAt = WallTime(nanoseconds: status.changedAt)
        let keepNone = { (terms: inout Terms) in (terms.rules.failed, terms.scope) = (.limited(.zero), .unkept) }
        for age in [Duration.zero, .milliseconds(1999), .milliseconds(-1999)] {
            let report = sweep(at: cameAt + age, keepNone)
            #expect(report.youngCount == 2 && !report.hasDeleted && report.failure == nil)
        }
        #expect(try spool.folder("failed/2026-11-21").names().count == 2)
        let report = sweep(at: cameAt + .seconds(2), keepNone)
        #expect(report.youngCount == 0 && report.jobCounts == [.failed: 1])
        #expect(try spool.folder("failed").names().isEmpty || spool.folder("failed/2026-11-21").names().isEmpty)
    }

    @Test func `what stays because it is young is deleted although the clock was set back`() throws {
        let place = try spool.archive(try fileName("d.json"), contents: "{}", id: 1)
        let status = try #require(try spool.folder("done/2026-11-21").status(of: place.name.bytes))
        let now = WallTime(nanoseconds: status.changedAt) + .seconds(-3600)
        let report = sweep(at: now) { ($0.rules.done, $0.scope) = (.limited(.zero), .unkept) }
        #expect(report.jobCounts == [.done: 1])
    }

    @Test func `a day that has gone is not made again by the next sync`() throws {
        try spool.app.archives.settle()
        _ = try spool.archive(try fileName("d.json"), contents: "{}", id: 1)
        _ = sweep(at: late)
        try spool.app.archives.settle()
        #expect(try days("done") == [])
    }

    // MARK: Feedback

    private func publish(_ times: WallTime...) throws -> [String] {
        let feedback = try FeedbackFolder(spool.app)
        return try times.map { time in try feedback.publish(Array("{}\n".utf8), at: time).escaped }
    }

    @Test func `unread feedback is told of first, by its oldest file, and goes with the next sweep`() throws {
        let names = try publish(spool.noon, spool.noon + .seconds(1), late)
        let first = sweep(at: late) { $0.rules.feedback = .days(39) }
        #expect(first.toldCount == 2 && first.oldestTold?.escaped == names[0] && first.feedbackCount == 0)
        #expect(first.toldThrough == spool.noon + .seconds(1))
        #expect(try days("feedback") == names)
        let second = sweep(at: late) { ($0.rules.feedback, $0.told) = (.days(39), first.toldThrough) }
        #expect(second.feedbackCount == 2 && second.toldCount == 0)
        #expect(try days("feedback") == [names[2]])
    }

    @Test func `other nodes' feedback and what consumers keep there stays`() throws {
        let old = "20260101T000000.000000Z-"
        let others = [old + "host-b.jsonl", old + "x-host-a.jsonl", "0.txt", ".host-a.tmp"]
        for name in others { try spool.folder("feedback").put(name) }
        let report = sweep(at: late) { $0.told = late }
        #expect(report == SweepReport())
        #expect(try days("feedback") == others.sorted())
    }

    // MARK: Failures

    @Test(.enabled(if: geteuid() != 0, "root may do everything"))
    func `what cannot be deleted is told once, and goes with a later sweep`() throws {
        try archiveFifty()
        let path = spool.place.path + "/weather/done/2026-11-21"
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: path)
        let failed = sweep(at: late)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        #expect(failed.failure?.isRefusal == true && (1...20).contains(failed.failureCount))
        #expect(failed.jobCounts == [.failed: 1], "the other archive is emptied all the same")
        #expect(sweep(at: late).jobCounts == [.done: 50])
    }

    #if FAILPOINTS
        @Test func `a disk that fails ends the sweep of that folder, and no more`() throws {
            try archiveFifty()
            // The folder is opened, its listing too, and names are read; then nothing goes well any more.
            let points = (4...200).map { "\($0):eio" }.joined(separator: ",")
            let plan = FailPlan(
                under: spool.place.path + "/weather/done/2026-11-21", points: try #require(FailPoint.list(points)))
            plan.install()
            let failed = sweep(at: late)
            plan.remove()
            #expect(failed.failure?.code == EIO && (1...20).contains(failed.failureCount))
            #expect(failed.jobCounts == [.failed: 1])
            #expect(sweep(at: late).jobCounts == [.done: 50])
        }
    #endif

    /// Fifty jobs in `done/`, and one in `failed/`.
    private func archiveFifty() throws {
        for number in 0..<50 {
            _ = try spool.archive(try fileName("n\(number).json"), contents: "{}", id: UInt128(number))
        }
        _ = try spool.archive(try fileName("f.json"), contents: "{}", id: 1000, result: "why")
    }
}
