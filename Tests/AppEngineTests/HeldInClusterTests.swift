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

/// `hold/` where two nodes of a cluster use it.
struct HeldInClusterTests {
    private let nodes: TwoNodes
    private let name: FileName
    private var one: AppSpool { nodes.one }
    private var two: AppSpool { nodes.two }

    init() throws {
        nodes = try TwoNodes()
        name = try #require(FileName("a.json"))
    }

    private func seen(_ app: AppSpool) throws -> SeenFile { try #require(try app.look(name)) }

    private func contents(of folder: String) throws -> [String] {
        try Directory.open(path: "\(nodes.folder.path)/weather/\(folder)").names().map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test func `a remainder under a name that was used before is read again`() throws {
        let held = HeldJobs(two, Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        held.load()
        for (number, contents) in [(UInt128(1), "one"), (2, "another"), (3, "a third")] {
            try one.holdDirectory.put("a.json", contents)
            let status = try #require(try one.holdDirectory.status(of: name.bytes))
            var remainder = Remainder(of: status.fileOfRemainder, droppedAt: .now)
            let progress = JournalProgress(remaining: IndexRuns(0..<1))
            remainder.sent = Remainder.Sent(id: JobID(bits: number), ref: nil, count: 1, progress: progress)
            try one.holdDirectory.put("a.json.rest", String(decoding: remainder.bytes, as: UTF8.self))
            for id in 1...UInt128(3) { #expect(try held.isParked(JobID(bits: id)) == (id == number)) }
            for name in ["a.json", "a.json.rest"] { try one.holdDirectory.unlink(Array(name.utf8)) }
        }
    }

    @Test(arguments: [nil, "{}"]) func `of a waiting file, one node has the claim or another one the hold`(
        rest: String?
    ) throws {
        let bytes = rest.map { Array($0.utf8) }
        try one.new.put("a.json", "[]")
        let held = try seen(one)
        guard case .opened(let open) = try two.open(name) else {
            Issue.record("not opened")
            return
        }
        #expect(try one.hold.park(waiting: held, id: JobID(bits: 1), leaving: bytes)?.name == name)
        #expect(try two.claim(open, id: JobID(bits: 2)) == .gone)
        #expect(try contents(of: "hold").contains("a.json") && contents(of: "work/one").isEmpty)

        let released = try #require(try one.hold.look(name))
        #expect(try one.hold.release(released) == name)
        let waiting = try seen(one)
        guard case .opened(let again) = try two.open(name), case .claimed = try two.claim(again, id: JobID(bits: 2))
        else {
            Issue.record("not claimed")
            return
        }
        #expect(try one.hold.park(waiting: waiting, id: JobID(bits: 1), leaving: bytes) == nil)
        #expect(try !contents(of: "hold").contains("a.json") && contents(of: "new").isEmpty)
    }

    @Test func `once the lease has run out, no file moves to hold or back`() throws {
        try one.new.put("a.json", "[]")
        try one.holdDirectory.put("b.json", "[]")
        let other = try #require(FileName("b.json"))
        let (waiting, parked) = (try seen(one), try #require(try one.hold.look(other)))
        try nodes.spools[0].leave(.stopped)
        #expect(throws: SystemError.self) {
            try one.hold.park(waiting: waiting, id: JobID(bits: 1), leaving: Array("{}".utf8))
        }
        #expect(throws: SystemError.self) { try one.hold.release(parked) }
        #expect(try contents(of: "new") == ["a.json"] && contents(of: "hold") == ["b.json"])
    }
}
