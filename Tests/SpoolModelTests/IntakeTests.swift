import JobFormat
import PushModel
import SpoolModel
import TestSupport
import Testing

struct IntakeTests {
    private let job = name("a.json")

    @Test func `a file renamed into place is taken at once`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.hint(.movedIn, job)
        #expect(harness.log == ["claim a.json"] && harness.intake.count == 0 && harness.intake.deadline == nil)
    }

    @Test func `a file written in place settles first`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.hint(.created, job)
        harness.hint(.closedAfterWrite, job)
        harness.pass(.milliseconds(999))
        #expect(harness.log.isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.log == ["claim a.json"])
    }

    @Test func `every write restarts the settling`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.hint(.created, job)
        for size in Int64(11)...15 {
            harness.pass(.milliseconds(900))
            harness.put(job, bytes: size, inode: 2)
            harness.hint(.modified, job)
        }
        #expect(harness.log.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.log == ["claim a.json"])
    }

    /// Whatever the ctime of the changed file shows.
    @Test(.catalogue("F53 stamps, the clock of a server", checks: []), arguments: [Duration.zero, .seconds(60)])
    func `without a watch two scans must see the same`(age: Duration) {
        var harness = IntakeHarness()
        harness.put(job)
        harness.scan()
        harness.pass(.milliseconds(800))
        harness.age = age
        harness.put(job, bytes: 99, inode: 2)
        harness.scan()
        harness.pass(.milliseconds(999))
        #expect(harness.log.isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.log == ["claim a.json"])
    }

    @Test(arguments: [(0, 1000), (400, 600), (999, 1), (1000, 0), (60_000, 0)])
    func `the time for which a file was quiet before it was found counts`(age: Int, wait: Int) {
        var harness = IntakeHarness()
        harness.age = .milliseconds(age)
        harness.put(job)
        harness.scan()
        if wait > 0 {
            harness.pass(.milliseconds(wait - 1))
            #expect(harness.log.isEmpty)
            harness.pass(.milliseconds(1))
        }
        #expect(harness.log == ["claim a.json"])
    }

    @Test(arguments: [(false, "fail a.json incomplete"), (true, "claim a.json")])
    func `an old ctime takes nothing from patience`(endsInNewline: Bool, end: String) {
        var rules = IntakeRules()
        rules.settle = .seconds(10)
        var harness = IntakeHarness(rules: rules)
        harness.age = .seconds(3600)
        harness.put(job)
        harness.readings[job] = IntakeReading(isSealed: false, endsInNewline: endsInNewline)
        harness.scan()
        harness.pass(.milliseconds(9_999))
        #expect(harness.log.isEmpty && harness.readCounts[job] == 1)
        harness.pass(.milliseconds(1))
        #expect(harness.log == [end])
    }

    @Test func `names that are no jobs are never touched`() {
        var harness = IntakeHarness()
        for text in [".a.json", "a.txt", "a.json~", "a.result.json", "a", "a.json.tmp"] {
            harness.put(name(text))
            harness.hint(.movedIn, name(text))
        }
        harness.scan()
        harness.pass(.seconds(100))
        #expect(harness.log.isEmpty && harness.files.count == 6 && harness.intake.count == 0)
    }

    @Test func `jobs are taken in the order in which they appeared, then by name`() {
        var harness = IntakeHarness()
        for text in ["c.json", "a.json", "b.json"] { harness.put(name(text)) }
        harness.files[name("b.json")]?.identity.changedAt = WallTime(epochSeconds: 2)
        for text in ["a.json", "b.json", "c.json"] { harness.intake.hint(.movedIn, name(text), at: harness.now) }
        harness.run()
        #expect(harness.log == ["claim b.json", "claim c.json", "claim a.json"])
    }

    @Test func `urgent files are taken first, then those of no lane, and others get their share`() {
        var harness = IntakeHarness()
        let names = ["bulk-a.json", "a.json"] + (1...9).map { "urgent-\($0).json" }
        for text in names {
            harness.put(name(text))
            harness.intake.hint(.movedIn, name(text), at: harness.now)
        }
        harness.run()
        let order = (1...8).map { "claim urgent-\($0).json" }
        #expect(harness.log == order + ["claim bulk-a.json", "claim a.json", "claim urgent-9.json"])
    }

    @Test func `a file of a lane without room, or too long, waits, and does not hold up other lanes`() {
        var harness = IntakeHarness()
        for (text, count) in [("urgent-1.json", 1000), ("a.json", 10), ("bulk-1.json", 10)] {
            harness.put(name(text), bytes: Int64(count))
            harness.intake.hint(.movedIn, name(text), at: harness.now)
        }
        #expect(harness.taken(of: [LaneSet(.urgent), LaneSet(.bulk)], longest: 100) == ["bulk-1.json"])
        #expect(harness.taken(of: .all, longest: 100) == ["a.json"])
        #expect(harness.taken(of: .all, longest: 1000) == ["urgent-1.json"])
    }

    @Test func `ready files wait when there is no room`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.intake.hint(.movedIn, job, at: harness.now)
        #expect(harness.intake.next(at: harness.now, taking: []) == .look(job))
        harness.intake.sighted(
            job,
            harness.files[job]
                ?? IntakeSighting(identity: .init(device: 0, inode: 0, changedAt: noon), byteCount: 1, modifiedAt: noon),
            at: harness.now)
        #expect(harness.intake.next(at: harness.now, taking: []) == nil)
        harness.run()
        #expect(harness.log == ["claim a.json"])
    }

    @Test func `what is no file is moved without being opened`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.files[job]?.kind = .special
        harness.hint(.created, job)
        #expect(harness.log == ["move a.json"])
    }

    @Test(arguments: [(IntakeHint.movedIn, Duration.zero), (.created, .seconds(10))])
    func `an empty file fails, at once or after patience`(hint: IntakeHint, wait: Duration) {
        var harness = IntakeHarness()
        harness.put(job, bytes: 0)
        harness.hint(hint, job)
        if wait > .zero {
            harness.pass(wait - .milliseconds(1))
            #expect(harness.log.isEmpty)
        }
        harness.pass(.milliseconds(1))
        #expect(harness.log == ["fail a.json incomplete"])
    }

    @Test func `a file that is gone is forgotten`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.hint(.created, job)
        harness.files[job] = nil
        harness.hint(.goneAway, job)
        #expect(harness.intake.count == 0)
        harness.put(job)
        harness.hint(.created, job)
        harness.files[job] = nil
        harness.scan()
        harness.pass(.seconds(60))
        #expect(harness.intake.count == 0 && harness.log.isEmpty)
    }

    @Test func `a job overwritten before it was taken is noted`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.hint(.created, job)
        harness.put(job)
        harness.hint(.movedIn, job)
        #expect(harness.log == ["overwritten a.json", "claim a.json"])
    }

    @Test(arguments: [(16_384, 64 << 20), (1, 64 << 20), (1, 16)])
    func `no run of hints takes a file twice or forgets one`(attention: Int, backlogByteCount: Int) {
        for seed in UInt64(0)..<300 {
            var random = SeededGenerator(seed: seed)
            var harness = IntakeHarness(attention: attention, backlogByteCount: backlogByteCount)
            let names = ["a.json", "b.yaml", "c.jsonl"].map(name)
            for _ in 0..<40 { step(&harness, names, &random) }
            harness.obstacles = [:]
            harness.readings = [:]
            harness.scan()
            harness.pass(.seconds(4000))
            #expect(harness.files.isEmpty && harness.intake.count == 0, "seed \(seed)")
        }
    }

    private func step(_ harness: inout IntakeHarness, _ names: [FileName], _ random: inout SeededGenerator) {
        let name = names.randomElement(using: &random) ?? job
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: harness.put(name, bytes: Int64.random(in: 0...3, using: &random))
        case 2: harness.files[name] = nil
        case 3: harness.obstacles[name] = [.busy, .unreadable, .stuck].randomElement(using: &random) ?? .busy
        case 4: harness.readings[name] = IntakeReading(failure: .invalid, isSealed: false, endsInNewline: false)
        case 5: harness.scan()
        case 6: harness.pass(.milliseconds(Int64.random(in: 0...3000, using: &random)))
        default:
            let hints: [IntakeHint] = [.movedIn, .created, .modified, .closedAfterWrite, .goneAway]
            harness.hint(hints.randomElement(using: &random) ?? .created, name)
        }
    }
}

extension IntakeTests {
    /// In each lane the order is that of the drops.
    @Test func `what is told to come next comes next`() throws {
        var intake = Intake()
        let names = (0..<20).map { number in name("\(number % 3 == 0 ? "bulk-" : "")n\(number).json") }
        for (number, name) in names.enumerated() { intake.hint(.movedIn, name, at: .zero + .seconds(number)) }
        #expect(intake.upcoming(50).looks == names && intake.upcoming(50, in: .all, longest: .max).openings.isEmpty)
        #expect(intake.upcoming(3).looks == Array(names.prefix(3)))
        var looked: [FileName] = []
        for (number, name) in names.enumerated() {
            guard case .look(let next)? = intake.next(at: .zero) else { break }
            looked.append(next)
            let identity = IntakeSighting.Identity(
                device: 1, inode: UInt64(number), changedAt: WallTime(epochSeconds: Int64(number)))
            let sighting = IntakeSighting(
                identity: identity, byteCount: number == 4 ? 1_000 : 10, modifiedAt: WallTime(epochSeconds: 5))
            intake.sighted(name, sighting, at: .zero)
        }
        #expect(looked == names && intake.upcoming(50).looks.isEmpty)
        #expect(Set(intake.upcoming(50, in: .all, longest: 100).openings) == Set(names).subtracting([names[4]]))
        #expect(intake.upcoming(7, in: .all, longest: .max).openings.count == 7)
        #expect(intake.upcoming(50, in: LaneSet(.bulk), longest: .max).openings.allSatisfy { $0.lane == .bulk })
        let told = intake.upcoming(50, in: .all, longest: .max).openings
        var opened: [FileName] = []
        while case .open(let next, _)? = intake.next(at: .zero) { opened.append(next) }
        for lane in Lane.allCases { #expect(opened.filter { $0.lane == lane } == told.filter { $0.lane == lane }) }
        #expect(opened.count == 20 && intake.upcoming(50, in: .all, longest: .max).openings.isEmpty)
    }
}
