import APNSBinary
import APNSModel
import Foundation
import LinuxIO
import PushModel
import TestSupport
import Testing

@testable import AppEngine

struct KeptFeedbackTests {
    private let folder: TemporaryDirectory
    private let directory: Directory

    init() throws {
        folder = try TemporaryDirectory()
        directory = try Directory.open(path: folder.path)
    }

    private func entry(_ number: Int, at seconds: UInt32 = 1_700_000_000, byteCount: Int = 32) -> FeedbackTuple {
        var token = [UInt8](repeating: 0xAB, count: byteCount)
        for offset in 0..<min(8, byteCount) { token[offset] = UInt8(truncatingIfNeeded: number >> (8 * offset)) }
        return FeedbackTuple(epochSeconds: seconds, token: DeviceToken(bytes: token))
    }

    /// Keeps bytes as a daemon does, and reads them back in groups.
    private func groups(of bytes: [UInt8]) throws -> (groups: [[FeedbackTuple]], isCutOff: Bool) {
        try KeptFeedback(app: "a", at: WallTime(epochSeconds: 1_700_000_000), in: directory).append(bytes)
        let name = try #require(try KeptFeedback.names(of: "a", in: directory).first)
        let reader = try KeptFeedbackReader(name, in: directory)
        var (group, groups) = (GoneTokenGroup(), [[FeedbackTuple]]())
        var hasMore = true
        while hasMore {
            hasMore = try reader.read(into: &group)
            if group.isFull || !hasMore && !group.isEmpty { groups.append(group.takeAll()) }
        }
        return (groups, reader.isCutOff)
    }

    private func bytes(_ entries: [FeedbackTuple]) -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in entries { entry.encode(to: &bytes) }
        return bytes
    }

    @Test(arguments: [0, 1, 32, 1_000, 65_535])
    func `entries of any length are read back, also across pieces`(byteCount: Int) throws {
        let entries = (0..<200).map { entry($0, byteCount: byteCount) }
        let found = try groups(of: bytes(entries) + bytes([entry(1, byteCount: 2)])).groups.flatMap(\.self)
        let distinct = byteCount == 0 ? 0 : 200
        #expect(Set(found).count == distinct + 1)
    }

    @Test(.catalogue("J73 endless-feedback, a kept file", checks: []))
    func `a long file comes in groups that are bounded, in the order of the file`() throws {
        let entries = (0..<70_000).map { entry($0) }
        let found = try groups(of: bytes(entries)).groups
        #expect(found.count > 3 && found.flatMap(\.self) == entries)
        #expect(found.allSatisfy { $0.count <= GoneTokenGroup.limits.tokens + KeptFeedbackReader.pieceByteCount / 38 })
    }

    @Test func `long tokens fill a group by their bytes`() throws {
        let found = try groups(of: bytes((0..<100).map { entry($0, byteCount: 60_000) })).groups
        #expect(
            found.allSatisfy { $0.count * 60_000 < GoneTokenGroup.limits.bytes + 4 * KeptFeedbackReader.pieceByteCount }
        )
    }

    @Test func `a token that is named again is told once, with its newest time`() throws {
        let entries = [entry(1, at: 5), entry(2, at: 9), entry(1, at: 7), entry(1, at: 6)]
        #expect(try groups(of: bytes(entries)).groups == [[entry(1, at: 7), entry(2, at: 9)]])
    }

    @Test func `the same token without end takes no memory`() {
        var group = GoneTokenGroup()
        for seconds in 0..<100_000 { group.add(entry(1, at: UInt32(seconds))) }
        #expect(!group.isFull && group.takeAll() == [entry(1, at: 99_999)])
    }

    @Test(arguments: [1, 5, 6, 37])
    func `what is cut off is noticed, and what is before it is read`(count: Int) throws {
        let found = try groups(of: bytes([entry(1), entry(2)]) + bytes([entry(3)]).prefix(count))
        #expect(found.groups == [[entry(1), entry(2)]] && found.isCutOff)
    }

    @Test func `files are found by their app alone, the oldest first, and empty ones are removed`() throws {
        let names = ["a-20230101T000000.000000Z", "a-20220101T000000.000000Z", "a-b-20210101T000000.000000Z"]
        for name in names { try directory.create(Array("feedback-\(name).raw".utf8), mode: 0o600).write([0]) }
        _ = try directory.create(Array("feedback-a-20200101T000000.000000Z.raw".utf8), mode: 0o600)
        let found = try KeptFeedback.names(of: "a", in: directory).map { String(decoding: $0, as: UTF8.self) }
        #expect(found == ["feedback-\(names[1]).raw", "feedback-\(names[0]).raw"])
        #expect(try directory.names().count == 3)
    }
}
