import JournalModel
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct JournalOpeningTests {
    let test: TestJournal

    init() throws {
        test = try TestJournal()
    }

    @Test func `a new journal is ours alone, has its size and knows nothing`() throws {
        let (journal, replay) = try test.open()
        let status = try test.place.directory.status(of: Array("journal".utf8))
        #expect(status?.mode == 0o600 && status?.byteCount == Int64(TestJournal.layout.byteCount))
        #expect(replay.jobs.isEmpty && replay.damage.isEmpty && replay.endedCleanly)
        #expect(journal.claimRoom(of: "weather") > 0 && journal.liveJobs.isEmpty)
    }

    @Test func `a second daemon of the same node refuses`() throws {
        let first = try test.open()
        let fault = #expect(throws: SpoolFault.self) { _ = try test.open() }
        #expect(fault?.hint.contains("cluster: true") == true && fault?.cause?.isLocked == true)
        #expect(first.journal.fault == nil)
    }

    @Test func `what was written is there after a reopening, though nothing was synced`() throws {
        do {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1))))
            try journal.append(.claimed(job(1)))
            try journal.append(accepted(job(1), 10..<30))
            try journal.append(.header(header(job(2))))
            try journal.append(.cleaned(job(2)))
            try journal.write()
        }
        let (journal, replay) = try test.open()
        #expect(Array(replay.jobs.keys) == [job(1)])
        #expect(replay.jobs[job(1)]?.remaining.runs == [0..<10, 30..<100])
        #expect(replay.jobs[job(1)]?.isClaimed == true)
        #expect(replay.damage.isEmpty && !replay.endedCleanly)
        #expect(journal.job(job(1))?.remaining.runs == [0..<10, 30..<100])
        #expect(try journal.content(of: job(1)) == header(job(1)))
    }

    @Test func `what was only appended is not there`() throws {
        do { try test.open().journal.append(.header(header(job(1)))) }
        #expect(try test.open().replay.jobs.isEmpty)
    }

    @Test func `many reopenings lose nothing`() throws {
        do {
            let (journal, _) = try test.open()
            try journal.append(.header(header(job(1), recipients: 50)))
            try journal.write()
        }
        for number in 0..<20 {
            let (journal, replay) = try test.open()
            #expect(replay.jobs[job(1)]?.remaining.count == 50 - number, "reopening \(number)")
            #expect(try journal.carryForward().isEmpty)
            try journal.append(accepted(job(1), number..<(number + 1)))
            try journal.append(
                .published(JournalPublication(app: "weather", feedback: fileName("f"), through: .last)))
            try journal.append(.stopped)
            try journal.flush()
        }
        #expect(try test.open().replay.endedCleanly)
    }

    @Test func `many starts with the same job in the smallest journal leave it as it was`() throws {
        let layout = JournalLayout(byteCount: 8 << 20)
        var bytes: [UInt8]?
        for number in 0..<trials(42, full: 500) {
            let (journal, replay) = try JournalLock.openJournal(of: "host-a", in: test.place.directory, layout: layout)
            if number == 0 {
                try journal.append(.header(header(job(1))))
                try journal.append(.claimed(job(1)))
                try journal.write()
                continue
            }
            #expect(replay.jobs[job(1)]?.isClaimed == true && journal.claimRoom(of: "weather") > 0, "start \(number)")
            guard number % 20 == 1 else { continue }
            // But for the salt of the daemon that began last.
            let now = try test.place.directory.contents(of: Array("journal".utf8), limit: layout.byteCount)
            let changed = bytes.map { old in zip(old, now ?? []).count { $0 != $1 } }
            #expect(changed.map { $0 <= 8 } ?? true, "start \(number)")
            bytes = now
        }
    }

    @Test func `a journal keeps its size`() throws {
        do { _ = try test.open() }
        let other = JournalLayout(byteCount: 8 << 20)
        let (journal, _) = try JournalLock.openJournal(of: "host-a", in: test.place.directory, layout: other)
        #expect(journal.layout == TestJournal.layout)
    }

    @Test func `another node's journal is refused`() throws {
        do { _ = try test.open() }
        let fault = #expect(throws: SpoolFault.self) {
            _ = try JournalLock.openJournal(of: "host-b", in: test.place.directory, layout: TestJournal.layout)
        }
        #expect(fault?.message.contains("host-a") == true)
    }

    @Test func `a journal with a damaged first page is refused, and left as it is`() throws {
        do { _ = try test.open() }
        let file = try test.place.directory.openForWriting(Array("journal".utf8), mode: 0o600)
        try file.write([0x58], at: 3)
        try file.closeNow()
        let fault = #expect(throws: SpoolFault.self) { _ = try test.open() }
        #expect(fault?.message.contains("first page") == true)
        #expect(
            try test.place.directory.status(of: Array("journal".utf8))?.byteCount == Int64(TestJournal.layout.byteCount)
        )
    }

    @Test(.enabled(if: SmallVolume.isPossible, "needs root, to mount a small volume"))
    func `a volume without room for the journal is named, and nothing is left on it`() throws {
        let volume = try SmallVolume(byteCount: 4 << 20)
        let fault = #expect(throws: SpoolFault.self) {
            _ = try JournalLock.openJournal(
                of: "host-a", in: volume.directory, layout: JournalLayout(byteCount: 8 << 20))
        }
        #expect(fault?.hint.contains("journal.size") == true)
        #expect(try volume.directory.names().isEmpty)
    }

    #if FAILPOINTS
        @Test func `a making that was cut off at any point is done again`() throws {
            for number in 1...100 {
                let test = try TestJournal()
                let plan = FailPlan(under: test.place.path, points: FailPoint.list("\(number):eio") ?? [])
                plan.install()
                test.tryToOpen()
                plan.remove()
                let (journal, replay) = try test.open()
                #expect(replay.jobs.isEmpty && journal.claimRoom(of: "weather") > 0, "cut at \(number)")
                if plan.passedCount < number { return }
            }
            Issue.record("the making never ends")
        }
    #endif
}

extension TestJournal {
    /// Opens it and lets it go again, if that succeeds.
    fileprivate func tryToOpen() {
        _ = try? open()
    }
}

extension JournalPosition {
    /// After every record.
    static var last: JournalPosition { JournalPosition(epoch: .max, offset: 0) }
}
