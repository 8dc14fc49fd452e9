import Foundation
import Glibc
import JournalModel
import LinuxIO
import SpoolModel
import SpoolStore
import TestSupport
import Testing

/// Whether a journal is still ours.
@Suite struct JournalLossTests {
    let test: TestJournal
    private let name = Array("journal".utf8)

    init() throws {
        test = try TestJournal()
    }

    @Test func `what is ours stays ours`() throws {
        let (journal, _) = try test.open()
        for _ in 0..<3 { try journal.confirm() }
        #expect(throws: SpoolFault.self) { _ = try test.open() }
        try journal.append(.stopped)
        try journal.flush()
    }

    @Test func `a journal whose name another daemon has is lost for good`() throws {
        let (journal, _) = try test.open()
        try test.place.directory.rename(name, to: test.place.directory, replacing: Array("away".utf8))
        let next = try test.open().journal
        let fault = #expect(throws: JournalFault.self) { try journal.confirm() }
        #expect(fault?.isLoss == true && journal.fault != nil)
        #expect(throws: JournalFault.self) { try journal.append(.stopped) }
        #expect(throws: JournalFault.self) { try journal.flush() }
        try next.confirm()
    }

    /// What has the journal's name after the file was moved or removed.
    enum Successor: CaseIterable {
        case none, file, folder, link
    }

    @Test(arguments: Successor.allCases)
    func `a journal whose name no daemon has is misplaced, and still records`(_ successor: Successor) throws {
        let (journal, _) = try test.open()
        #expect(try !journal.isMisplaced())
        let (path, away) = (test.place.path + "/journal", test.place.path + "/away")
        try FileManager.default.moveItem(atPath: path, toPath: away)
        switch successor {
        case .none: break
        case .file: try FileManager.default.copyItem(atPath: away, toPath: path)
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .link: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: away)
        }
        #expect(try journal.isMisplaced())
        try journal.confirm()
        try journal.append(.header(header(job(1))))
        try journal.flush()
        #expect(journal.fault == nil)
    }

    @Test func `a failed write is no loss`() throws {
        let (journal, _) = try test.open()
        journal.condemn(.outOfSpace("pwrite", "journal"))
        let fault = #expect(throws: JournalFault.self) { try journal.confirm() }
        #expect(fault?.isLoss == false)
    }

    @Test(arguments: [true, false])
    func `a daemon that ends for a failure has not died over what it read, if it says so`(_ isSaid: Bool) throws {
        let subject = JournalSubject(app: "weather", name: try fileName("a.json"))
        for number in 1...3 {
            let (journal, _) = try test.open()
            try journal.append(.start(subject))
            try journal.write()
            try journal.append(.header(header(job(number))))
            journal.condemn(.outOfSpace("fsync", "feedback"))
            if isSaid { journal.takeLeave() }
        }
        let replay = try test.open().replay
        #expect(replay.damage.isEmpty && replay.endedCleanly == isSaid)
        #expect(replay.suspects[subject] == (isSaid ? nil : JournalSuspicion(deathCount: 3, wasAlone: true)))
        // What was added before is there, too.
        #expect((replay.jobs[job(1)] != nil) == isSaid)
    }

    #if FAILPOINTS
        @Test(arguments: 1...3) func `behind what did not get there nothing is written`(_ failing: Int) throws {
            try leaveBehindFailure(of: failing)
            let replay = try test.open().replay
            #expect(replay.damage.isEmpty && !replay.endedCleanly)
        }

        /// Has a write to two regions fail: the end of one, the sync before the other, or the head of that.
        private func leaveBehindFailure(of number: Int) throws {
            let (journal, _) = try test.open()
            for number in 1...12 { try journal.append(.header(header(job(number), bytes: 1900))) }
            let plan = FailPlan(under: test.place.path, points: FailPoint.list("\(number):eio") ?? [])
            plan.install()
            defer { plan.remove() }
            #expect(throws: JournalFault.self) { try journal.write() }
            #expect(plan.passedCount == number)
            let before = FileManager.default.contents(atPath: test.place.path + "/journal")
            journal.takeLeave()
            #expect(before != nil && FileManager.default.contents(atPath: test.place.path + "/journal") == before)
        }
    #endif

    @Test func `nothing is written to a journal that is another's by now`() throws {
        let (journal, _) = try test.open()
        try test.place.directory.rename(name, to: test.place.directory, replacing: Array("away".utf8))
        let next = try test.open().journal
        #expect(throws: JournalFault.self) { try journal.confirm() }
        try next.confirm()
        let before = FileManager.default.contents(atPath: test.place.path + "/away")
        journal.takeLeave()
        #expect(before != nil && FileManager.default.contents(atPath: test.place.path + "/away") == before)
    }

    @Test func `the lock ends with the journal, though a process that was just forked has the file too`() throws {
        let path = test.place.path + "/journal"
        let copy: Int32
        do {
            let (journal, _) = try test.open()
            // As a fork leaves it until the other process begins its program.
            let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
            let number = try #require(numbers.first { link(of: $0) == path }, "no descriptor of \(path)")
            copy = dup(number)
            try journal.confirm()
        }
        defer { close(copy) }
        #expect(copy >= 0)
        try test.open().journal.confirm()
    }

    /// What a descriptor of this process is open for.
    private func link(of number: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    }
}
