import JournalModel
import PushModel
import SpoolModel
import TestSupport
import Testing

struct JournalPoisonTests {
    private let bad = JournalSample.subject("bad.json")
    private let good = JournalSample.subject("good.json")

    /// A daemon's life: it reads the file again, writes these, and ends, well or badly.
    private func live(_ file: inout JournalFile, _ records: [JournalRecord]) throws -> JournalReplay {
        var book = try JournalBook(layout: file.layout, after: file.replay(), salt: 3)
        for record in records { try book.append(record) }
        file.write(&book)
        return file.replay()
    }

    @Test(.catalogue("A7 poison-job, the verdict of the journal", checks: []))
    func `the third reading is not tried after two deaths alone`() throws {
        var file = JournalFile()
        #expect(try live(&file, [.start(bad)]).suspects[bad]?.judgement == .readAlone)
        #expect(try live(&file, [.start(bad)]).suspects[bad]?.judgement == .hold)
        #expect(try live(&file, [.stopped]).suspects[bad] == JournalSuspicion(deathCount: 2, wasAlone: true))
    }

    @Test func `an outage and three restarts park nothing`() throws {
        var file = JournalFile()
        let header = JournalSample.header(1)
        var replay = try live(&file, [.header(header), .claimed(header.facts.id)])
        for _ in 0..<3 { replay = try live(&file, []) }
        #expect(replay.suspects.isEmpty && replay.jobs.count == 1 && !replay.endedCleanly)
    }

    @Test func `who was read beside the culprit is not held before it was read alone`() throws {
        var file = JournalFile()
        _ = try live(&file, [.start(bad), .start(good)])
        let replay = try live(&file, [.start(bad), .start(good)])
        #expect(replay.suspects[good] == JournalSuspicion(deathCount: 2, wasAlone: false))
        #expect(replay.suspects[good]?.judgement == .readAlone)
        #expect(
            try live(&file, [.start(good), .ended(good), .start(bad)]).suspects.keys.sorted { $0.name < $1.name } == [
                bad
            ])
        #expect(file.replay().suspects[bad]?.judgement == .hold)
    }

    @Test func `a clean end counts against nobody`() throws {
        var file = JournalFile()
        let replay = try live(&file, [.start(bad), .stopped])
        #expect(replay.suspects.isEmpty && replay.endedCleanly)
        #expect(try live(&file, [.start(bad)]).endedCleanly == false)
    }

    @Test func `a claim acquits`() throws {
        var file = JournalFile()
        var header = JournalSample.header(1)
        (header.facts.name, header.facts.device, header.facts.inode) = (bad.name, bad.device, bad.inode)
        _ = try live(&file, [.start(bad)])
        #expect(try live(&file, [.start(bad), .header(header)]).suspects.isEmpty)
    }

    @Test func `suspicion survives the ring`() throws {
        var file = JournalFile()
        _ = try live(&file, [.start(bad)])
        let noise = (0..<4000).map { _ in JournalRecord.ended(good) }
        #expect(try live(&file, noise).suspects[bad] == JournalSuspicion(deathCount: 1, wasAlone: true))
        _ = try live(&file, [.start(bad)] + noise)
        #expect(file.replay().suspects[bad]?.judgement == .hold)
    }
}
