import PushModel
import TestSupport
import Testing

@testable import JobFormat
@testable import SpoolModel

/// Files that are not to be taken before a time of day, or before they are asked for.
struct IntakePostponementTests {
    private let job = name("a.yaml")
    private let hour = Duration.seconds(3600)

    /// A file renamed into place that is not to be taken for an hour.
    private func postponed(_ reading: IntakeReading? = nil) -> IntakeHarness {
        var harness = IntakeHarness()
        harness.put(job)
        harness.readings[job] = reading
        harness.notBefore[job] = noon + hour
        harness.hint(.movedIn, job)
        return harness
    }

    @Test func `a file whose time has not come is read once, and taken when it comes`() {
        var harness = postponed()
        #expect(harness.log == ["postpone a.yaml"])
        for _ in 0..<119 {
            harness.pass(.seconds(30))
            harness.scan()
        }
        harness.pass(.milliseconds(29_999))
        #expect(harness.log == ["postpone a.yaml"] && harness.intake.count == 0 && harness.intake.postponedCount == 1)
        harness.pass(.milliseconds(1))
        #expect(harness.log == ["postpone a.yaml", "claim a.yaml"] && harness.intake.postponedCount == 0)
    }

    @Test func `its faults are told at once`() {
        let harness = postponed(IntakeReading(failure: .invalid, isSealed: true, endsInNewline: true))
        #expect(harness.log == ["fail a.yaml invalid"] && harness.intake.postponedCount == 0)
    }

    @Test func `what was renamed into place needs no end when its time comes`() {
        var harness = postponed(IntakeReading(isSealed: false, endsInNewline: false))
        harness.pass(hour)
        #expect(harness.log.last == "claim a.yaml")
    }

    @Test func `what was written in place and stayed as it is does not settle again`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.readings[job] = IntakeReading(isSealed: false, endsInNewline: true)
        harness.notBefore[job] = noon + hour
        harness.hint(.closedAfterWrite, job)
        harness.pass(.seconds(10))
        #expect(harness.log == ["postpone a.yaml"])
        harness.pass(hour - .seconds(10))
        #expect(harness.log == ["postpone a.yaml", "claim a.yaml"])
    }

    @Test func `another file that is renamed over it is read at once`() {
        var harness = postponed()
        harness.put(job)
        harness.notBefore[job] = nil
        harness.hint(.movedIn, job)
        #expect(harness.log == ["postpone a.yaml", "overwritten a.yaml", "claim a.yaml"])
    }

    @Test(arguments: [true, false])
    func `a file that is written to is read again once it settled, whether a hint or a scan tells`(isHinted: Bool) {
        var harness = postponed()
        let inode = harness.files[job]?.identity.inode
        harness.put(job, bytes: 20, inode: inode)
        harness.notBefore[job] = nil
        if isHinted { harness.hint(.modified, job) } else { harness.scan() }
        harness.pass(.milliseconds(999))
        #expect(harness.log == ["postpone a.yaml"])
        harness.pass(.milliseconds(1))
        #expect(harness.log == ["postpone a.yaml", "claim a.yaml"])
    }

    @Test func `a file that was written to just before its time settles first`() {
        var harness = postponed()
        let inode = harness.files[job]?.identity.inode
        harness.pass(hour - .milliseconds(1))
        harness.put(job, bytes: 20, inode: inode)
        harness.pass(.seconds(1))
        #expect(harness.log == ["postpone a.yaml"])
        harness.pass(.milliseconds(1))
        #expect(harness.log == ["postpone a.yaml", "claim a.yaml"])
    }

    @Test func `a hint that nothing comes of changes nothing`() {
        var harness = postponed(IntakeReading(isSealed: false, endsInNewline: false))
        for hint in [IntakeHint.modified, .closedAfterWrite, .movedIn, .created] {
            harness.hint(hint, job)
            harness.pass(.seconds(20))
        }
        #expect(harness.readCounts[job] == 1 && harness.intake.postponedCount == 1 && harness.intake.count == 0)
        harness.pass(hour)
        #expect(harness.log == ["postpone a.yaml", "claim a.yaml"])
    }

    @Test func `a file keeps the time of its drop, whatever else of it changes`() {
        var harness = postponed()
        let (first, inode) = (harness.files[job]?.identity.changedAt, harness.files[job]?.identity.inode)
        harness.put(job, inode: inode)
        harness.scan()
        #expect(harness.intake.postponedCount == 1 && harness.readCounts[job] == 1)
        harness.now = harness.now + hour
        harness.intake.noteTime(harness.timeOfDay, at: harness.now)
        #expect(harness.intake.dropTime(of: job) == first && first != harness.files[job]?.identity.changedAt)
    }

    @Test func `a file that is gone is forgotten`() {
        var (hinted, listed) = (postponed(), postponed())
        hinted.files = [:]
        hinted.hint(.goneAway, job)
        listed.files = [:]
        listed.scan()
        #expect(hinted.intake.postponedCount == 0 && listed.intake.postponedCount == 0)
        listed.pass(hour * 2)
        #expect(listed.log == ["postpone a.yaml"] && listed.intake.nextTime == nil)
    }

    @Test func `the clock on the wall may be set at any time`() {
        var harness = postponed()
        harness.clockError = .zero - hour * 3
        harness.pass(hour * 2)
        #expect(harness.log == ["postpone a.yaml"])
        harness.clockError = .zero
        harness.scan()
        #expect(harness.log == ["postpone a.yaml", "claim a.yaml"])
    }

    @Test func `a clock that is set back after the time had come makes it wait again`() {
        var harness = postponed()
        harness.now = harness.now + hour
        harness.intake.noteTime(harness.timeOfDay, at: harness.now)
        harness.clockError = .zero - hour
        harness.run()
        #expect(harness.log == ["postpone a.yaml", "postpone a.yaml"])
        harness.pass(hour)
        #expect(harness.log.last == "claim a.yaml")
    }

    @Test func `a crowd whose time comes waits by name, urgent files first`() {
        var harness = IntakeHarness(attention: 10)
        let names = (0..<500).map { name("job-\($0).json") } + (0..<50).map { name("urgent-\($0).json") }
        for name in names { harness.notBefore[name] = noon + hour }
        harness.publish(names)
        harness.run()
        #expect(harness.intake.postponedCount == 550)
        harness.log = []
        harness.now = harness.now + hour
        while let time = harness.intake.nextTime, time <= harness.timeOfDay {
            harness.intake.noteTime(harness.timeOfDay, at: harness.now)
        }
        var highest = harness.intake.count
        while let action = harness.intake.next(at: harness.now) {
            highest = max(highest, harness.intake.count)
            harness.perform(action)
        }
        #expect(harness.files.isEmpty && highest <= 30)
        #expect(harness.log.prefix(20).count { $0.contains("urgent") } >= 14)
    }

    @Test func `what there is no room to remember is read again after every scan, and not taken before its time`() {
        var rules = IntakeRules()
        rules.postponedByteCount = 300
        var harness = IntakeHarness(rules: rules)
        let names = (0..<10).map { name("job-\($0).json") }
        for name in names { harness.notBefore[name] = noon + hour }
        harness.publish(names)
        harness.run()
        #expect(harness.intake.postponedCount == 2 && harness.intake.count == 0)
        harness.pass(hour)
        #expect(harness.log.count { $0.hasPrefix("claim") } == 2 && harness.files.count == 8)
        harness.scan()
        harness.pass(.seconds(1))
        #expect(harness.files.isEmpty)
    }

    @Test func `a deferred file waits until it is asked for`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .deferred
        harness.hint(.movedIn, job)
        #expect(harness.intake.postponedCount == 1 && harness.intake.deadline == nil && harness.intake.nextTime == nil)
        harness.obstacles = [:]
        harness.scan()
        harness.pass(hour)
        #expect(harness.log.isEmpty)
        harness.intake.resume(job, at: harness.now)
        harness.run()
        #expect(harness.log == ["claim a.yaml"])
    }

    @Test func `a deferred file that is asked for while it is looked at is not left alone again`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .deferred
        harness.hint(.movedIn, job)
        harness.obstacles = [:]
        // A look is to be made, and meanwhile what it waits for happens.
        harness.list([job])
        #expect(harness.intake.postponedCount == 0 && harness.intake.count == 1)
        harness.intake.resume(job, at: harness.now)
        harness.run()
        #expect(harness.log == ["claim a.yaml"])
    }

    @Test func `a deferred file that there is no room to remember is tried again after a while`() {
        var rules = IntakeRules()
        rules.postponedByteCount = 0
        var harness = IntakeHarness(rules: rules)
        harness.put(job)
        harness.obstacles[job] = .deferred
        harness.hint(.movedIn, job)
        #expect(harness.intake.postponedCount == 0 && harness.intake.deadline != nil)
        harness.obstacles = [:]
        harness.pass(.seconds(60))
        #expect(harness.log == ["claim a.yaml"])
    }

    @Test(arguments: [16_384, 1])
    func `however it goes, each file is taken when its time has come, and read no more than twice`(attention: Int) {
        for seed in UInt64(0)..<200 {
            var random = SeededGenerator(seed: seed)
            var harness = IntakeHarness(attention: attention)
            let names = ["a.json", "urgent-b.yaml", "c.jsonl", "bulk-d.json"].map(name)
            var settled: [FileName: Moment] = [:]
            for _ in 0..<60 {
                step(&harness, names, &settled, &random)
                let late = harness.files.keys.filter { file in
                    let time = harness.notBefore[file] ?? noon
                    return settled[file].map { $0 < harness.now } == true && time + .seconds(2) < harness.timeOfDay
                }
                #expect(late.isEmpty, "seed \(seed)")
                #expect(harness.readCounts.values.allSatisfy { $0 <= 2 }, "seed \(seed)")
            }
            harness.pass(hour * 2)
            harness.scan()
            harness.pass(.seconds(20))
            let isAtRest = harness.intake.count == 0 && harness.intake.postponedCount == 0
            #expect(harness.files.isEmpty && isAtRest, "seed \(seed)")
        }
    }

    private func step(
        _ harness: inout IntakeHarness, _ names: [FileName], _ settled: inout [FileName: Moment],
        _ random: inout SeededGenerator
    ) {
        let name = names.randomElement(using: &random) ?? job
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let delay = Duration.seconds(Int64.random(in: 0...3600, using: &random))
            harness.notBefore[name] = Bool.random(using: &random) ? harness.timeOfDay + delay : nil
            let isRenamed = Bool.random(using: &random)
            harness.put(name, bytes: Int64.random(in: 1...99, using: &random))
            settled[name] = harness.now + .seconds(isRenamed ? 0 : 2)
            harness.hint(isRenamed ? .movedIn : .closedAfterWrite, name)
        case 2:
            harness.files[name] = nil
            if Bool.random(using: &random) { harness.hint(.goneAway, name) }
        case 3: harness.scan()
        case 4: if settled[name].map({ $0 < harness.now }) == true { harness.hint(.modified, name) }
        default: harness.pass(.seconds(Int64.random(in: 0...900, using: &random)))
        }
    }
}
