import DoorModel
import Glibc
import LinuxIO
import PushModel
import TestSupport
import Testing

@testable import Doors

/// What the relay hears before feedback is published.
@Suite struct EarlyFeedbackTests {
    private let place: TemporaryDirectory
    private let feedback: Directory
    private let name = Array(".host-a.early".utf8)

    init() throws {
        place = try TemporaryDirectory()
        let app = try place.directory.makeChild(Array("weather".utf8), mode: 0o755)
        _ = try app.makeChild(Array("work".utf8), mode: 0o700)
        feedback = try app.makeChild(Array("feedback".utf8), mode: 0o755)
    }

    private static func line(_ number: Int) -> [UInt8] {
        Array(
            (#"{"v":1,"kind":"notification","app":"weather","node":"host-a","job":"a.jsonl","index":\#(number),"#
                + #""token":"\#(String(repeating: "0", count: 63))\#(number)","outcome":"accepted","#
                + #""apns_id":"123e4567-e89b-12d3-a456-42665544000\#(number)"}"# + "\n").utf8)
    }

    /// Appends to the file of a node, in one write.
    private func append(_ bytes: [UInt8]) throws {
        let file = try feedback.openForWriting(name, mode: 0o640)
        try file.write(bytes, at: file.status().byteCount)
    }

    /// Hears so many outcomes, and returns the numbers of their notifications.
    private func hear(_ count: Int, from early: EarlyFeedback) async throws -> [Int] {
        var numbers: [Int] = []
        while numbers.count < count, let notices = await early.next() {
            numbers += try early.lines(of: notices).compactMap { $0.outcome.receiver.last.map { Int($0) } }
        }
        return numbers
    }

    private func following() throws -> EarlyFeedback {
        let early = try EarlyFeedback(spool: place.path)
        try early.follow()
        return early
    }

    @Test func `lines are heard once each, when they are complete`() async throws {
        let early = try following()
        try append(Self.line(1) + Self.line(2).prefix(40))
        #expect(try await hear(1, from: early) == [1])
        try append(Self.line(2).dropFirst(40) + Self.line(3))
        #expect(try await hear(2, from: early) == [2, 3])
    }

    @Test func `the rest of a file is heard before the one that replaces it`() async throws {
        let early = try following()
        try append(Self.line(1))
        #expect(try await hear(1, from: early) == [1])
        try append(Self.line(2))
        try feedback.replace(name, by: Array(".host-a.tmp".utf8), mode: 0o640) { (file) throws(SystemError) in
            try file.write(Self.line(3))
        }
        try append(Self.line(4))
        #expect(try await hear(3, from: early) == [2, 3, 4])
    }

    @Test func `a folder that takes the place of another is followed`() async throws {
        let early = try following()
        let app = try Directory.open(path: place.path + "/weather")
        try app.rename(Array("feedback".utf8), to: app, as: Array("old".utf8))
        let next = try app.makeChild(Array("feedback".utf8), mode: 0o755)
        try early.follow()
        try next.openForWriting(name, mode: 0o640).write(Self.line(5))
        #expect(try await hear(1, from: early) == [5])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func `a file that is not the daemon's tells nothing`() async throws {
        let early = try following()
        let file = try feedback.create(Array(".host-b.tmp".utf8), mode: 0o644)
        try file.write(Self.line(1))
        try #require(unsafe chown("\(place.path)/weather/feedback/.host-b.tmp", 65534, 65534) == 0)
        try feedback.rename(Array(".host-b.tmp".utf8), to: feedback, as: Array(".host-b.early".utf8))
        try append(Self.line(2))
        #expect(try await hear(1, from: early) == [2])
    }
}
