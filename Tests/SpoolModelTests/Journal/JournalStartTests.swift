import PushModel
import TestSupport
import Testing

@testable import JournalModel
@testable import SpoolModel

/// How a daemon goes on in the journal of one that died.
struct JournalStartTests {
    private static let accepted = JournalResult(.accepted, [0..<1], at: JournalSample.noon)

    /// A journal with a job in it.
    private func beginning(_ layout: JournalLayout = JournalFile.layout) throws -> JournalFile {
        var (file, book) = (JournalFile(layout: layout), try JournalBook.fresh(layout))
        try book.append(.header(JournalSample.header(1)))
        try book.append(.claimed(JournalSample.id(1)))
        file.write(&book)
        return file
    }

    @Test(arguments: [true, false]) func `many starts take no region`(_ isIdle: Bool) throws {
        var file = try beginning(JournalLayout(byteCount: 8 << 20))
        var last: JournalPosition?
        for salt in 0..<UInt32(trials(60, full: 500)) {
            var book = try JournalBook.next(file, salt: salt)
            #expect(book.window.regions.count == 1 && book.claimRoom(of: "weather") > 64 << 10, "start \(salt)")
            // The room that an idle daemon took is the next one's.
            let position = try book.append(.end)
            #expect(!isIdle || last == nil || position == last, "start \(salt)")
            last = position
            if !isIdle { try book.append(.claimed(JournalSample.id(1))) }
            file.write(&book)
        }
        let replay = file.replay()
        #expect(replay.jobs[JournalSample.id(1)]?.isClaimed == true && replay.damage.isEmpty)
    }

    @Test func `what a crash left behind a torn record is never read`() throws {
        var (file, book) = (JournalFile(), try JournalBook.fresh())
        try book.append(.header(JournalSample.header(1, recipients: 1000)))
        let lost = try book.append(.intent(JournalSample.id(1), [0..<9]))
        // So far behind it that a BEGUN and some CLAIMED end there to the byte.
        var length = 1
        while (try book.append(.end).offset - lost.offset) % 32 != 16 {
            length += 1
            try book.append(.ended(JournalSample.subject(String(repeating: "x", count: length))))
        }
        let kept = try book.append(.result(JournalSample.id(1), Self.accepted))
        file.write(&book)
        file.bytes[Int(try #require(book.fileOffset(of: lost)))] ^= 1
        var next = try JournalBook.next(file, salt: 1)
        var position = lost
        while position.offset + 32 < kept.offset { position = try next.append(.claimed(JournalSample.id(1))) }
        #expect(position.offset + 32 == kept.offset)
        file.write(&next)
        let job = try #require(file.replay().jobs[JournalSample.id(1)])
        #expect(job.isClaimed && job.remaining.count == 1000 && job.intents.isEmpty)
    }

    @Test func `a start torn at any byte is none, or whole`() throws {
        var file = try beginning()
        file.bytes[4096 + 300] ^= 1
        var book = try JournalBook.next(file, salt: 5)
        try book.append(.result(JournalSample.id(1), Self.accepted))
        let writes = book.takeWrites()
        let total = writes.reduce(0) { $0 + $1.bytes.count }
        for count in 0...total {
            var torn = file
            torn.write(writes, first: count)
            // The next one begins in its place, and goes on.
            var next = try JournalBook.next(torn, salt: 6)
            try next.append(.result(JournalSample.id(1), Self.accepted))
            torn.write(&next)
            let replay = torn.replay()
            #expect(replay.jobs[JournalSample.id(1)]?.remaining.count == 49 && replay.damage.isEmpty, "\(count) bytes")
        }
    }

    @Test func `a start finds room however full its region is`() throws {
        var (file, book, count) = (JournalFile(), try JournalBook.fresh(), 0)
        try book.append(.header(JournalSample.header(1, recipients: 5000)))
        while book.window.regions.count < 3 {
            let name = JournalSample.subject(String(repeating: "x", count: 1 + count % 61))
            try book.append(count % 7 == 0 ? .claimed(JournalSample.id(1)) : .ended(name))
            count += 1
            file.write(&book)
            guard book.room < 400 else { continue }
            var copy = file
            var next = try JournalBook.next(copy, salt: 1)
            #expect(next.window.regions.count == book.window.regions.count, "\(book.room) bytes left")
            try next.append(.result(JournalSample.id(1), Self.accepted))
            copy.write(&next)
            let replay = copy.replay()
            #expect(replay.jobs[JournalSample.id(1)]?.remaining.count == 4999, "\(book.room) bytes left")
            #expect(replay.damage.isEmpty && !replay.endedCleanly)
        }
    }

    @Test func `starts take one region when the next one was lost`() throws {
        var (file, book) = (try beginning(), try JournalBook.fresh())
        book = try JournalBook.next(file, salt: 1)
        while book.window.regions.count == 1 {
            file.write(&book)
            try book.append(.ended(JournalSample.subject("x.json")))
        }
        // The end is safe, and nothing of the region after it.
        let writes = book.takeWrites()
        file.write(writes, first: try #require(writes.first).bytes.count)
        #expect(writes.last?.needsSyncBefore == true)
        for salt in UInt32(2)..<30 {
            var next = try JournalBook.next(file, salt: salt)
            try next.append(.claimed(JournalSample.id(1)))
            #expect(next.window.regions.count == 2, "start \(salt)")
            file.write(next.takeWrites(), first: Int(salt) * 4)
            #expect(file.replay().jobs.count == 1 && file.replay().damage.isEmpty, "start \(salt)")
        }
    }

    @Test func `a damaged head of the newest region is mended`() throws {
        var file = try beginning()
        var book = try JournalBook.next(file, salt: 1)
        while book.window.regions.count == 1 { try book.append(.ended(JournalSample.subject("x.json"))) }
        try book.append(.result(JournalSample.id(1), Self.accepted))
        file.write(&book)
        file.bytes[Int(file.layout.offset(ofRegion: 1)) + 3] ^= 1
        #expect(file.replay().damage.count == 1)
        var next = try JournalBook.next(file, salt: 2)
        try next.append(.claimed(JournalSample.id(1)))
        file.write(&next)
        let replay = file.replay()
        #expect(replay.damage.isEmpty && replay.jobs[JournalSample.id(1)]?.remaining.count == 49)
    }

    @Test func `a full journal starts, and makes room`() throws {
        var (file, book, count) = (JournalFile(), try JournalBook.fresh(), 0)
        let bytes = JournalHeader.Content.bytes([UInt8](repeating: 1, count: 1500))
        #expect(throws: JournalFull.self) {
            while true {
                try book.append(.header(JournalSample.header(count + 1, content: bytes)))
                count += 1
            }
        }
        for salt in UInt32(0)..<500 {
            file.write(&book)
            book = try JournalBook.next(file, salt: salt)
        }
        #expect(book.liveJobs.count == count && book.claimRoom(of: "weather") <= 0)
        // All but the oldest job end; that one is in the way until it is carried forward.
        for number in 2...count { try book.append(.cleaned(JournalSample.id(number))) }
        file.write(&book)
        book = try JournalBook.next(file, salt: 1000)
        let job = try #require(book.job(JournalSample.id(1)))
        #expect(book.jobsToCarry == [JournalSample.id(1)])
        try book.carry(JournalSample.id(1), header: try #require(file.header(job, book)))
        #expect(book.claimRoom(of: "weather") > 1500 && book.window.regions.count < 4)
    }

    @Test func `a torn region before one that a daemon began is told`() throws {
        var file = try beginning()
        var book = try JournalBook.next(file, salt: 1)
        while book.window.regions.count == 1 { try book.append(.ended(JournalSample.subject("x.json"))) }
        file.write([try #require(book.takeWrites().first)], first: .max)
        var next = try JournalBook.next(file, salt: 2)
        file.write(&next)
        file.bytes[Int(file.layout.offset(ofRegion: 0)) + 5000] ^= 1
        #expect(file.replay().damage.map(\.region) == [0])
        #expect(file.replay().jobs[JournalSample.id(1)]?.isDamaged == true)
    }

    @Test func `whoever began last is in the text`() throws {
        var file = try beginning()
        var book = try JournalBook.next(file, salt: 9)
        try book.append(.stopped)
        file.write(&book)
        let lines = JournalText.lines(ofRegion: file.region(0), index: 0).dropFirst().map {
            $0.split(separator: " ")[1]
        }
        #expect(lines == ["BEGUN", "HEADER", "CLAIMED", "BEGUN", "STOPPED", "no"])
    }
}
