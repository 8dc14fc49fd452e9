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

@testable import JobOperations

/// The test's own job could not be claimed.
private struct NotClaimed: Error {}

/// Remainders in a spool that was copied or restored: the inodes in them may be those of other files.
struct HeldJobsTests {
    private let folder: TemporaryDirectory
    private let app: AppSpool
    private let held: HeldJobs

    init() throws {
        folder = try TemporaryDirectory()
        app = try Spool(path: folder.path, node: "host-a").app("weather")
        held = HeldJobs(app, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Puts a file into `hold/`.
    private func hold(_ name: String, _ contents: String) throws -> FileStatus {
        try app.holdDirectory.put(name, contents)
        return try #require(try app.holdDirectory.status(of: Array(name.utf8)))
    }

    /// Leaves a remainder of a job of one recipient.
    private func leave(_ name: String, _ id: UInt128, of file: Remainder.File) throws {
        var remainder = Remainder(of: file, droppedAt: .now)
        let progress = JournalProgress(remaining: IndexRuns(0..<1))
        remainder.sent = Remainder.Sent(id: JobID(bits: id), ref: nil, count: 1, progress: progress)
        try app.holdDirectory.put(name, String(decoding: remainder.bytes, as: UTF8.self))
    }

    /// Drops a job and claims it.
    private func claim(_ id: UInt128) throws -> ClaimedJob {
        try app.new.put("c.json", "goes on")
        return try claimed(id)
    }

    /// Claims what was dropped.
    private func claimed(_ id: UInt128) throws -> ClaimedJob {
        guard case .opened(let open) = try app.open(try #require(FileName("c.json"))),
            case .claimed(let job) = try app.claim(open, id: JobID(bits: id))
        else { throw NotClaimed() }
        return job
    }

    #if FAILPOINTS
        /// A sync of only the folder that a file has left may lose it.
        @Test func `a held job that was moved to new by hand is not lost after its claim`() throws {
            try app.holdDirectory.put("c.json", "goes on")
            var volume = try MemoryVolume(copying: folder.directory, order: .loose)
            try app.archives.settle()
            let plan = FailPlan(under: folder.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            let name = Array("c.json".utf8)
            let status = try #require(try app.holdDirectory.status(of: name))
            try leave("c.json.rest", 7, of: status.fileOfRemainder)
            held.load()
            try app.holdDirectory.rename(name, to: app.new, as: name)
            held.forget(try claimed(7).status)
            try volume.crash(during: plan.changes, count: 8) { step, state in
                let found = ["hold", "new", "work/host-a"].flatMap { state.names(in: "weather/\($0)") ?? [] }
                #expect(found.contains { $0.hasSuffix("c.json") }, "it is nowhere after step \(step)")
            }
        }
    #endif

    @Test func `another file with the inode of a held job is not that job`() throws {
        let other = try hold("b.json", "another job")
        try leave("a.json.rest", 7, of: .init(inode: other.inode, byteCount: 158, modifiedAt: other.modifiedAt))
        held.load()
        #expect(try !held.isParked(JobID(bits: 7)))
        #expect(try held.remainder(of: other) == nil)
    }

    @Test func `a file with the inode that a held job had leaves that job's remainder alone`() throws {
        // An editor has replaced the held file, and its inode has gone to another job.
        _ = try hold("a.json", "edited")
        try app.new.put("b.json", "another job")
        let (name, otherName) = (try #require(FileName("a.json")), try #require(FileName("b.json")))
        let other = try #require(try app.look(otherName))
        try leave(
            "a.json.rest", 7,
            of: .init(inode: other.status.inode, byteCount: 158, modifiedAt: other.status.modifiedAt))
        held.load()
        #expect(try held.hold(waiting: other) == otherName)
        #expect(try app.hold.remainders.names().map(\.escaped).sorted() == ["a.json.rest", "b.json.rest"])
        let edited = try #require(try app.hold.look(name))
        #expect(throws: ControlFault.self) { try held.sent(of: edited) }
        held.load()
        #expect(throws: ControlFault.self) { try held.sent(of: edited) }
    }

    @Test func `a held job is found under any name`() throws {
        let file = try hold("renamed.json", "a job")
        try leave(
            "a.json.rest", 7, of: .init(inode: file.inode, byteCount: file.byteCount, modifiedAt: file.modifiedAt))
        held.load()
        #expect(try held.isParked(JobID(bits: 7)))
        #expect(try held.remainder(of: file)?.sent?.id == JobID(bits: 7))
    }

    @Test(arguments: [["a.json", "b.json"], ["b.json", "a.json"]])
    func `a remainder without its file takes no other file's place`(names: [String]) throws {
        let file = try hold(names[0], "a job")
        try leave(names[0] + ".rest", 7, of: .init(inode: 1, byteCount: file.byteCount, modifiedAt: file.modifiedAt))
        try leave(names[1] + ".rest", 8, of: .init(inode: file.inode, byteCount: 158, modifiedAt: file.modifiedAt))
        held.load()
        #expect(try held.remainder(of: file)?.sent?.id == JobID(bits: 7))
        #expect(try held.isParked(JobID(bits: 7)) && !held.isParked(JobID(bits: 8)))
        // Its job goes on all the same, and needs it no longer then.
        let job = try claim(8)
        held.reconcile([job])
        #expect(try app.hold.remainders.names().map(\.escaped) == [names[0] + ".rest"])
    }

    @Test func `a job that goes on drops its own remainder, not that of another job with its inode`() throws {
        let job = try claim(9)
        let status = job.status
        try leave("a.json.rest", 7, of: .init(inode: status.inode, byteCount: 158, modifiedAt: status.modifiedAt))
        held.load()
        held.reconcile([job])
        #expect(try app.hold.remainders.names().map(\.escaped) == ["a.json.rest"])
    }
}
