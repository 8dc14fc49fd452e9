import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

struct RetentionTests {
    private let day = Duration.seconds(86_400)

    private func folder(_ name: String) throws -> DayFolder {
        try #require(DayFolder(name: Array(name.utf8)))
    }

    // MARK: Days

    @Test(arguments: ["2026-11-21", "2024-02-29", "1970-01-01", "2262-01-01"])
    func `a folder of a day is one that is called as the day is`(name: String) throws {
        let folder = try folder(name)
        #expect(folder.start.day == name && folder.name == name)
        #expect(folder.end - folder.start == day)
    }

    @Test(arguments: [
        "", "2026-11-2", "2026-11-211", "2026-11-31", "2026-02-29", "2026-13-01", "2026/11/21", "26-11-21",
        "9999-01-01", "2026-11-21 ", "+026-11-21", "２026-11-21",
    ])
    func `no other name is a day's`(name: String) {
        #expect(DayFolder(name: Array(name.utf8)) == nil)
    }

    @Test func `a day is over when it has ended and the time has passed, and not a nanosecond before`() throws {
        let folder = try folder("2026-11-21")
        let end = try #require(WallTime(rfc3339: "2026-12-22T00:00:00Z"))
        #expect(KeepTime.days(30).isOver(folder, at: end))
        #expect(!KeepTime.days(30).isOver(folder, at: end + .nanoseconds(-1)))
        #expect(!KeepTime.forever.isOver(folder, at: end + KeepTime.days(30_000).duration))
    }

    @Test func `what is kept for no time is over on the day itself`() throws {
        let folder = try folder("2026-11-21")
        for time in [folder.start + day * -3, folder.start, folder.end] {
            #expect(KeepTime.limited(.zero).isOver(folder, at: time))
        }
        #expect(!KeepTime.limited(.milliseconds(1)).isOver(folder, at: folder.end))
    }

    @Test func `no day goes before its time, and none stays once it is over`() {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            let start = WallTime(epochSeconds: .random(in: 0...4_000_000_000, using: &random))
            guard let folder = DayFolder(name: Array(start.day.utf8)) else { return #expect(Bool(false), "\(seed)") }
            let keep = Duration.seconds(Int.random(in: 1...100_000_000, using: &random))
            let now = start + .seconds(Int.random(in: 0...200_000_000, using: &random))
            let isOver = KeepTime.limited(keep).isOver(folder, at: now)
            #expect(isOver == (now - folder.end >= keep), "seed \(seed)")
            #expect(!isOver || KeepTime.limited(keep).isOver(folder, at: now + day), "seed \(seed)")
        }
    }

    // MARK: Names in a day's folder

    @Test(arguments: ["a.json", "a~2.jsonl", "x.json.yaml", "\u{E9}~1f00ba44.yml", "-.json"])
    func `jobs and their results are known by their names`(name: String) throws {
        let job = try #require(FileName(name))
        let result = try #require(job.result)
        #expect(ArchivedName(job.bytes) == .job(job))
        #expect(ArchivedName(result.bytes) == .result(of: job) && ArchivedName(result.bytes)?.job == job)
    }

    @Test(arguments: [
        "notes.txt", ".hidden.json", "a.json~", ".result.json", "a.txt.result.json", "a.result.json.result.json",
        "..", "",
    ])
    func `other names are none of ours`(name: String) {
        #expect(ArchivedName(Array(name.utf8)) == nil)
    }

    // MARK: Feedback

    private func rules(_ feedback: KeepTime) -> RetentionRules {
        var rules = RetentionRules()
        rules.feedback = feedback
        return rules
    }

    @Test func `unread feedback is told of a day ahead, and deleted when it is over`() {
        let rules = rules(.days(90))
        let (told, over) = (noon + day * 89, noon + day * 90)
        #expect(rules.fate(ofFeedback: noon, at: told, toldThrough: nil) == .kept)
        #expect(rules.fate(ofFeedback: noon, at: told + .nanoseconds(1), toldThrough: nil) == .announced)
        #expect(rules.fate(ofFeedback: noon, at: over + .nanoseconds(-1), toldThrough: noon) == .announced)
        #expect(rules.fate(ofFeedback: noon, at: over, toldThrough: noon) == .deleted)
    }

    @Test func `no feedback is deleted that nobody was told of, however old it is`() {
        let rules = rules(.days(1))
        let late = noon + day * 1000
        #expect(rules.fate(ofFeedback: noon, at: late, toldThrough: nil) == .announced)
        #expect(rules.fate(ofFeedback: noon, at: late, toldThrough: noon + .seconds(-1)) == .announced)
        #expect(rules.fate(ofFeedback: noon, at: late, toldThrough: noon) == .deleted)
        #expect(self.rules(.forever).fate(ofFeedback: noon, at: late, toldThrough: late) == .kept)
    }

    @Test func `of a short time the second half is told ahead`() {
        let rules = rules(.limited(.seconds(7200)))
        #expect(rules.feedbackHorizon(at: noon) == noon + .seconds(-3600))
        #expect(self.rules(.days(3)).feedbackHorizon(at: noon) == noon + day * -2)
        #expect(self.rules(.forever).feedbackHorizon(at: noon) == nil)
    }

    // MARK: When

    @Test func `a sweep is due at the start, and again when the interval has passed`() {
        var schedule = SweepSchedule(interval: .seconds(3600))
        let start = Moment(nanoseconds: 5)
        #expect(schedule.isDue(at: start))
        let scope = schedule.begin(at: start)
        #expect(scope == .everything && !schedule.isDue(at: start + .seconds(3599)))
        #expect(schedule.isDue(at: start + .seconds(3600)))
    }

    @Test func `what came into an archive that keeps nothing is looked for soon, and nothing else is`() {
        var schedule = SweepSchedule(interval: .seconds(3600))
        let start = Moment(nanoseconds: 5)
        _ = schedule.begin(at: start)
        for second in 0...1 { schedule.noteUnkept(at: start + .seconds(second)) }
        #expect(!schedule.isDue(at: start + .seconds(1)) && schedule.isDue(at: start + SweepSchedule.grace))
        let scope = schedule.begin(at: start + SweepSchedule.grace)
        #expect(scope == .unkept && !schedule.isDue(at: start + .seconds(60)))
        #expect(schedule.isDue(at: start + .seconds(3600)))
    }
}

extension KeepTime {
    /// The time, if there is one.
    fileprivate var duration: Duration {
        switch self {
        case .forever: .zero
        case .limited(let time): time
        }
    }
}
