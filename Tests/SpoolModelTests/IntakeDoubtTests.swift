import JobFormat
import PushModel
import SpoolModel
import Testing

/// Files that may not be whole, and files that cannot be had.
struct IntakeDoubtTests {
    private let job = name("a.yaml")

    /// A file written in place, settled and read once.
    private func inPlace(_ reading: IntakeReading, rules: IntakeRules = IntakeRules()) -> IntakeHarness {
        var harness = IntakeHarness(rules: rules)
        harness.put(job)
        harness.readings[job] = reading
        harness.hint(.closedAfterWrite, job)
        harness.pass(.seconds(1))
        return harness
    }

    @Test(arguments: [
        (IntakeReading(isSealed: true, endsInNewline: false), "claim a.yaml"),
        (IntakeReading(isSealed: false, endsInNewline: false), "claim a.yaml"),
        (IntakeReading(failure: .invalid, isSealed: false, endsInNewline: true), "fail a.yaml invalid"),
        (IntakeReading(failure: .incomplete, isSealed: true, endsInNewline: true), "fail a.yaml incomplete"),
    ])
    func `a file renamed into place is judged at once`(reading: IntakeReading, entry: String) {
        var harness = IntakeHarness()
        harness.put(job)
        harness.readings[job] = reading
        harness.hint(.movedIn, job)
        #expect(harness.log == [entry])
    }

    @Test func `a sealed file written in place is taken once it settled`() {
        #expect(inPlace(IntakeReading(isSealed: true, endsInNewline: false)).log == ["claim a.yaml"])
    }

    @Test(arguments: [
        (IntakeReading(isSealed: false, endsInNewline: true), "claim a.yaml"),
        (IntakeReading(isSealed: false, endsInNewline: false), "fail a.yaml incomplete"),
        (IntakeReading(failure: .invalid, isSealed: false, endsInNewline: true), "fail a.yaml invalid"),
        (IntakeReading(failure: .incomplete, isSealed: true, endsInNewline: true), "fail a.yaml incomplete"),
    ])
    func `any other file written in place is judged after patience`(reading: IntakeReading, entry: String) {
        var harness = inPlace(reading)
        #expect(harness.log.isEmpty)
        harness.pass(.milliseconds(8_999))
        #expect(harness.log.isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.log == [entry])
    }

    /// Rules for a filesystem that other hosts write to.
    private static var shared: IntakeRules {
        var rules = IntakeRules()
        rules.isShared = true
        return rules
    }

    /// The kernel of another host writes back every 30 seconds, so the file is quiet for longer than patience each time.
    @Test(arguments: [
        IntakeReading(isSealed: false, endsInNewline: true), IntakeReading(isSealed: false, endsInNewline: false),
        IntakeReading(failure: .incomplete, isSealed: false, endsInNewline: true),
    ])
    func `on a shared filesystem a file that another host still writes is not taken before its end is marked`(
        reading: IntakeReading
    ) {
        var harness = IntakeHarness(rules: Self.shared)
        harness.readings[job] = reading
        for size in Int64(1)...25 {
            harness.write(job, bytes: size * 4096)
            for _ in 0..<15 {
                harness.pass(.seconds(2))
                harness.scan()
            }
        }
        #expect(harness.log == ["unmarked a.yaml"])
        harness.write(job, bytes: 120_000)
        harness.readings[job] = IntakeReading(isSealed: true, endsInNewline: true)
        harness.scan()
        harness.pass(.seconds(1))
        #expect(harness.log == ["unmarked a.yaml", "claim a.yaml"])
    }

    @Test func `on a shared filesystem a file that never gets an end fails after an hour, and is read rarely`() {
        var harness = IntakeHarness(rules: Self.shared)
        harness.readings[job] = IntakeReading(isSealed: false, endsInNewline: true)
        harness.write(job, bytes: 10)
        for _ in 0..<1_799 {
            harness.scan()
            harness.pass(.seconds(2))
        }
        #expect(harness.log == ["unmarked a.yaml"] && harness.readCounts[job, default: 0] <= 8)
        harness.pass(.seconds(2))
        #expect(harness.log == ["unmarked a.yaml", "fail a.yaml incomplete"])
    }

    @Test func `on a shared filesystem a file that was renamed or linked after its last write needs no end`() {
        var harness = IntakeHarness(rules: Self.shared)
        harness.readings[job] = IntakeReading(isSealed: false, endsInNewline: true)
        harness.put(job)
        harness.scan()
        harness.pass(.seconds(10))
        #expect(harness.log == ["claim a.yaml"])
    }

    @Test func `on a shared filesystem a faulty file whose end is marked fails after patience`() {
        var harness = IntakeHarness(rules: Self.shared)
        harness.readings[job] = IntakeReading(failure: .invalid, isSealed: true, endsInNewline: true)
        harness.write(job, bytes: 10)
        harness.scan()
        harness.pass(.seconds(10))
        #expect(harness.log == ["fail a.yaml invalid"])
    }

    @Test func `a file that grows is not judged by its beginning`() {
        var harness = inPlace(IntakeReading(isSealed: false, endsInNewline: true))
        for size in Int64(20)..<25 {
            harness.pass(.seconds(8))
            harness.put(job, bytes: size, inode: 2)
            harness.hint(.modified, job)
        }
        #expect(harness.log.isEmpty)
        harness.readings[job] = IntakeReading(isSealed: true, endsInNewline: true)
        harness.pass(.seconds(1))
        #expect(harness.log == ["claim a.yaml"])
    }

    @Test func `where an end is required, a file without one fails`() {
        var rules = IntakeRules()
        rules.requireEnd = .inPlace
        var harness = inPlace(IntakeReading(isSealed: false, endsInNewline: true), rules: rules)
        harness.pass(.seconds(9))
        #expect(harness.log == ["fail a.yaml incomplete"])
    }

    @Test func `a file that changes while it is read is let go`() {
        var intake = Intake()
        intake.hint(.movedIn, job, at: .zero)
        _ = intake.next(at: .zero)
        let identity = IntakeSighting.Identity(device: 1, inode: 1, changedAt: noon)
        intake.sighted(job, IntakeSighting(identity: identity, byteCount: 1, modifiedAt: noon), at: .zero)
        #expect(intake.next(at: .zero) == .open(job, isPublishedByRename: true))
        intake.hint(.modified, job, at: .zero)
        #expect(intake.read(job, IntakeReading(isSealed: true, endsInNewline: true), at: .zero) == .wait)
        #expect(intake.deadline == .zero + .seconds(1))
    }

    @Test func `a new file of a name that was just moved away is a new job`() {
        var intake = Intake()
        intake.hint(.movedIn, job, at: .zero)
        _ = intake.next(at: .zero)
        let identity = IntakeSighting.Identity(device: 1, inode: 1, changedAt: noon)
        intake.sighted(job, IntakeSighting(identity: identity, byteCount: 1, modifiedAt: noon), at: .zero)
        _ = intake.next(at: .zero)
        #expect(intake.read(job, IntakeReading(isSealed: true, endsInNewline: true), at: .zero) == .claim)
        intake.hint(.goneAway, job, at: .zero)
        intake.hint(.movedIn, job, at: .zero)
        intake.answer(job, .moved, at: .zero)
        #expect(intake.next(at: .zero) == .look(job))
    }

    @Test func `a file marked as unfinished by rsync waits, then must be sealed`() {
        for (isSealed, entry) in [(true, "claim a.yaml"), (false, "fail a.yaml incomplete")] {
            var harness = IntakeHarness()
            harness.put(job, modifiedAt: 0)
            harness.readings[job] = IntakeReading(isSealed: isSealed, endsInNewline: true)
            harness.hint(.movedIn, job)
            harness.pass(.milliseconds(9_999))
            #expect(harness.log.isEmpty)
            harness.pass(.milliseconds(1))
            #expect(harness.log == [entry])
        }
    }

    @Test func `while rsync's own file is there, an unfinished one waits an hour`() {
        var harness = IntakeHarness()
        harness.put(name(".a.yaml.Xa81kZ"))
        harness.put(job, modifiedAt: 0)
        harness.scan()
        harness.pass(.seconds(3_599))
        #expect(harness.log.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.log == ["claim a.yaml"])
    }

    @Test func `an unfinished file that rsync finishes is taken at once`() {
        var harness = IntakeHarness()
        harness.put(job, modifiedAt: 0)
        harness.hint(.created, name(".a.yaml.Xa81kZ"))
        harness.hint(.movedIn, job)
        harness.pass(.seconds(60))
        harness.put(job)
        harness.hint(.goneAway, name(".a.yaml.Xa81kZ"))
        harness.hint(.movedIn, job)
        #expect(harness.log == ["overwritten a.yaml", "claim a.yaml"])
    }

    @Test func `a file that a writer has open is asked for again and again`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .busy
        harness.hint(.movedIn, job)
        harness.pass(.seconds(500))
        #expect(harness.log.isEmpty)
        harness.obstacles = [:]
        harness.pass(.seconds(30))
        #expect(harness.log == ["claim a.yaml"])
    }

    @Test func `a file that may not be read fails after patience`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .unreadable
        harness.hint(.movedIn, job)
        harness.pass(.milliseconds(9_999))
        #expect(harness.log.isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.log == ["fail a.yaml unreadable"])
    }

    @Test func `a file that cannot be moved is told once and tried less and less often`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .stuck
        harness.hint(.movedIn, job)
        harness.pass(.seconds(200))
        for _ in 0..<5 { harness.scan() }
        #expect(harness.log == ["stuck a.yaml"])
        harness.obstacles = [:]
        harness.pass(.seconds(30))
        #expect(harness.log == ["stuck a.yaml", "claim a.yaml"])
    }

    @Test func `another file of the name is another matter`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .stuck
        harness.hint(.movedIn, job)
        harness.put(job)
        harness.hint(.movedIn, job)
        #expect(harness.log == ["stuck a.yaml", "overwritten a.yaml", "stuck a.yaml"])
    }

    @Test func `our own rename back is no publication`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .returned(job)
        harness.hint(.movedIn, job)
        harness.obstacles = [:]
        harness.readings[job] = IntakeReading(isSealed: false, endsInNewline: true)
        harness.hint(.movedIn, job)
        harness.pass(.milliseconds(9_999))
        #expect(harness.log.isEmpty)
        harness.pass(.milliseconds(1))
        #expect(harness.log == ["claim a.yaml"])
    }

    @Test func `a file put back under another name is no publication either, and what took its name is one`() {
        let other = name("a~2.yaml")
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .returned(other)
        harness.hint(.movedIn, job)
        harness.obstacles = [:]
        harness.put(job)
        harness.put(other)
        harness.hint(.movedIn, job)
        harness.hint(.movedIn, other)
        #expect(harness.log == ["claim a.yaml"])
        harness.pass(.seconds(1))
        #expect(harness.log == ["claim a.yaml", "claim a~2.yaml"])
    }

    @Test func `what a producer renames over a file that was put back is published again once that was seen`() {
        var harness = IntakeHarness()
        harness.put(job)
        harness.obstacles[job] = .returned(job)
        harness.hint(.movedIn, job)
        harness.obstacles = [:]
        harness.readings[job] = IntakeReading(isSealed: false, endsInNewline: false)
        harness.hint(.movedIn, job)
        harness.pass(.seconds(2))
        harness.put(job)
        harness.hint(.movedIn, job)
        harness.pass(.seconds(2))
        harness.put(job)
        harness.hint(.movedIn, job)
        #expect(harness.log == ["overwritten a.yaml", "overwritten a.yaml", "claim a.yaml"])
    }
}
