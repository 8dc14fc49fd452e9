import PushModel
import TestSupport
import Testing

@testable import JobFormat
@testable import SpoolModel

/// More files in `new/` than the intake attends to.
struct IntakeCrowdTests {
    private func names(_ count: Int, _ beginning: String = "") -> [FileName] {
        (0..<count).map { name("\(beginning)job-\($0).json") }
    }

    @Test func `all are taken, and only some are attended to at a time`() {
        var harness = IntakeHarness(attention: 10)
        let names = names(1_000)
        harness.publish(names)
        var highest = 0
        while let action = harness.intake.next(at: harness.now) {
            highest = max(highest, harness.intake.count)
            harness.perform(action)
        }
        #expect(harness.log == names.map { "claim \($0)" })
        #expect(highest == 10)
    }

    @Test func `a file that waited by name is known to be published, or to have changed since`() {
        var harness = IntakeHarness(attention: 1)
        let names = names(3)
        harness.publish(names)
        harness.intake.hint(.modified, names[1], at: harness.now)
        harness.run()
        #expect(harness.log == ["claim job-0.json", "claim job-2.json"])
        harness.pass(.seconds(1))
        #expect(harness.log.last == "claim job-1.json" && harness.files.isEmpty)
    }

    @Test func `a listing changes nothing about names that wait`() {
        var harness = IntakeHarness(attention: 1)
        let names = names(5)
        harness.publish(names)
        harness.list(names)
        harness.run()
        #expect(harness.log == names.map { "claim \($0)" })
    }

    @Test func `a name that is gone is passed over, and one that came back is not`() {
        var harness = IntakeHarness(attention: 1)
        let names = names(4)
        harness.publish(names)
        for gone in names[1...2] { harness.intake.hint(.goneAway, gone, at: harness.now) }
        harness.list([names[2]])
        harness.files[names[1]] = nil
        harness.run()
        #expect(harness.log == ["claim job-3.json"], "the listing has only job-2, and job-0 is attended to no more")
        harness.pass(.seconds(1))
        #expect(harness.log.last == "claim job-2.json")
    }

    @Test func `an urgent file does not wait behind a crowd of others`() {
        var harness = IntakeHarness(attention: 10)
        harness.publish(names(500) + names(500, "bulk-"))
        // As many as there is attention for have been seen and wait for their turn.
        while let action = harness.intake.next(at: harness.now, taking: []) { harness.perform(action) }
        harness.publish([name("urgent-1.json")])
        harness.run()
        #expect(harness.log.first == "claim urgent-1.json" && harness.log.count == 1_001)
    }

    @Test func `files that cannot be had keep nobody out`() {
        var harness = IntakeHarness(attention: 10)
        let names = names(100)
        for name in names.prefix(50) { harness.obstacles[name] = .busy }
        harness.publish(names)
        harness.run()
        #expect(harness.log == names.suffix(50).map { "claim \($0)" })
    }

    @Test func `names for which there is no room are found by another scan`() {
        var harness = IntakeHarness(attention: 1, backlogByteCount: 40)
        let names = names(100)
        for name in names { harness.put(name) }
        harness.list(names)
        #expect(!harness.intake.wantsScan, "not before those that wait are attended to")
        harness.pass(.seconds(120))
        #expect(harness.files.isEmpty && harness.log.count == 100)
    }

    @Test(arguments: [16_384, 1])
    func `what happens while a scan is under way is not forgotten by it`(attention: Int) {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var harness = IntakeHarness(attention: attention)
            let names = names(8)
            for name in names where Bool.random(using: &random) { harness.put(name) }
            let there = harness.files.keys.sorted()
            let cut = Int.random(in: 0...there.count, using: &random)
            harness.intake.beginScan()
            for name in there[..<cut] { harness.intake.listed(name, at: harness.now) }
            for _ in 0..<6 {
                let name = names.randomElement(using: &random) ?? names[0]
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    harness.files[name] = nil
                    harness.hint(.goneAway, name)
                case 1: harness.pass(.milliseconds(Int64.random(in: 0...1500, using: &random)))
                default:
                    harness.put(name)
                    harness.hint(Bool.random(using: &random) ? .movedIn : .closedAfterWrite, name)
                }
            }
            for name in there[cut...] where harness.files[name] != nil { harness.intake.listed(name, at: harness.now) }
            harness.intake.endScan()
            harness.pass(.seconds(60))
            #expect(harness.files.isEmpty && harness.intake.count == 0, "seed \(seed)")
        }
    }

    @Test func `a backlog keeps every name once, in order, with what was said last`() {
        for seed in UInt64(0)..<UInt64(trials(5, full: 20)) {
            var random = SeededGenerator(seed: seed)
            var both = Backlogs()
            for number in 0..<4_000 {
                let digits = "\(Int.random(in: 0..<2_000, using: &random))"
                let name = name(digits + String(repeating: "-", count: 60))
                // It grows and shrinks in turn.
                let isGrowing = (number / 1_000).isMultiple(of: 2)
                switch Int.random(in: 0..<8, using: &random) {
                case 0: both.note(.gone, of: name)
                case 1: both.noteListed(name)
                case 2...(isGrowing ? 6 : 3):
                    both.append(name, Bool.random(using: &random) ? .publishedByRename : .present)
                default: both.popFirst()
                }
            }
            while !both.expected.isEmpty { both.popFirst() }
            #expect(both.differences.isEmpty, "seed \(seed)")
        }
    }

    @Test func `a backlog takes no more than there is room for`() {
        var backlog = IntakeBacklog(byteLimit: 30)
        let taken = ["123456789.json", "12345678901.json", "12345.json"].map { backlog.append(name($0), .present) }
        #expect(taken == [true, false, true])
        _ = backlog.popFirst()
        let isTaken = backlog.append(name("12345678901.json"), .present)
        #expect(isTaken)
    }
}

/// A backlog, and what it must do, told in the plainest way.
private struct Backlogs {
    var backlog = IntakeBacklog(byteLimit: 1 << 20)
    var expected: [(name: FileName, news: IntakeBacklog.News)] = []
    /// Where the two were not of one mind.
    var differences: [String] = []

    mutating func note(_ news: IntakeBacklog.News, of name: FileName) {
        let place = expected.firstIndex { $0.name == name }
        if let place { expected[place].news = news }
        compare(backlog.note(news, of: name), place != nil, "note \(name)")
    }

    mutating func noteListed(_ name: FileName) {
        let place = expected.firstIndex { $0.name == name }
        if let place, expected[place].news == .gone { expected[place].news = .present }
        compare(backlog.noteListed(name), place != nil, "listed \(name)")
    }

    mutating func append(_ name: FileName, _ news: IntakeBacklog.News) {
        guard !expected.contains(where: { $0.name == name }) else { return note(news, of: name) }
        expected.append((name, news))
        compare(backlog.append(name, news), true, "append \(name)")
    }

    mutating func popFirst() {
        while expected.first?.news == .gone { expected.removeFirst() }
        let wanted = expected.isEmpty ? nil : expected.removeFirst()
        let found = backlog.popFirst()
        compare(found?.name, wanted?.name, "first")
        compare(found?.isPublishedByRename, wanted.map { $0.news == .publishedByRename }, "news of the first")
        compare(backlog.isEmpty, expected.isEmpty, "is empty")
    }

    private mutating func compare<Value: Equatable>(_ found: Value, _ wanted: Value, _ what: String) {
        if found != wanted { differences.append("\(what): \(found), not \(wanted)") }
    }
}
