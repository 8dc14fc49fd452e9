import PushModel
import TestSupport
import Testing

@testable import JournalModel
@testable import SpoolModel

/// Jobs of which something was sent before they are claimed.
struct JournalAdoptTests {
    private static let id = JournalSample.id(7)

    private static let count = 50_000
    private static let header = JournalSample.header(7, recipients: count)

    private static func progress(runs: Int = 3) -> JournalProgress {
        var progress = JournalProgress(remaining: IndexRuns((0..<runs).map { $0 * 4..<$0 * 4 + 2 }))
        progress.runs[.rejected] = IndexRuns(2..<3)
        progress.tally.add(JournalSample.gone, count: 1)
        progress.tally.add(.accepted, count: count - 2 * runs - 1)
        return progress
    }

    private func expectAdopted(_ job: JournalJob?, _ progress: JournalProgress) {
        #expect(job?.progress == progress && job?.facts == Self.header.facts)
        #expect(job?.isClaimed == false && job?.hasUntold == false)
    }

    @Test func `a job goes on where it was, and the rest of it as any other`() throws {
        var (file, book, progress) = (JournalFile(), try JournalBook.fresh(), Self.progress())
        try book.adopt(Self.header, progress)
        expectAdopted(book.job(Self.id), progress)
        file.write(&book)
        expectAdopted(file.replay().jobs[Self.id], progress)
        try book.append(.claimed(Self.id))
        try book.append(.result(Self.id, JournalResult(.accepted, [0..<2], at: JournalSample.noon)))
        file.write(&book)
        progress.remaining.subtract(0..<2)
        progress.tally.add(.accepted, count: 2)
        let job = try #require(file.replay().jobs[Self.id])
        #expect(job.progress == progress && job.isClaimed && file.replay().damage.isEmpty)
        #expect(file.header(job, book)?.content == Self.header.content)
    }

    @Test func `torn at any byte it is none, or whole`() throws {
        var (file, book) = (JournalFile(), try JournalBook.fresh())
        try book.append(.header(JournalSample.header(1)))
        file.write(&book)
        // More than one record.
        let progress = Self.progress(runs: 10_000)
        try book.adopt(Self.header, progress)
        let writes = book.takeWrites()
        let total = writes.reduce(0) { $0 + $1.bytes.count }
        #expect(total > 3 * file.layout.recordByteLimit)
        for count in stride(from: 0, to: total, by: 97) {
            var torn = file
            torn.write(writes, first: count)
            let replay = torn.replay()
            #expect(replay.jobs[Self.id] == nil && !replay.orphans.contains(Self.id), "\(count) bytes")
        }
        file.write(writes, first: total)
        expectAdopted(file.replay().jobs[Self.id], progress)
    }

    @Test func `it is carried forward as any other, and cleaned`() throws {
        var (file, book, progress) = (JournalFile(), try JournalBook.fresh(), Self.progress(runs: 40))
        try book.adopt(Self.header, progress)
        file.write(&book)
        let job = try #require(book.job(Self.id))
        let header = try #require(file.header(job, book))
        progress.remaining.subtract(0..<1)
        progress.tally.add(.accepted, count: 1)
        try book.append(.result(Self.id, JournalResult(.accepted, [0..<1], at: JournalSample.noon)))
        try book.carry(Self.id, header: header)
        file.write(&book)
        expectAdopted(file.replay().jobs[Self.id], progress)
        try book.append(.cleaned(Self.id))
        file.write(&book)
        #expect(file.replay().jobs.isEmpty && book.liveJobs.isEmpty)
        #expect(book.window.regions.reduce(0) { $0 + $1.liveCount } == 0)
    }

    @Test func `without room nothing of it is written`() throws {
        var book = try JournalBook.fresh()
        let before = try book.append(.end)
        var fault: JournalFull?
        do throws(JournalFull) {
            try book.adopt(Self.header, Self.progress(runs: 12_400))
        } catch {
            fault = error
        }
        let after = try book.append(.end)
        #expect(fault == .noRegion && after == before && book.job(Self.id) == nil)
    }
}
