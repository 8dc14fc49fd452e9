import JobFormat
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct ClaimTests {
    let spool: TestSpool
    var app: AppSpool { spool.app }

    init() throws {
        spool = try TestSpool()
    }

    @Test func `a job of any name is claimed, found again, and archived by its own name`() throws {
        let names = hostileNames()
        for (index, name) in names.enumerated() {
            _ = try spool.claim(name, contents: "\(index)", id: UInt128(index))
        }
        let found = try app.claimed()
        #expect(found.jobs.map(\.name) == names && found.strangers.isEmpty)
        for job in found.jobs {
            let place = try app.archives.place(for: job.name, in: .done, at: spool.noon, withResult: false)
            #expect(try app.archives.archive(job, at: place, result: nil).name == job.name)
        }
        #expect(Set(try spool.folder("done/2026-11-21").names()) == Set(names.map(\.bytes)))
        #expect(try app.work.names().isEmpty && app.new.names().isEmpty)
    }

    @Test(arguments: [".hidden.json", "a.txt", "a.json~", "a.json.part", "a.result.json", "a.json.tmp", "README"])
    func `what is never a job is never seen`(name: String) throws {
        try app.new.put(name)
        #expect(try spool.sightings().isEmpty)
    }

    @Test func `what was seen is told to those who decide`() throws {
        try app.new.put("a.json", "{}")
        let seen = try #require(try app.look(try fileName("a.json")))
        #expect(seen.sighting.byteCount == 2 && seen.sighting.kind == .regular)
        #expect(seen.sighting.identity.inode == seen.status.inode)
        #expect(seen.sighting.modifiedAt.nanoseconds == seen.status.modifiedAt)
    }

    @Test func `a job that somebody took is gone`() throws {
        try app.new.put("a.json", "{}")
        let job = try spool.opened(try fileName("a.json"))
        try app.new.unlink(Array("a.json".utf8))
        #expect(try app.claim(job, id: JobID(bits: 1)) == .gone)
        guard case .gone = try app.open(try fileName("a.json")) else { return #expect(Bool(false)) }
    }

    @Test func `a job that was replaced after it was read goes back`() throws {
        try app.new.put("a.json", "old")
        let job = try spool.opened(try fileName("a.json"))
        try app.staging.put("a.json", "new")
        try app.staging.rename(Array("a.json".utf8), to: app.new, replacing: Array("a.json".utf8))
        #expect(try app.claim(job, id: JobID(bits: 1)) == .changed(job.name))
        #expect(try app.new.text("a.json") == "new")
        #expect(try app.work.names().isEmpty)
    }

    @Test func `a job that grew after it was read goes back`() throws {
        try app.new.put("a.json", "half")
        let job = try spool.opened(try fileName("a.json"))
        try app.new.openForWriting(Array("a.json".utf8), mode: 0o644).write(Array("half, whole".utf8))
        #expect(try app.claim(job, id: JobID(bits: 1)) == .changed(job.name))
        #expect(try spool.sightings().count == 1)
    }

    @Test func `a link that is swapped in for a job is not followed`() throws {
        try spool.place.directory.put("secret", "secret")
        try spool.place.link("weather/new/link.json", to: spool.place.path + "/secret")
        try app.new.put("a.json", "{}")
        let job = try spool.opened(try fileName("a.json"))
        try spool.place.exchange("weather/new/a.json", "weather/new/link.json")
        #expect(try app.claim(job, id: JobID(bits: 1)) == .changed(job.name))
        guard case .special(.symbolicLink) = try app.open(try fileName("a.json")) else { return #expect(Bool(false)) }
        #expect(try app.look(try fileName("a.json"))?.status.kind == .symbolicLink)
    }

    @Test(.catalogue("B11 both-dirs-btrfs, a claim", checks: [.onePlace]))
    func `a claim that a crash left in two places loses the earlier one`() throws {
        let job = try spool.claim(try fileName("a.json"), id: 1)
        try app.work.link(job.entry.bytes, to: app.new, as: Array("a.json".utf8))
        #expect(try app.claimed().jobs.map(\.name) == [job.name])
        #expect(try app.new.names().isEmpty)
    }

    @Test func `another link to a claimed job is a job of its own`() throws {
        let job = try spool.claim(try fileName("a.json"), id: 1)
        try app.work.link(job.entry.bytes, to: app.new, as: Array("b.json".utf8))
        #expect(try app.claimed().jobs.count == 1)
        #expect(try app.new.sortedNames() == ["b.json"])
    }

    @Test func `strangers among the claimed are told and left alone`() throws {
        try app.work.put("stranger.json")
        try app.work.put("0000000000000000000000000u-a.json")
        #expect(try app.claimed().strangers.count == 2)
        #expect(try app.work.names().count == 2)
    }

    @Test func `a full name without its job is removed`() throws {
        let long = try #require(FileName(String(repeating: "x", count: 240) + ".json"))
        let job = try spool.claim(long, id: 1)
        #expect(try app.work.names().count == 2)
        try app.work.unlink(job.entry.bytes)
        #expect(try app.claimed().jobs.isEmpty)
        #expect(try app.work.names().isEmpty)
    }

    @Test func `a full name that a power loss has emptied goes with its job`() throws {
        try app.work.put("\(JobID(bits: 1)).name", "")
        #expect(try app.claimed().jobs.isEmpty && app.work.names().isEmpty)
    }

    @Test(.catalogue("B11 both-dirs-btrfs, a claim by a long name", checks: [.onePlace]))
    func `a claim of a long name that a crash left in two places loses the earlier one, its name once known`()
        throws
    {
        let long = try #require(FileName(String(repeating: "x", count: 240) + ".json"))
        let job = try spool.claim(long, id: 1)
        try app.work.link(job.entry.bytes, to: app.new, as: long.bytes)
        // The file with the whole name is not on the disk.
        try app.work.unlink(Array("\(job.id).name".utf8))
        let found = try #require(try app.claimed().jobs.first)
        #expect(found.name != long)
        try app.dropDouble(of: found.called(long))
        #expect(try app.new.names().isEmpty && app.work.names().count == 1)
    }

    @Test func `a claimed job can be read again`() throws {
        let job = try spool.claim(try fileName("a.json"), contents: "bytes", id: 1)
        #expect(try app.open(job).file.contents(limit: 10) == Array("bytes".utf8))
    }

    @Test(.catalogue("E40 many-nodes, claims alone", checks: [.onePlace]))
    func `two nodes claim every job exactly once`() async throws {
        let place = try TemporaryDirectory()
        let path = place.path
        let first = try Spool(path: path, node: "host-a", journalByteCount: 8 << 20, cluster: ClusterTerms())
        let app = try first.app("weather")
        for number in 0..<500 { try app.new.put("\(number).json", "{}") }
        let ids = try await withThrowingTaskGroup(of: [String].self) { group in
            for node in ["host-b", "host-c"] { group.addTask { try claimAll(path: path, node: node) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(ids.count == 500 && Set(ids).count == 500)
        #expect(try app.new.names().isEmpty)
    }
}

/// Claims whatever it can under a node of its own until nothing is left, and returns the names it won.
private func claimAll(path: String, node: String) throws -> [String] {
    let spool = try Spool(path: path, node: node, journalByteCount: 8 << 20, cluster: ClusterTerms())
    let app = try spool.app("weather")
    var won: [String] = []
    var names: [FileName] = []
    repeat {
        names = []
        try app.eachSighting { sighting in
            names.append(sighting.name)
            return names.count < 20
        }
        for name in names {
            guard case .opened(let job) = try app.open(name) else { continue }
            let id = JobID(bits: UInt128.random(in: .min ... .max))
            if case .claimed(let claimed) = try app.claim(job, id: id) { won.append(claimed.name.escaped) }
        }
    } while !names.isEmpty
    return won
}
