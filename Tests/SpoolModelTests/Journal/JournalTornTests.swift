import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

/// The end of a journal as power cuts and bad disks leave it.
struct JournalTornTests {
    /// A journal whose last two records are a result and an end, where they begin, and what it says up to each of them.
    private struct Ending {
        var file = JournalFile()
        var starts: [Int] = []
        var remaining: [Int] = []

        init() throws {
            var book = try JournalBook.fresh()
            try book.append(.header(JournalSample.header(1)))
            try book.append(.claimed(JournalSample.id(1)))
            try append(.result(JournalSample.id(1), JournalResult(.accepted, [0..<10], at: JournalSample.noon)), &book)
            try append(
                .result(JournalSample.id(1), JournalResult(JournalSample.gone, [10..<20], at: JournalSample.noon)),
                &book)
            file.write(&book)
            starts.append(Int(try #require(book.fileOffset(of: try book.append(.stopped)))))
        }

        private mutating func append(_ record: JournalRecord, _ book: inout JournalBook) throws {
            remaining.append(book.job(JournalSample.id(1))?.remaining.count ?? 0)
            starts.append(Int(try #require(book.fileOffset(of: try book.append(record)))))
        }

        /// What remains when the byte at `offset` is lost.
        func remaining(damagedAt offset: Int) -> Int {
            offset < starts[1] ? remaining[0] : offset < starts[2] ? remaining[1] : 30
        }
    }

    @Test(
        .catalogue("B14 torn-journal, every byte", checks: [.nobodyLost, .fewDoubled]),
        arguments: ["cut", "zero", "flip"]) func `a torn end is as if it had not been written`(_ damage: String)
        throws
    {
        let ending = try Ending()
        for offset in ending.starts[0]...ending.starts[2] {
            var file = ending.file
            switch damage {
            case "cut": for index in offset..<ending.starts[2] { file.bytes[index] = 0 }
            case "zero": if offset < ending.starts[2] { file.bytes[offset] = file.bytes[offset] == 0 ? 1 : 0 }
            default: if offset < ending.starts[2] { file.bytes[offset] ^= 0x10 }
            }
            // Zeros at the end of a record are cut without a loss.
            let lost = (offset..<ending.starts[2]).first { file.bytes[$0] != ending.file.bytes[$0] } ?? ending.starts[2]
            let replay = file.replay()
            #expect(replay.jobs[JournalSample.id(1)]?.remaining.count == ending.remaining(damagedAt: lost), "\(offset)")
            #expect(replay.damage.isEmpty && replay.orphans.isEmpty && replay.jobs.count == 1)
        }
    }

    @Test(.catalogue("B14 torn-journal, stale records", checks: []))
    func `stale records of an older epoch are never read`() throws {
        var file = JournalFile()
        var book = try JournalBook.fresh()
        // Fill the region that will be used again with records of the same sizes as those written later.
        for number in 0..<3000 {
            let subject = JournalSample.subject("file-\(number / 2 % 7).json")
            try book.append(number % 2 == 0 ? .start(subject) : .ended(subject))
            file.write(&book)
        }
        for salt in UInt32(0)..<20 {
            let replay = file.replay()
            #expect(replay.damage.isEmpty && replay.jobs.isEmpty && replay.suspects.isEmpty, "salt \(salt)")
            var next = try JournalBook(layout: file.layout, after: replay, salt: salt)
            try next.append(.start(JournalSample.subject("file-1.json")))
            try next.append(.stopped)
            file.write(&next)
        }
    }

    @Test func `a region lost in the middle puts the jobs of its time in doubt`() throws {
        var (file, book) = (JournalFile(), try JournalBook.fresh())
        try book.append(.header(JournalSample.header(1, recipients: 100_000)))
        for index in 0..<1500 {
            try book.append(
                .result(JournalSample.id(1), JournalResult(.accepted, [index..<index + 1], at: JournalSample.noon)))
        }
        try book.append(.header(JournalSample.header(2)))
        file.write(&book)
        for region in [1, 2] {
            for offset in [0, 9, 5000] {
                var spoilt = file
                spoilt.bytes[Int(file.layout.offset(ofRegion: region)) + offset] ^= 1
                let replay = spoilt.replay()
                let isRead = offset < 32  // A damaged head alone loses nothing: the records prove what it said.
                #expect(replay.jobs[JournalSample.id(1)]?.isDamaged == !isRead, "\(region)+\(offset)")
                #expect(replay.jobs[JournalSample.id(2)]?.isDamaged == false)
                #expect(replay.damage.map(\.region) == [region])
            }
        }
    }

    @Test func `results without a header are reported`() throws {
        var (file, book) = (JournalFile(), try JournalBook.fresh())
        for number in 0..<30 {
            try book.append(.header(JournalSample.header(1, content: .bytes([UInt8](repeating: 1, count: 900)))))
            try book.append(
                .header(JournalSample.header(number + 2, content: .bytes([UInt8](repeating: 1, count: 900)))))
        }
        for number in 0..<31 { try book.append(.claimed(JournalSample.id(number + 1))) }
        file.write(&book)
        let start = Int(file.layout.offset(ofRegion: 0))
        for index in start..<start + file.layout.regionByteCount { file.bytes[index] = 0 }
        let replay = file.replay()
        #expect(!replay.orphans.isEmpty && replay.orphans.isDisjoint(with: replay.jobs.keys))
        #expect(replay.orphans.count + replay.jobs.count == 31)
    }

    @Test func `any bytes are read without a trap`() throws {
        var (file, book) = (JournalFile(), try JournalBook.fresh())
        try book.append(.header(JournalSample.header(1)))
        file.write(&book)
        for index in file.bytes.indices where index > 4096 + 500 { file.bytes[index] = UInt8(index % 251) }
        let replay = file.replay()
        #expect(replay.jobs.count == 1)
        #expect((0..<12).allSatisfy { !JournalText.lines(ofRegion: file.region($0), index: $0).isEmpty })
    }
}
