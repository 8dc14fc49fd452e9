import JobFormat
import PushModel
import SpoolModel

/// An intake with a clock set by hand and a folder of make-believe files.
struct IntakeHarness {
    var intake: Intake
    var now = Moment.zero
    /// What `lstat` sees.
    var files: [FileName: IntakeSighting] = [:]
    /// What reading finds.
    var readings: [FileName: IntakeReading] = [:]
    /// What opening or moving comes to, if not to success.
    var obstacles: [FileName: IntakeAnswer] = [:]
    /// Before when files are not to be taken, as they say.
    var notBefore: [FileName: WallTime] = [:]
    /// How often files were read since they were put there.
    var readCounts: [FileName: Int] = [:]
    /// For how long files have been unchanged when they are looked at, as their ctimes tell.
    var age = Duration.zero
    /// How far the clock on the wall is ahead.
    var clockError = Duration.zero
    /// What was done, in order: `claim a.json`, `fail a.json incomplete`, …
    var log: [String] = []
    private var clock: Int64 = 1

    init(rules: IntakeRules = IntakeRules()) {
        intake = Intake(rules: rules)
    }

    /// One that attends to so many files of a lane, and has so much room for the names of others.
    init(attention: Int, backlogByteCount: Int = 64 << 20) {
        var rules = IntakeRules()
        (rules.attention, rules.backlogByteCount) = (attention, backlogByteCount)
        self.init(rules: rules)
    }

    /// The time of day: it was noon when all began.
    var timeOfDay: WallTime { noon + (now - .zero) + clockError }

    /// A file of so many bytes, changed just now.
    mutating func put(_ name: FileName, bytes: Int64 = 10, modifiedAt: Int64 = 5, inode: UInt64? = nil) {
        clock += 1
        let identity = IntakeSighting.Identity(
            device: 1, inode: inode ?? UInt64(clock), changedAt: WallTime(epochSeconds: clock))
        files[name] = IntakeSighting(
            identity: identity, byteCount: bytes, modifiedAt: WallTime(epochSeconds: modifiedAt))
        readCounts[name] = nil
    }

    /// A file of so many bytes, written just now: its mtime is its ctime.
    mutating func write(_ name: FileName, bytes: Int64) {
        put(name, bytes: bytes, modifiedAt: clock + 1, inode: 1)
    }

    /// Lets time pass, waking at each deadline on the way.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        run()
        while let deadline = nextDeadline(), deadline <= end {
            now = max(now, deadline)
            run()
        }
        now = end
        run()
    }

    /// When to wake, by either clock.
    private mutating func nextDeadline() -> Moment? {
        let (deadline, time) = (intake.deadline, intake.nextTime)
        return [deadline, time.map { now + max(.zero, $0 - timeOfDay) }].compactMap { $0 }.min()
    }

    /// Lists the folder, and does what the intake asks for then.
    mutating func scan() {
        list(files.keys.sorted())
        run()
    }

    /// Lists these names, and does nothing yet.
    mutating func list(_ names: [FileName]) {
        intake.beginScan()
        for name in names { intake.listed(name, at: now) }
        intake.endScan()
    }

    /// Renames files of these names into place, and does nothing yet.
    mutating func publish(_ names: [FileName]) {
        for name in names {
            put(name)
            intake.hint(.movedIn, name, at: now)
        }
    }

    mutating func hint(_ hint: IntakeHint, _ name: FileName) {
        intake.hint(hint, name, at: now)
        run()
    }

    /// Does what the intake asks for until it asks for nothing more.
    mutating func run() {
        for name in intake.takeMistaken(at: now) where files[name] != nil { intake.confirmMistaken(name) }
        repeat {
            while isTimeUp() { intake.noteTime(timeOfDay, at: now) }
            while let action = intake.next(at: now) { perform(action) }
        } while isTimeUp()
        if intake.wantsScan { scan() }
    }

    /// Whether the time of a file has come that is left alone.
    private mutating func isTimeUp() -> Bool { intake.nextTime.map { $0 <= timeOfDay } ?? false }

    /// What is taken of these lanes, if no file may be longer.
    mutating func taken(of lanes: LaneSet, longest: Int64) -> [String] {
        log = []
        while let action = intake.next(at: now, taking: lanes, longest: longest) { perform(action) }
        return log.map { $0.replacing("claim ", with: "") }
    }

    mutating func perform(_ action: IntakeAction) {
        switch action {
        case .look(let name):
            if let file = files[name] {
                intake.sighted(name, file, unchangedFor: age, at: now)
            } else {
                intake.answer(name, .gone, at: now)
            }
        case .open(let name, let isPublished): open(name, isPublished)
        case .fail(let name, let code): move(name, "fail \(name) \(code)")
        case .moveAsItIs(let name): move(name, "move \(name)")
        case .warnStuck(let name): log.append("stuck \(name)")
        case .warnUnmarked(let name): log.append("unmarked \(name)")
        case .noteOverwritten(let name): log.append("overwritten \(name)")
        }
    }

    private mutating func open(_ name: FileName, _ isPublished: Bool) {
        if let obstacle = obstacles[name], obstacle != .stuck { return intake.answer(name, obstacle, at: now) }
        var reading = readings[name] ?? IntakeReading(isSealed: true, endsInNewline: true)
        reading.notBefore = notBefore[name].flatMap { $0 > timeOfDay ? $0 : nil }
        readCounts[name, default: 0] += 1
        switch intake.read(name, reading, at: now) {
        case .claim: move(name, "claim \(name)")
        case .wait: break
        case .postpone: log.append("postpone \(name)")
        case .fail(let code): move(name, "fail \(name) \(code)")
        }
    }

    private mutating func move(_ name: FileName, _ entry: String) {
        guard obstacles[name] != .stuck else { return intake.answer(name, .stuck, at: now) }
        log.append(entry)
        files[name] = nil
        intake.answer(name, .moved, at: now)
    }
}

/// A name of a test.
func name(_ text: String) -> FileName {
    guard let name = FileName(text) else { preconditionFailure("no file can be called \(text)") }
    return name
}
