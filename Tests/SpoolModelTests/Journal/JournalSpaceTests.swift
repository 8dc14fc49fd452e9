import PushModel
import TestSupport
import Testing

@testable import JournalModel
@testable import SpoolModel

/// However apps use it, the journal has room for what must be recorded, and every app goes on that can.
struct JournalSpaceTests {
    @Test(
        .catalogue("J68 journal-room, any mix of apps", checks: [.nobodyLost], dice: .fixed), arguments: 0..<4)
    func `any mix of apps fits, and those that can go on do`(_ seed: UInt64) throws {
        var run = try SpaceRun(seed: seed)
        for phase in 0..<12 {
            run.beginPhase()
            for _ in 0..<1500 { try run.step() }
            for app in run.apps.values where app.canGoOn {
                #expect(app.endedCount > 0, "seed \(seed), phase \(phase): \(app.name)")
            }
            if phase % 3 == 2 { try run.restart() }
        }
        #expect(run.carriedCount > 0, "seed \(seed)")
    }

    @Test(arguments: [(1, 100_000), (2, 49_744), (100, 487)])
    func `each app has an equal part of one half for itself`(_ count: Int, _ room: Int) {
        var shares = JournalShares(byteLimit: 200_000)
        shares.apps = Set((0..<count).map { "app-\($0)" })
        let other = JournalState.Usage(byteCount: 1_000_000, jobCount: 5)
        let free = shares.room(of: "app-0", for: .outcomes, usage: count == 1 ? [:] : ["app-1": other])
        #expect(free >= room - 300 && shares.ownByteCount <= 100_000)
        #expect(count == 1 || free == shares.ownByteCount)
    }

    @Test func `what any app may take at least is never more than what one may take`() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let names = (0..<Int.random(in: 1...9, using: &generator)).map { "app-\($0)" }
            var shares = JournalShares(byteLimit: Int.random(in: 0...300_000, using: &generator))
            shares.apps = Set(names.filter { _ in Int.random(in: 0..<4, using: &generator) > 0 })
            var usage: [String: JournalState.Usage] = [:]
            for name in names where Bool.random(using: &generator) {
                usage[name] = .init(byteCount: Int.random(in: 0...100_000, using: &generator), jobCount: 1)
            }
            let live = usage.values.reduce(0) { $0 + $1.byteCount }
            for use in JournalUse.allCases {
                let least = shares.leastRoom(for: use, liveByteCount: live)
                let rooms = names.map { shares.room(of: $0, for: use, usage: usage) }
                #expect(least < 0 || rooms.allSatisfy { $0 >= least }, "\(use) \(usage) \(shares)")
            }
        }
    }

    @Test func `room for claims ends before that for outcomes, and an app without jobs has all of its own`() {
        var shares = JournalShares(byteLimit: 2_000_000)
        shares.apps = ["a", "b"]
        let usage = ["a": JournalState.Usage(byteCount: 500_000, jobCount: 9)]
        let rooms = [JournalUse.claims, .sending, .outcomes].map { shares.room(of: "a", for: $0, usage: usage) }
        #expect(rooms == rooms.sorted() && Set(rooms).count == 3)
        #expect(shares.room(of: "b", for: .claims, usage: usage) > shares.ownByteCount)
    }

    @Test(arguments: [[JournalSample.gone], [.expired], [JournalSample.gone, .expired]])
    func `a job whose rejected and expired are too scattered is abridged, and its counts are not`(
        outcomes: [Outcome]
    ) throws {
        var book = try JournalBook(layout: JournalLayout(byteCount: 8 << 20), after: nil, salt: 1)
        let (header, id) = (JournalSample.header(1, recipients: 600_000), JournalSample.id(1))
        try book.append(.header(header))
        for start in stride(from: 0, to: 600_000, by: 4_000) {
            let ranges = stride(from: start, to: start + 4_000, by: 2).map { $0..<$0 + 1 }
            let outcome = outcomes[start / 4_000 % outcomes.count]
            let position = try book.append(.result(id, JournalResult(outcome, ranges, at: JournalSample.noon)))
            try book.append(.result(id, JournalResult(.accepted, [start..<start + 4_000], at: JournalSample.noon)))
            let name = JournalSample.name("f.jsonl")
            try book.append(.published(JournalPublication(app: "weather", feedback: name, through: position)))
            if !book.jobsToCarry.isEmpty { try book.carry(id, header: header) }
            _ = book.takeWrites()
        }
        let job = try #require(book.job(id))
        #expect(job.isAbridged && job.rejected.isEmpty && job.expired.isEmpty && job.remaining.isEmpty)
        #expect(job.tally.rejected + job.tally.expired == 300_000 && job.tally.accepted == 300_000)
        #expect(job.tally.expired == (outcomes.contains(.expired) ? 300_000 / outcomes.count : 0))
    }
}

/// Apps that use a small journal as a daemon does, some of whose gateways or feedback do not work.
private struct SpaceRun {
    struct App {
        let name: String
        var isSending = true
        var isPublishing = true
        var rejects = 0
        var endedCount = 0
        /// Jobs, the oldest first, and up to where their notifications were sent.
        var jobs: [(id: JobID, next: Int, isOver: Bool)] = []
        /// Whether lines wait to be published, and the last record that they tell of.
        var lines = 0
        var last: JournalPosition?

        var canGoOn: Bool { isSending && isPublishing }
    }

    var random: SeededGenerator
    var file = JournalFile(layout: JournalLayout(byteCount: 4096 + 7 * 65_536, regionByteCount: 65_536))
    var book: JournalBook
    var apps: [String: App] = [:]
    var carriedCount = 0
    private var count = 0
    private static let recipientCount = 12

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        book = try JournalBook(layout: file.layout, after: nil, salt: 1)
        for name in ["a", "b", "c"] { apps[name] = App(name: name) }
        book.share(among: Set(apps.keys))
    }

    /// Lets other apps be in trouble.
    mutating func beginPhase() {
        for name in apps.keys.sorted() {
            apps[name]?.isSending = Int.random(in: 0..<3, using: &random) > 0
            apps[name]?.isPublishing = Int.random(in: 0..<3, using: &random) > 0
            apps[name]?.rejects = [0, 1, 2, 100].randomElement(using: &random) ?? 0
            apps[name]?.endedCount = 0
        }
    }

    mutating func step() throws {
        // As the daemon does ten times a second.
        if Int.random(in: 0..<20, using: &random) == 0 { try carry() }
        guard let name = apps.keys.sorted().randomElement(using: &random), var app = apps[name] else { return }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try claim(&app)
        case 1, 2: if app.isSending { try settle(&app) }
        default: if app.isPublishing { try publish(&app) }
        }
        apps[name] = app
    }

    private mutating func claim(_ app: inout App) throws {
        let size = Int.random(in: 0..<3000, using: &random)
        guard book.claimRoom(of: app.name) >= size else { return }
        count += 1
        var header = JournalSample.header(
            count, recipients: Self.recipientCount, content: .bytes([UInt8](repeating: 7, count: size)))
        header.facts.app = app.name
        try append(.header(header))
        try append(.claimed(header.facts.id))
        app.jobs.append((header.facts.id, 0, false))
    }

    private mutating func settle(_ app: inout App) throws {
        let places = app.jobs.indices.filter { !app.jobs[$0].isOver }
        guard let place = places.prefix(3).randomElement(using: &random) else { return }
        for _ in 0..<Int.random(in: 1..<8, using: &random) where app.jobs[place].next < Self.recipientCount {
            guard book.room(of: app.name, for: .outcomes) >= 256 || app.lines == 0 else { return }
            let (id, index) = (app.jobs[place].id, app.jobs[place].next)
            let isRefused = Int.random(in: 0..<3, using: &random) < app.rejects
            let refusal = Bool.random(using: &random) ? JournalSample.gone : .expired
            let outcome = isRefused ? refusal : .accepted
            let result = JournalResult(outcome, [index..<index + 1], at: JournalSample.noon)
            app.last = try append(.result(id, result))
            if isRefused { app.lines += 1 }
            app.jobs[place].next += 1
        }
        guard app.jobs[place].next == Self.recipientCount, let job = book.job(app.jobs[place].id) else { return }
        app.last = try append(.final(job.facts.id, JournalSample.final(job)))
        app.jobs[place].isOver = true
        app.lines += 1
    }

    private mutating func publish(_ app: inout App) throws {
        guard app.lines > 0, let last = app.last else { return }
        let name = JournalSample.name("f.jsonl")
        try append(.published(JournalPublication(app: app.name, feedback: name, through: last)))
        app.lines = 0
        for job in app.jobs where job.isOver {
            try append(.cleaned(job.id))
            app.endedCount += 1
        }
        app.jobs.removeAll(where: \.isOver)
    }

    /// Adds a record; where there is no region, jobs are carried forward, and then there must be one.
    @discardableResult
    private mutating func append(_ record: JournalRecord) throws -> JournalPosition {
        do throws(JournalFull) {
            return try book.append(record)
        } catch {
            try carry()
            return try book.append(record)
        }
    }

    private mutating func carry() throws {
        for id in book.jobsToCarry {
            file.write(&book)
            let job = try #require(book.job(id))
            try book.carry(id, header: try #require(file.header(job, book)))
            carriedCount += 1
        }
    }

    /// Another daemon goes on with what was left; lines that were not out are told by it.
    mutating func restart() throws {
        file.write(&book)
        book = try JournalBook(layout: file.layout, after: file.replay(), salt: UInt32(count))
        book.share(among: Set(apps.keys))
        for name in apps.keys where apps[name]?.jobs.isEmpty == false { apps[name]?.lines += 1 }
    }
}
