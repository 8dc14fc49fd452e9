import LinuxIO
import PushModel
import SpoolStore
import TestSupport
import Testing

/// When a gateway last accepted an app's identity, over restarts.
@Suite struct LastAcceptanceTests {
    private let state: TemporaryDirectory
    private let start = WallTime(epochSeconds: 1_795_310_400)

    init() throws {
        state = try TemporaryDirectory()
    }

    private func record(_ identity: String = "0a1b", at seconds: Int = 0) throws -> LastAcceptance {
        var record = LastAcceptance(of: "weather", identity, in: state.directory)
        try record.load(at: start + .seconds(seconds))
        return record
    }

    @Test func `a restart knows the acceptance of the same identity, and not one in the future`() throws {
        #expect(try record().time == nil)
        var record = try record()
        try record.note(at: start)
        #expect(try self.record(at: 60).time == start)
        #expect(try self.record("ffff", at: 60).time == nil)
        #expect(try self.record(at: -1).time == nil)
        #expect(try state.directory.sortedNames() == ["accepted-weather"])
    }

    @Test func `it is written once an hour, and known to the second meanwhile`() throws {
        var record = try record()
        try record.note(at: start)
        try record.note(at: start + .seconds(3599))
        #expect(record.time == start + .seconds(3599))
        #expect(try self.record(at: 4000).time == start)
        try record.note(at: start + .seconds(3600))
        #expect(try self.record(at: 4000).time == start + .seconds(3600))
    }

    @Test func `it is written again when the clock was set back`() throws {
        var record = try record()
        try record.note(at: start)
        try record.note(at: start + .seconds(-7200))
        #expect(try self.record().time == start + .seconds(-7200))
    }

    @Test func `another identity forgets it, and the same one does not`() throws {
        var record = try record()
        try record.note(at: start)
        record.use("0a1b")
        #expect(record.time == start)
        record.use("ffff")
        #expect(record.time == nil)
        try record.note(at: start + .seconds(1))
        #expect(try self.record("ffff", at: 60).time == start + .seconds(1))
    }

    @Test(arguments: ["", "0a1b", "2026-11-28T00:00:00Z", "yesterday 0a1b", "2026-11-28T00:00:00Z 0a1b 0a1b"])
    func `what is not such a record is none`(text: String) throws {
        try state.directory.put("accepted-weather", text)
        #expect(try record(at: 100_000_000).time == nil)
    }
}
