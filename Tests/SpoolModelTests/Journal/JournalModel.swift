import PushModel
import TestSupport

@testable import JournalModel
@testable import SpoolModel

/// What a journal should say, kept in the plainest way: a letter per notification.
struct JournalModel: Equatable {
    struct Job: Equatable {
        /// `.` no outcome, `a`ccepted, `r`ejected, `e`xpired, `u`nsent, `?` unknown.
        var letters: [Character]
        var intents: Set<Int> = []
        var isClaimed = false
        var hasEnded = false
        var isTold = false
        /// Lines that are not out, each with its letters' range.
        var lines: [String] = []
    }

    var jobs: [JobID: Job] = [:]

    init() {}

    /// Reads the same from what a replay says.
    init(_ replay: JournalReplay) {
        for (id, job) in replay.jobs { jobs[id] = Job(job) }
    }
}

extension JournalModel.Job {
    init(_ job: JournalJob) {
        letters = (0..<job.facts.recipientCount).map { index in
            if job.remaining.contains(index) { return "." }
            if job.rejected.contains(index) { return "r" }
            if job.expired.contains(index) { return "e" }
            if job.unsent.contains(index) { return "u" }
            return job.unknown.contains(index) ? "?" : "a"
        }
        intents = Set(job.intents.runs.joined())
        (isClaimed, hasEnded, isTold) = (job.isClaimed, job.final != nil, job.isFinalTold)
        lines = job.untold.map { "\($0.outcome.kind.rawValue) \($0.ranges)" }
        let tally = job.tally
        let counts = [tally.accepted, tally.rejected, tally.expired, tally.unsent, tally.unknown]
        // A wrong count spoils the comparison.
        if counts != "areu?".map({ letter in letters.count { $0 == letter } }) { letters.append("!") }
    }

    mutating func settle(_ range: Range<Int>, _ outcome: Outcome, isCorrection: Bool) {
        for index in range where letters[index] == "." || isCorrection { letters[index] = Self.letter(outcome) }
        intents.subtract(range)
        if outcome != .accepted { lines.append("\(outcome.kind.rawValue) \([range])") }
    }

    mutating func reopen(_ range: Range<Int>) {
        for index in range { letters[index] = "." }
        intents.subtract(range)
        (hasEnded, isTold) = (false, false)
    }

    private static func letter(_ outcome: Outcome) -> Character {
        switch outcome {
        case .accepted: "a"
        case .rejected: "r"
        case .expired: "e"
        case .unsent: "u"
        case .unknown: "?"
        }
    }
}

/// A daemon that does what chance says, writes a journal about it, and dies in the middle of a write.
struct JournalRun {
    var random: SeededGenerator
    var file = JournalFile()
    var book: JournalBook
    var model = JournalModel()
    var count = 0
    var carried = 0
    /// What it went through since the last sync, and what it wrote.
    private var history: [JournalModel] = []
    private var written: [JournalWrite] = []
    /// What a loss of power leaves in any case.
    private var safe = JournalFile()

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        book = try JournalBook.fresh()
        sync()
    }

    /// Writes what the book has to the file.
    mutating func write() {
        for write in file.write(&book) {
            if write.needsSyncBefore {
                safe.bytes.apply(written)
                written = []
            }
            written.append(write)
        }
    }

    /// Makes all of it safe.
    mutating func sync() {
        write()
        safe = file
        (written, history) = ([], [model])
        book.noteDurable(through: book.position)
    }

    /// How much of what was not synced a crash leaves.
    enum Crash: CaseIterable {
        /// A beginning, up to any byte.
        case cut
        /// Any sectors.
        case torn
    }

    /// Dies, and starts again; what was done since the last sync may be lost.
    ///
    /// - Returns: Whether the journal says what was true at one time since the last sync, at the end if all was written.
    mutating func die(_ crash: Crash) throws -> Bool {
        write()
        let total = written.reduce(0) { $0 + $1.bytes.count }
        switch crash {
        case .cut: safe.write(written, first: Int.random(in: 0...total, using: &random))
        case .torn:
            let chances: [Double] = [0, 0.5, 0.9, 1]
            let chance = chances.randomElement(using: &random) ?? 1
            safe.write(written, chance: chance, using: &random)
        }
        if safe.bytes == file.bytes { history = [model] }
        file = safe
        let replay = file.replay()
        book = try JournalBook(layout: file.layout, after: replay, salt: UInt32.random(in: 0 ... .max, using: &random))
        book.share(among: ["weather"])
        model = JournalModel(replay)
        let isTrue = history.contains(model) && replay.damage.isEmpty && !replay.hasLost
        (written, history) = ([], [model])
        return isTrue
    }

    /// Flips a bit of what was synced, so that records are lost; the next daemon finds it.
    mutating func damage() {
        sync()
        repeat {
            file = safe
            let region = book.window.regions.randomElement(using: &random)?.index ?? 0
            let start = Int(file.layout.offset(ofRegion: region))
            file.bytes[start + Int.random(in: 0..<file.layout.regionByteCount, using: &random)] ^= 4
        } while !file.replay().hasLost
        safe = file
    }

    mutating func step() throws {
        try carry()
        let live = model.jobs.keys.sorted { $0.bits < $1.bits }
        guard let id = live.randomElement(using: &random), Int.random(in: 0..<6, using: &random) > 0 else {
            return try begin()
        }
        switch Int.random(in: 0..<13, using: &random) {
        case 0: try append(.claimed(id)) { $0.jobs[id]?.isClaimed = true }
        case 1: try intend(id)
        case 2: try correct(id)
        case 3: try reopen(id)
        case 4: try end(id)
        case 5: try publish()
        case 6: try append(.cleaned(id)) { $0.jobs[id] = nil }
        case 7: for _ in 0..<3 { try hurry() }
        default: try settle(id)
        }
    }

    mutating func append(_ record: JournalRecord, _ change: (inout JournalModel) -> Void) throws {
        try book.append(record)
        change(&model)
        history.append(model)
    }

    private mutating func begin() throws {
        let size = Int.random(in: 0..<1500, using: &random)
        guard book.claimRoom(of: "weather") > size else { return try publish() }
        count += 1
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
        let header = JournalSample.header(
            count, recipients: Int.random(in: 1..<60, using: &random), content: .bytes(bytes))
        let letters = [Character](repeating: ".", count: header.facts.recipientCount)
        try append(.header(header)) { $0.jobs[header.facts.id] = JournalModel.Job(letters: letters) }
    }

    /// A large job comes and goes, so that the journal goes round.
    private mutating func hurry() throws {
        count += 1
        let id = JournalSample.id(count)
        let header = JournalSample.header(
            count, recipients: 1, content: .bytes([UInt8](repeating: UInt8(truncatingIfNeeded: count), count: 1900)))
        guard book.claimRoom(of: "weather") > 1900 else { return }
        try append(.header(header)) { $0.jobs[id] = JournalModel.Job(letters: ["."]) }
        try append(.cleaned(id)) { $0.jobs[id] = nil }
    }

    /// A range whose letters are all one of these.
    private mutating func range(_ id: JobID, of letters: Set<Character>) -> Range<Int>? {
        guard let job = model.jobs[id] else { return nil }
        let start = Int.random(in: 0..<job.letters.count, using: &random)
        let end = min(job.letters.count, start + Int.random(in: 1..<20, using: &random))
        return job.letters[start..<end].allSatisfy(letters.contains) ? start..<end : nil
    }

    private mutating func settle(_ id: JobID) throws {
        guard let range = range(id, of: [".", "a", "r", "e", "u", "?"]) else { return }
        let outcome = JournalCodecTests.outcomes.randomElement(using: &random) ?? .accepted
        try append(.result(id, JournalResult(outcome, [range], at: JournalSample.noon))) {
            $0.jobs[id]?.settle(range, outcome, isCorrection: false)
        }
    }

    private mutating func correct(_ id: JobID) throws {
        guard let range = range(id, of: ["a"]) else { return }
        let result = JournalResult(JournalSample.gone, [range], at: JournalSample.noon, isCorrection: true)
        try append(.result(id, result)) { $0.jobs[id]?.settle(range, JournalSample.gone, isCorrection: true) }
    }

    private mutating func intend(_ id: JobID) throws {
        guard let range = range(id, of: ["."]) else { return }
        try append(.intent(id, [range])) { $0.jobs[id]?.intents.formUnion(range) }
    }

    private mutating func reopen(_ id: JobID) throws {
        guard let range = range(id, of: [".", "a"]) else { return }
        try append(.reopened(id, [range])) { $0.jobs[id]?.reopen(range) }
    }

    private mutating func end(_ id: JobID) throws {
        guard let job = book.job(id), job.remaining.isEmpty else { return }
        try append(.final(id, JournalSample.final(job))) {
            $0.jobs[id]?.hasEnded = true
            $0.jobs[id]?.isTold = false
        }
    }

    private mutating func publish() throws {
        let position = try book.append(.ended(JournalSample.subject("nothing.json")))
        let feedback = JournalPublication(app: "weather", feedback: JournalSample.name("f.jsonl"), through: position)
        try append(.published(feedback)) { model in
            for id in model.jobs.keys {
                model.jobs[id]?.lines = []
                if model.jobs[id]?.hasEnded == true { model.jobs[id]?.isTold = true }
            }
        }
    }

    mutating func carry() throws {
        while !book.jobsToCarry.isEmpty {
            for id in book.jobsToCarry { try carry(id) }
        }
    }

    /// Writes a job once more.
    mutating func carry(_ id: JobID) throws {
        write()
        guard let job = book.job(id) else { return }
        try book.carry(id, header: try file.header(job, book) ?? { throw JournalFull.noRegion }())
        carried += 1
    }
}

extension [UInt8] {
    fileprivate mutating func apply(_ writes: [JournalWrite]) {
        for write in writes { replaceSubrange(write.range, with: write.bytes) }
    }
}
