import JobFormat
import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct RefBookTests {
    private let state: TemporaryDirectory
    private let noon = WallTime(epochSeconds: 1_795_262_400)
    private let week = Duration.seconds(7 * 86_400)
    private let first = JobID(bits: 1)
    private let second = JobID(bits: 2)

    init() throws {
        state = try TemporaryDirectory()
    }

    private func book(_ app: String = "weather", at time: WallTime? = nil) throws -> RefBook {
        let book = try RefBook(of: app, in: state.directory, keeping: week, at: time ?? noon)
        while try book.readOn() {}
        return book
    }

    private var folder: Directory {
        get throws { try state.directory.openChild(Array("dedupe".utf8)) }
    }

    private func record(_ ref: String, _ id: UInt128, at time: WallTime) -> RefRecord {
        RefRecord(ref, id: JobID(bits: id), endedAt: time)
    }

    @Test func `a job is known by its ref, to others than itself, over a restart`() throws {
        let book = try book()
        try book.keep([record("a", 1, at: noon), record("b", 2, at: noon + .seconds(1))], at: noon + .seconds(2))
        for book in [book, try self.book(at: noon + .seconds(3))] {
            let found = try book.job(sentWith: .ref("a"), before: second, at: noon + .seconds(3))
            #expect(found == SentTwin(id: first, endedAt: noon))
            #expect(try book.job(sentWith: .ref("a"), before: first, at: noon) == nil)
            #expect(try book.job(sentWith: .ref("b"), before: first, at: noon)?.id == second)
            #expect(try book.job(sentWith: .ref("c"), before: first, at: noon) == nil)
        }
    }

    private func file(_ inode: UInt64, bornAt time: Int64? = 9, sum: UInt8 = 7) -> FileSign {
        FileSign(sum: [UInt8](repeating: sum, count: 32), inode: inode, bornAt: time)
    }

    @Test func `a job is known by its file, to copies of it and not to the file itself, over a restart`() throws {
        let book = try book()
        try book.keep([record("a", 1, at: noon), RefRecord(file(5), id: first, endedAt: noon)], at: noon)
        for book in [book, try self.book()] {
            for copy in [file(6), file(5, bornAt: 10), file(5, bornAt: nil)] {
                let found = try book.job(like: copy, before: second, at: noon)
                #expect(found == SentTwin(id: first, endedAt: noon, isOfSameFile: true), "\(copy)")
                #expect(try book.job(like: copy, before: first, at: noon) == nil)
            }
            #expect(try book.job(like: file(5), before: second, at: noon) == nil)
            #expect(try book.job(like: file(6, sum: 8), before: second, at: noon) == nil)
            #expect(try book.job(sentWith: .ref("a"), before: second, at: noon)?.isOfSameFile == false)
        }
    }

    @Test func `each file that was sent may come back, whichever of its copies was sent since`() throws {
        let book = try book()
        for (number, inode) in [UInt64(5), 6, 7].enumerated() {
            let sent = RefRecord(file(inode, bornAt: nil), id: JobID(bits: UInt128(number)), endedAt: noon)
            try book.keep([sent], at: noon + .seconds(number / 2 * 86_400))
        }
        for book in [book, try self.book()] {
            for inode in [UInt64(5), 6, 7] {
                #expect(try book.job(like: file(inode, bornAt: nil), before: JobID(bits: 99), at: noon) == nil)
            }
            #expect(try book.job(like: file(8, bornAt: nil), before: JobID(bits: 99), at: noon)?.id == second)
        }
    }

    @Test func `nothing is made for an app whose jobs have no ref`() throws {
        let book = try book()
        try book.keep([], at: noon)
        #expect(try book.job(sentWith: .ref("a"), before: first, at: noon) == nil)
        #expect(try state.directory.names().isEmpty)
    }

    @Test func `apps do not know each other's refs, whatever their names are`() throws {
        try book("a").keep([record("r", 1, at: noon)], at: noon)
        try book("a-2026-11-21").keep([record("s", 1, at: noon)], at: noon)
        let names = try folder.sortedNames()
        #expect(names == ["a-2026-11-21", "a-2026-11-21-2026-11-21"])
        let (one, other) = (try book("a"), try book("a-2026-11-21"))
        #expect(try one.job(sentWith: .ref("r"), before: second, at: noon) != nil)
        #expect(try one.job(sentWith: .ref("s"), before: second, at: noon) == nil)
        #expect(try other.job(sentWith: .ref("r"), before: second, at: noon) == nil)
    }

    @Test func `a ref counts for its time, and its file goes by days`() throws {
        let book = try book()
        try book.keep([record("r", 1, at: noon)], at: noon)
        let end = noon + week
        #expect(try book.job(sentWith: .ref("r"), before: second, at: end + .milliseconds(-1)) != nil)
        #expect(try book.job(sentWith: .ref("r"), before: second, at: end) == nil)
        try book.keep([record("s", 3, at: end)], at: end)
        #expect(try folder.sortedNames() == ["weather-2026-11-21", "weather-2026-11-28"])
        let midnight = end + .seconds(43_200)
        try book.keep([record("t", 4, at: midnight)], at: midnight)
        #expect(try folder.sortedNames() == ["weather-2026-11-28", "weather-2026-11-29"])
        #expect(try book.job(sentWith: .ref("s"), before: second, at: midnight)?.id == JobID(bits: 3))
    }

    @Test func `a start removes what does not matter any more, also of apps that are gone`() throws {
        try book("gone").keep([record("r", 1, at: noon)], at: noon)
        _ = try book(at: noon + week + .seconds(43_199))
        #expect(try folder.sortedNames().count == 1)
        _ = try book(at: noon + week + .seconds(43_200))
        #expect(try folder.sortedNames().isEmpty)
    }

    @Test func `a job is kept once, however often that is asked for`() throws {
        let book = try book()
        for _ in 0..<3 { try book.keep([record("r", 1, at: noon)], at: noon) }
        try self.book().keep([record("r", 1, at: noon)], at: noon)
        let text = try folder.text("weather-2026-11-21")
        #expect(text?.split(separator: "\n").count == 1)
    }

    @Test func `a job that goes on after it was kept counts from its later end`() throws {
        let book = try book()
        try book.keep([record("r", 1, at: noon)], at: noon)
        let later = noon + week + .seconds(-1)
        try book.keep([record("r", 1, at: later)], at: later)
        for book in [book, try self.book(at: later)] {
            #expect(try book.job(sentWith: .ref("r"), before: second, at: noon + week)?.endedAt == later)
            #expect(try book.job(sentWith: .ref("r"), before: first, at: noon + week) == nil)
        }
    }

    @Test(arguments: ["torn", "DEADBEEF 2026-11-21T12:00:00.000Z 0000000000000000000000001 torn", "\0\0\0\0", "\n"])
    func `what a crash has torn is passed over, and what is kept after it is found`(tail: String) throws {
        try book().keep([record("r", 1, at: noon)], at: noon)
        let name = Array("weather-2026-11-21".utf8)
        let file = try folder.openForWriting(name, mode: 0o600)
        try file.write(Array(tail.utf8), at: try file.status().byteCount)
        try book().keep([record("s", 3, at: noon)], at: noon)
        for book in [try book(), try book()] {
            #expect(try book.job(sentWith: .ref("r"), before: second, at: noon)?.id == first)
            #expect(try book.job(sentWith: .ref("s"), before: second, at: noon)?.id == JobID(bits: 3))
            #expect(try book.job(sentWith: .ref("torn"), before: second, at: noon) == nil)
        }
    }

    @Test func `many are found again`() throws {
        let book = try book()
        for start in stride(from: 0, to: 20_000, by: 500) {
            let records = (start..<start + 500).map { record("ref \($0) \u{1}%", UInt128($0), at: noon) }
            try book.keep(records, at: noon)
        }
        let again = try self.book()
        for number in stride(from: 0, to: 20_000, by: 97) {
            let found = try again.job(sentWith: .ref("ref \(number) \u{1}%"), before: JobID(bits: .max), at: noon)
            #expect(found?.id == JobID(bits: UInt128(number)))
        }
        #expect(try again.job(sentWith: .ref("ref 20000 \u{1}%"), before: first, at: noon) == nil)
        // Not all at once: others may have work on the thread.
        let read = try RefBook(of: "weather", in: state.directory, keeping: week, at: noon)
        var stepCount = 0
        while try read.readOn() { stepCount += 1 }
        #expect(stepCount >= 5)
    }

    @Test(arguments: [true, false])
    func `what somebody removes is forgotten, and what comes then is kept`(isFolder: Bool) throws {
        let book = try book()
        try book.keep([record("r", 1, at: noon)], at: noon)
        try folder.unlink(Array("weather-2026-11-21".utf8))
        if isFolder { try state.directory.removeChild(Array("dedupe".utf8)) }
        #expect(try book.job(sentWith: .ref("r"), before: second, at: noon) == nil)
        try book.keep([record("s", 3, at: noon), record("t", 4, at: noon)], at: noon)
        for book in [book, try self.book()] {
            #expect(try book.job(sentWith: .ref("r"), before: second, at: noon) == nil)
            #expect(try book.job(sentWith: .ref("s"), before: second, at: noon)?.id == JobID(bits: 3))
            #expect(try book.job(sentWith: .ref("t"), before: second, at: noon)?.id == JobID(bits: 4))
        }
    }
}
