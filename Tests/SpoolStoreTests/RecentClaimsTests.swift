import Foundation
import JobFormat
import JournalModel
import LinuxIO
import PushModel
import TestSupport
import Testing

@testable import SpoolStore

/// Which file in a dead node's `work/` is the survivor's own job.
@Suite struct RecentClaimsTests {
    private let place: TemporaryDirectory
    private let spools: (own: Spool, dead: Spool)
    private let apps: (own: AppSpool, dead: AppSpool)
    private let name: FileName
    private let ids = (own: JobID(bits: 1), dead: JobID(bits: 2))
    /// When the dead node announced its claim.
    private let announced = WallTime(epochSeconds: 1_800_000_000)

    init() throws {
        let folder = try TemporaryDirectory()
        place = folder
        func spool(_ node: String) throws -> Spool {
            try Spool(path: folder.path, node: node, journalByteCount: 8 << 20, cluster: ClusterTerms())
        }
        spools = (try spool("own"), try spool("dead"))
        apps = (try spools.own.app("weather"), try spools.dead.app("weather"))
        name = try #require(FileName("a.json"))
        try apps.own.new.put("a.json", "[]")
    }

    /// Claims the file for the survivor, and puts it into the other node's `work/` as well.
    private func claimTwice(after seconds: Int64 = 60) throws -> (
        claims: RecentClaims, own: ClaimedJob, file: ClaimedJob
    ) {
        guard case .opened(let open) = try apps.own.open(name),
            case .claimed(let own) = try apps.own.claim(open, id: ids.own)
        else { throw Missing() }
        var claims = RecentClaims()
        let time = WallTime(epochSeconds: 1_800_000_000 + seconds)
        claims.add(own, at: time, to: apps.own.work)
        let (entry, _) = WorkEntry.entry(for: name, id: ids.dead)
        try FileManager.default.linkItem(
            atPath: path("work/own/\(own.entry)"), toPath: path("work/dead/\(String(decoding: entry, as: UTF8.self))"))
        return (claims, own, try #require(try apps.dead.claimed().jobs.first))
    }

    private struct Missing: Error {}

    private func path(_ name: String) -> String { "\(place.path)/weather/\(name)" }

    /// What the dead node's journal says of the file after these records.
    private func record(of file: ClaimedJob, inode: UInt64? = nil, _ more: JournalRecord...) throws -> JournalJob {
        var facts = JournalHeader.Facts(id: ids.dead, app: "weather", name: name)
        (facts.inode, facts.recipientCount, facts.claimedAt) = (inode ?? file.status.inode, 2, announced)
        for record in [.header(JournalHeader(facts, content: .bytes(Array("[]".utf8))))] + more {
            try spools.dead.append(record)
        }
        return try #require(spools.dead.journal.job(ids.dead))
    }

    @Test func `a file that the survivor has in its own work is its own`() throws {
        let (claims, _, file) = try claimTwice()
        #expect(try claims.hasJob(file, of: record(of: file), in: apps.dead, at: announced))
    }

    @Test(arguments: ["done/DAY/a.json", "failed/DAY/a.json", "done/DAY/a~2.json"])
    func `a file that the survivor has archived is its own`(place: String) throws {
        let (claims, own, file) = try claimTwice()
        let target = path(place.replacingOccurrences(of: "DAY", with: announced.day))
        let folder = (target as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if place.contains("~2") { try "another".write(toFile: folder + "/a.json", atomically: false, encoding: .utf8) }
        try FileManager.default.moveItem(atPath: path("work/own/\(own.entry)"), toPath: target)
        #expect(try claims.hasJob(file, of: record(of: file), in: apps.dead, at: announced))
    }

    @Test(arguments: ["new/a.json", "hold/a.json"])
    func `a file that the survivor has no longer is the other node's`(place: String) throws {
        let (claims, own, file) = try claimTwice()
        try FileManager.default.moveItem(atPath: path("work/own/\(own.entry)"), toPath: path(place))
        #expect(try !claims.hasJob(file, of: record(of: file), in: apps.dead, at: announced))
    }

    @Test func `a file that the survivor claimed before, or hardly later, is the other node's`() throws {
        let lease = Int64(ClusterTerms().leaseLength.components.seconds)
        for seconds in [-60, 0, lease] {
            try RecentClaimsTests().expectOther(after: seconds)
        }
    }

    private func expectOther(after seconds: Int64) throws {
        let (claims, _, file) = try claimTwice(after: seconds)
        #expect(try !claims.hasJob(file, of: record(of: file), in: apps.dead, at: announced), "after \(seconds) s")
    }

    @Test func `another file than the announced one is the other node's`() throws {
        let (claims, _, file) = try claimTwice()
        let known = try record(of: file)
        try apps.dead.work.unlink(file.entry.bytes)
        try apps.dead.work.put(String(decoding: file.entry.bytes, as: UTF8.self), "[]")
        let other = try #require(try apps.dead.claimed().jobs.first)
        #expect(other.status.inode != file.status.inode)
        #expect(try !claims.hasJob(other, of: known, in: apps.dead, at: announced))
    }

    @Test func `a claimed file that the other node did not announce is that node's`() throws {
        let (claims, _, file) = try claimTwice()
        let known = try record(of: file, inode: file.status.inode + 1)
        #expect(try !claims.hasJob(file, of: known, in: apps.dead, at: announced))
    }

    @Test func `a file that was claimed by another name is the other node's`() throws {
        let (_, own, file) = try claimTwice()
        var claims = RecentClaims()
        let time = WallTime(epochSeconds: 1_800_000_060)
        claims.add(own.called(try #require(FileName("b.json"))), at: time, to: apps.own.work)
        #expect(try !claims.hasJob(file, of: record(of: file), in: apps.dead, at: announced))
    }

    @Test func `a file that its producer keeps is the other node's`() throws {
        let (claims, own, _) = try claimTwice()
        try FileManager.default.linkItem(atPath: path("work/own/\(own.entry)"), toPath: path("tmp/kept.json"))
        let file = try #require(try apps.dead.claimed().jobs.first)
        #expect(try !claims.hasJob(file, of: record(of: file), in: apps.dead, at: announced))
    }

    @Test func `a job that the other node has begun is its own`() throws {
        for more in [
            JournalRecord.claimed(ids.dead), .result(ids.dead, JournalResult(.accepted, [0..<1], at: announced)),
        ] {
            try RecentClaimsTests().expectOther(after: more)
        }
    }

    private func expectOther(after more: JournalRecord) throws {
        let (claims, _, file) = try claimTwice()
        #expect(try !claims.hasJob(file, of: record(of: file, more), in: apps.dead, at: announced), "after \(more)")
    }

    @Test func `a file that appears when the journal has forgotten it is known, one of which it says nothing is not`()
        throws
    {
        var (claims, _, file) = try claimTwice()
        #expect(try !claims.hasJob(file, of: nil, in: apps.dead, at: announced))
        claims.note(unfound: try record(of: file))
        #expect(try claims.hasJob(file, of: nil, in: apps.dead, at: announced))
    }

    @Test func `the names of a claimed file in new are removed, those that it may have got there and no other`()
        throws
    {
        let (_, own, _) = try claimTwice()
        for name in ["a.json", "a~2.json", "b.json"] {
            try FileManager.default.linkItem(atPath: path("work/own/\(own.entry)"), toPath: path("new/\(name)"))
        }
        try apps.own.new.put("c.json", "[]")
        _ = try apps.own.claimed()
        let left = try apps.own.new.names().map { String(decoding: $0, as: UTF8.self) }.sorted()
        #expect(left == ["b.json", "c.json"])
    }
}
