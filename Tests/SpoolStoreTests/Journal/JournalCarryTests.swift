import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct JournalCarryTests {
    let test: TestJournal

    init() throws {
        test = try TestJournal()
    }

    /// Lets a job come and go.
    private func pass(_ id: JobID, through journal: Journal) throws {
        try journal.append(.header(header(id, bytes: 1000)))
        try journal.append(.claimed(id))
        try journal.append(.cleaned(id))
        try journal.write()
        #expect(try journal.carryForward().isEmpty)
    }

    /// Lets jobs come and go until one stands in the way.
    private func firstDamaged(of journal: Journal) throws -> [JobID] {
        for number in 2..<1000 {
            try journal.append(.header(header(job(number), bytes: 1000)))
            try journal.append(.cleaned(job(number)))
            let damaged = try journal.carryForward()
            if !damaged.isEmpty { return damaged }
        }
        return []
    }

    @Test func `a job that lives long is still there after ten turns of the journal`() throws {
        do {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1), bytes: 1000)))
            try journal.append(.claimed(job(1)))
            for number in 2..<(2 + 10 * TestJournal.layout.byteCount / 1000) { try pass(job(number), through: journal) }
            #expect(try journal.content(of: job(1)) == header(job(1), bytes: 1000))
            try journal.flush()
        }
        let (journal, replay) = try test.open()
        #expect(Array(replay.jobs.keys) == [job(1)] && replay.damage.isEmpty)
        #expect(replay.jobs[job(1)]?.isClaimed == true && replay.jobs[job(1)]?.remaining.count == 100)
        #expect(try journal.content(of: job(1)) == header(job(1), bytes: 1000))
    }

    @Test func `a job whose lines are not out stands in nobody's way, and keeps them`() throws {
        let expired = JournalResult(.expired, [0..<7], at: WallTime(epochSeconds: 1_795_262_400))
        do {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1))))
            try journal.append(.result(job(1), expired))
            for number in 2..<(2 + 3 * TestJournal.layout.byteCount / 1000) { try pass(job(number), through: journal) }
            try journal.flush()
        }
        let known = try test.open().replay.jobs[job(1)]
        #expect(known?.untold == [expired] && known?.remaining.runs == [7..<100])
    }

    @Test func `a job that nobody knows has no content`() throws {
        #expect(try test.open().journal.content(of: job(1)) == nil)
    }

    @Test func `a header that has been damaged since is not believed`() throws {
        let (journal, _) = try test.open()
        try journal.append(.header(header(job(1), bytes: 1000)))
        try journal.flush()
        let file = try test.place.directory.openForWriting(Array("journal".utf8), mode: 0o600)
        try file.write([0x58], at: Int64(JournalLayout.labelByteCount) + 500)
        #expect(try journal.content(of: job(1)) == nil)
        #expect(try firstDamaged(of: journal) == [job(1)])
        try journal.append(.cleaned(job(1)))
        #expect(try journal.carryForward().isEmpty)
    }
}
