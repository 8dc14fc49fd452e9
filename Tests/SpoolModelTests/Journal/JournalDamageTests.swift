import PushModel
import TestSupport
import Testing

@testable import JournalModel
@testable import SpoolModel

/// Damage is told from the end that a crash leaves.
struct JournalDamageTests {
    /// A journal that one or more daemons wrote, each with a sync after every few records.
    private struct Scene {
        var file = JournalFile()
        var book: JournalBook
        /// Up to where it is proved to be durable, in bytes of the file.
        private(set) var provedEnd = 0

        init(daemons: Int) throws {
            book = try JournalBook.fresh()
            try write(0)
            for number in 1..<daemons {
                book = try JournalBook.next(file, salt: UInt32(number))
                try write(number)
            }
        }

        private mutating func write(_ number: Int) throws {
            try book.append(.header(JournalSample.header(number + 1, recipients: 40)))
            for index in 0..<8 {
                sync()
                try book.append(
                    .result(
                        JournalSample.id(number + 1),
                        JournalResult(.accepted, [index * 3..<index * 3 + 1], at: JournalSample.noon)))
            }
            file.write(&book)
        }

        private mutating func sync() {
            file.write(&book)
            book.noteDurable(through: book.position)
            provedEnd = JournalLayout.labelByteCount + book.position.offset
        }
    }

    @Test(
        .catalogue("J75 damaged-journal, any bit of what was synced", checks: [.fewDoubled], dice: .fixed),
        arguments: [1, 3])
    func `no bit of what was synced can change without a word`(_ daemons: Int) throws {
        let scene = try Scene(daemons: daemons)
        let whole = JournalModel(scene.file.replay())
        for index in JournalLayout.labelByteCount..<scene.provedEnd {
            var spoilt = scene.file
            spoilt.bytes[index] ^= 1 << UInt8(index % 8)
            let replay = spoilt.replay()
            guard JournalModel(replay) != whole else { continue }
            #expect(!replay.damage.isEmpty && replay.hasLost && replay.jobs.values.allSatisfy(\.isDamaged), "\(index)")
        }
    }

    @Test func `what is lost at the end is known to the start after the next`() throws {
        var scene = try Scene(daemons: 1)
        scene.file.bytes[JournalLayout.labelByteCount + 300] ^= 1
        scene.book = try JournalBook.next(scene.file, salt: 4)
        try scene.book.append(.header(JournalSample.header(9)))
        scene.file.write(&scene.book)
        let replay = scene.file.replay()
        #expect(replay.hasLost && replay.damage.isEmpty)
        #expect(replay.jobs[JournalSample.id(1)]?.isDamaged == true)
        #expect(replay.jobs[JournalSample.id(9)]?.isDamaged == false)
    }

    @Test(arguments: JournalRun.Crash.allCases, 0..<UInt64(trials(2, full: 6)))
    func `no turn of the ring and no start forgets what damage left unknown`(
        _ crash: JournalRun.Crash, _ seed: UInt64
    ) throws {
        var run = try JournalRun(seed: seed)
        for _ in 0..<Int.random(in: 100..<800, using: &run.random) { try run.step() }
        run.damage()
        let first = run.file.replay()
        let doubtful = Set(first.jobs.values.filter(\.isDamaged).map(\.facts.id)).union(first.orphans)
        let start = run.book.position.epoch
        var known = first
        for round in 0..<12 {
            let (hasLost, live) = (known.hasLost, Set(known.jobs.keys))
            try #require(hasLost, "seed \(seed), round \(round)")
            let damaged = Set(known.jobs.values.filter(\.isDamaged).map(\.facts.id))
            try #require(damaged == doubtful.intersection(live), "seed \(seed), round \(round)")
            _ = try run.die(crash)
            run.sync()
            for _ in 0..<200 { try run.step() }
            run.sync()
            known = run.file.replay()
        }
        #expect(run.book.position.epoch > start + 12, "seed \(seed): the ring has not turned")
    }

    @Test func `a job without a header says that records were lost`() throws {
        var (file, book) = (JournalFile(), try JournalBook.fresh())
        try book.append(.header(JournalSample.header(1)))
        while book.window.regions.count < 2 { try book.append(.ended(JournalSample.subject("x.json"))) }
        try book.append(.claimed(JournalSample.id(1)))
        file.write(&book)
        // As if the first region had never been.
        var replay = JournalReplay(layout: file.layout)
        for index in 1..<file.layout.regionCount {
            replay.addHead(Array(file.region(index).prefix(JournalReplay.headByteCount)), index: index)
        }
        for index in replay.readingOrder { replay.addRegion(file.region(index), index: index) }
        replay.finish()
        #expect(replay.orphans == [JournalSample.id(1)] && replay.hasLost)
    }

    @Test func `a head that is zeros loses nothing without a word`() throws {
        var scene = try Scene(daemons: 1)
        while scene.book.window.regions.count < 2 { try scene.book.append(.ended(JournalSample.subject("x.json"))) }
        for _ in 0..<4 {
            scene.file.write(&scene.book)
            scene.book.noteDurable(through: scene.book.position)
            try scene.book.append(.claimed(JournalSample.id(1)))
        }
        scene.file.write(&scene.book)
        let start = Int(scene.file.layout.offset(ofRegion: 1))
        for index in start..<start + 64 { scene.file.bytes[index] = 0 }
        let replay = scene.file.replay()
        #expect(replay.hasLost && replay.jobs[JournalSample.id(1)]?.isDamaged == true)
    }

    @Test func `a file that is too short makes every job doubtful`() throws {
        let scene = try Scene(daemons: 2)
        var replay = JournalReplay(layout: scene.file.layout)
        for index in 0..<6 {
            replay.addHead(Array(scene.file.region(index).prefix(JournalReplay.headByteCount)), index: index)
        }
        for index in replay.readingOrder { replay.addRegion(scene.file.region(index), index: index) }
        replay.noteCut(toByteCount: Int64(scene.file.layout.offset(ofRegion: 6)))
        replay.finish()
        #expect(replay.hasLost && replay.jobs.count == 2 && replay.jobs.values.allSatisfy(\.isDamaged))
        #expect(replay.damage.first?.why.contains("cut to") == true)
    }

    @Test func `the end that a crash tears is no damage`() throws {
        var scene = try Scene(daemons: 2)
        let end = scene.provedEnd
        // Behind it are whole records that no sync has confirmed.
        for index in 20..<26 {
            try scene.book.append(
                .result(JournalSample.id(2), JournalResult(.accepted, [index..<index + 1], at: JournalSample.noon)))
        }
        scene.file.write(&scene.book)
        for index in end..<end + 60 {
            var torn = scene.file
            torn.bytes[index] ^= 1
            let replay = torn.replay()
            #expect(replay.damage.isEmpty && !replay.hasLost, "\(index)")
        }
    }
}
