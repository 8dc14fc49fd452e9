import JobFormat
import JournalModel
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@testable import AppEngine
@testable import JobOperations

/// Files that a node of a cluster opens before their turns, while another one is at work.
struct FilesAheadTests {
    private let nodes: TwoNodes
    private var one: AppSpool { nodes.one }
    private var two: AppSpool { nodes.two }
    private let intake = Shared(Intake())
    private let held: HeldJobs
    private let names = ["a.json", "b.json", "c.json"].compactMap { FileName($0) }

    init() throws {
        nodes = try TwoNodes()
        held = HeldJobs(nodes.two, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        held.load()
        for name in names {
            try nodes.one.new.put(name.bytes, Array("{}".utf8))
            intake.value.hint(.movedIn, name, at: .zero)
        }
    }

    /// Looks at all files, and takes the first.
    private func takeFirst(_ files: FilesAhead) throws -> FileName {
        while let action = intake.value.next(at: .zero) {
            switch action {
            case .look(let name):
                intake.value.sighted(name, try #require(try files.look(name)).sighting, at: .zero)
            case .open(let name, _): return name
            default: Issue.record("\(action)")
            }
        }
        throw Nothing()
    }

    private struct Nothing: Error {}

    private func open(_ name: FileName, of files: FilesAhead) throws -> (job: OpenJob, isFresh: Bool)? {
        let (opening, isFresh) = try files.open(name, with: 64, in: .all, upTo: .max)
        guard case .opened(let job) = opening else { return nil }
        return (job, isFresh)
    }

    @Test func `a group is opened with its first file, and closed with the round`() throws {
        let files = FilesAhead(intake, held, in: two)
        #expect(try takeFirst(files) == names[0])
        #expect(try open(names[0], of: files)?.isFresh == true)
        try one.new.unlink(names[1].bytes)
        try one.new.unlink(names[2].bytes)
        #expect(try open(names[1], of: files)?.job.name == names[1])
        files.endRound()
        #expect(try open(names[2], of: files) == nil)
    }

    /// The other node has claimed the first file, and held and released the second since `hold/` was listed.
    @Test func `what was held meanwhile is known, even if the first of its group is gone`() throws {
        let files = FilesAhead(intake, held, in: two)
        #expect(try takeFirst(files) == names[0])
        let second = try #require(try two.look(names[1])).status
        #expect(try held.remainder(of: second) == nil)
        try one.new.unlink(names[0].bytes)
        var remainder = Remainder(of: second.fileOfRemainder, droppedAt: .now)
        remainder.sent = Remainder.Sent(
            id: JobID(bits: 7), ref: nil, count: 1, progress: JournalProgress(remaining: IndexRuns(0..<1)))
        try one.holdDirectory.put("b.json.rest", String(decoding: remainder.bytes, as: UTF8.self))
        #expect(try open(names[0], of: files) == nil)
        let (job, isFresh) = try #require(try open(names[1], of: files))
        #expect(isFresh)
        #expect(try held.remainder(of: job.status, isFresh: isFresh)?.sent?.id == JobID(bits: 7))
    }
}
