import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

struct JournalModelTests {
    @Test(
        .catalogue(
            "B12 model-crash, the records of the journal alone", checks: [.nobodyLost, .fewDoubled], dice: .fixed),
        arguments: JournalRun.Crash.allCases, 0..<UInt64(trials(2, full: 6)))
    func `whatever happens, the journal says what was written`(_ crash: JournalRun.Crash, _ seed: UInt64) throws {
        var run = try JournalRun(seed: seed)
        for round in 0..<40 {
            for _ in 0..<Int.random(in: 0..<60, using: &run.random) { try run.step() }
            // Else nothing of this daemon is safe, not even that it began.
            if Int.random(in: 0..<4, using: &run.random) > 0 { run.sync() }
            for _ in 0..<Int.random(in: 0..<5, using: &run.random) { try run.step() }
            try #require(try run.die(crash), "seed \(seed), round \(round)")
        }
        #expect(run.carried > 0, "seed \(seed)")
    }

    @Test func `a carry torn at any byte changes nothing`() throws {
        var run = try JournalRun(seed: 5)
        for _ in 0..<90 { try run.step() }
        run.file.write(&run.book)
        let model = JournalModel(run.file.replay())
        let (book, file) = (run.book, run.file)
        let id = try #require(book.liveJobs.max { $0.bits < $1.bits })
        try run.carry(id)
        let end = run.file.write(&run.book)
        let total = end.reduce(0) { $0 + $1.bytes.count }
        for count in 0...total {
            var torn = file
            torn.write(end, first: count)
            #expect(JournalModel(torn.replay()) == model, "\(count) of \(total) bytes")
        }
    }

    @Test func `a carry takes the header's bytes along`() throws {
        var run = try JournalRun(seed: 6)
        let header = JournalSample.header(1, content: .bytes(Array(repeating: 9, count: 700)))
        try run.book.append(.header(header))
        let old = try #require(run.book.job(header.facts.id)?.position)
        try run.carry(header.facts.id)
        run.file.write(&run.book)
        let job = try #require(run.file.replay().jobs[header.facts.id])
        #expect(job.position > old && job.holdsBytes && run.file.header(job, run.book) == header)
    }

    @Test func `what is not told is carried, and told by what says so of its old place`() throws {
        var run = try JournalRun(seed: 3)
        let header = JournalSample.header(1)
        try run.book.append(.header(header))
        let gone = JournalResult(JournalSample.gone, [0..<1], at: JournalSample.noon)
        let position = try run.book.append(.result(header.facts.id, gone))
        try run.carry(header.facts.id)
        run.write()
        #expect(run.file.replay().jobs[header.facts.id]?.untold == [gone])
        try run.book.append(
            .published(JournalPublication(app: "weather", feedback: JournalSample.name("f.jsonl"), through: position)))
        run.write()
        #expect(run.file.replay().jobs[header.facts.id]?.untold.isEmpty == true)
    }

    @Test func `what an earlier run has left is not told by what only tells of this one`() throws {
        var book = try JournalBook.fresh()
        let id = JournalSample.id(1)
        try book.append(.header(JournalSample.header(1)))
        let results = (0..<2).map { JournalResult(JournalSample.gone, [$0..<$0 + 1], at: JournalSample.noon) }
        try book.append(.result(id, results[0]))
        let since = book.position
        let through = try book.append(.result(id, results[1]))
        let feedback = JournalSample.name("f.jsonl")
        try book.append(
            .published(JournalPublication(app: "weather", feedback: feedback, through: through, since: since)))
        #expect(book.job(id)?.untold == [results[0]])
        try book.append(.published(JournalPublication(app: "weather", feedback: feedback, through: through)))
        #expect(book.job(id)?.hasUntold == false)
    }

    @Test func `a full journal refuses and stays as it was`() throws {
        var (book, number) = (try JournalBook.fresh(), 0)
        let fault = #expect(throws: JournalFull.self) {
            while true {
                number += 1
                try book.append(
                    .header(JournalSample.header(number, content: .bytes([UInt8](repeating: 1, count: 1500)))))
            }
        }
        #expect(fault == .noRegion && book.liveJobs.count == number - 1 && book.claimRoom(of: "weather") <= 0)
        try book.append(.cleaned(JournalSample.id(1)))
        #expect(book.job(JournalSample.id(1)) == nil)
        var file = JournalFile()
        file.write(&book)
        #expect(file.replay().jobs.count == number - 2)
    }

    @Test func `admitted jobs can always be carried`() throws {
        var (run, number) = (try JournalRun(seed: 8), 0)
        for round in 0..<3000 {
            while run.book.claimRoom(of: "weather") > 1000 {
                number += 1
                try run.book.append(
                    .header(JournalSample.header(number, content: .bytes([UInt8](repeating: 1, count: 1000)))))
            }
            try run.carry()
            let newest = try #require(run.book.liveJobs.max { $0.bits < $1.bits })
            try run.book.append(round % 20 == 0 ? .cleaned(newest) : .claimed(newest))
        }
        #expect(run.carried > 20)
    }

    @Test func `ten million that go well take one run`() throws {
        var book = try JournalBook(layout: JournalLayout(byteCount: 64 << 20), after: nil, salt: 0)
        let header = JournalSample.header(1, recipients: 10_000_000)
        try book.append(.header(header))
        for start in stride(from: 0, to: 10_000_000, by: 10_000) {
            try book.append(
                .result(header.facts.id, JournalResult(.accepted, [start..<start + 10_000], at: JournalSample.noon)))
        }
        let job = try #require(book.job(header.facts.id))
        #expect(job.remaining.isEmpty && job.tally.accepted == 10_000_000 && job.runs.isEmpty)
        #expect(book.takeWrites().reduce(0) { $0 + $1.bytes.count } < 100_000)
    }

    @Test func `long lists of ranges are split`() throws {
        var (file, book) = (JournalFile(), try JournalBook.fresh())
        let header = JournalSample.header(1, recipients: 1000)
        try book.append(.header(header))
        let ranges = stride(from: 0, to: 1000, by: 2).map { $0..<$0 + 1 }
        try book.append(
            .result(header.facts.id, JournalResult(.expired, ranges, at: JournalSample.noon)))
        file.write(&book)
        let job = try #require(file.replay().jobs[header.facts.id])
        #expect(job.expired.runs == ranges && job.untold.count > 1 && job.hasUntold)
    }

    @Test func `the first write of a region comes after a sync`() throws {
        var (book, writes) = (try JournalBook.fresh(), [JournalWrite]())
        for _ in 0..<2000 {
            try book.append(.ended(JournalSample.subject("x.json")))
            writes += book.takeWrites()
        }
        let starts = (0..<12).map { JournalFile.layout.offset(ofRegion: $0) }
        #expect(writes.allSatisfy { $0.needsSyncBefore == starts.contains($0.offset) })
        #expect(writes.count(where: \.needsSyncBefore) > 5)
    }
}
