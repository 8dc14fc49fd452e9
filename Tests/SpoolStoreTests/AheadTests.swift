import JobFormat
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

/// What a node of a cluster does with many files at a time, because each call may wait for a file server.
@Suite struct AheadTests {
    private let place: TemporaryDirectory
    private let spool: Spool
    private let app: AppSpool
    private let noon = WallTime(epochSeconds: 1_795_262_400)

    init() throws {
        place = try TemporaryDirectory()
        spool = try Spool(path: place.path, node: "one", journalByteCount: 8 << 20, cluster: ClusterTerms())
        app = try spool.app("weather")
    }

    private func names(_ count: Int) throws -> [FileName] { try (0..<count).map { try fileName("job-\($0).json") } }

    private func drop(_ names: [FileName]) throws {
        for name in names { try app.new.put(name.bytes, Array("{}".utf8)) }
    }

    @Test func `a daemon that works alone on a local disk does nothing ahead`() throws {
        let alone = try TestSpool()
        let names = try names(2)
        for name in names { try alone.app.new.put(name.bytes, []) }
        #expect(alone.app.lookAhead(names).isEmpty && alone.app.openAhead(names).isEmpty)
        let job = try alone.opened(names[0])
        #expect(alone.app.moveAhead([(job, JobID(bits: 1))]).isEmpty)
        #expect(try alone.app.new.names().count == 2)
    }

    @Test func `files that are there are seen and opened, and what is no file is left to its turn`() throws {
        let names = try names(40)
        try drop(names)
        try app.new.unlink(names[3].bytes)
        try app.new.unlink(names[5].bytes)
        _ = try app.new.makeChild(names[5].bytes, mode: 0o755)
        let seen = app.lookAhead(names)
        #expect(Set(seen.keys) == Set(names).subtracting([names[3]]))
        for (name, file) in seen { #expect(try app.look(name) == file) }
        let opened = app.openAhead(names)
        #expect(Set(opened.keys) == Set(names).subtracting([names[3], names[5]]))
        for (name, job) in opened { #expect(job.name == name && job.status == seen[name]?.status) }
    }

    /// One is ready to be claimed, one is gone, one was replaced since it was opened, and one has a name that is kept in a
    /// file of its own.
    @Test func `a claim judges a move that was made ahead as its own`() throws {
        var names = try names(3)
        names.append(try fileName(String(repeating: "n", count: 250) + ".json"))
        try drop(names)
        let jobs = try names.enumerated().map { number, name in
            guard case .opened(let job) = try app.open(name) else { throw NotClaimed() }
            return (file: job, id: JobID(bits: UInt128(number + 1)))
        }
        try app.new.unlink(names[1].bytes)
        try app.staging.put(names[2].bytes, Array("another".utf8))
        try app.staging.rename(names[2].bytes, to: app.new, replacing: names[2].bytes)
        let moves = app.moveAhead(jobs)
        #expect(Set(moves.keys) == Set(jobs.prefix(3).map(\.id)))
        let claims = try jobs.map { try spool.claim($0.file, as: $0.id, in: app, ahead: moves[$0.id]) }
        guard case .claimed(let first) = claims[0], case .claimed(let last) = claims[3] else { throw NotClaimed() }
        #expect(first.name == names[0] && last.name == names[3])
        #expect(claims[1] == .gone && claims[2] == .changed(names[2]))
        #expect(Set(try app.claimed().jobs.map(\.name)) == [names[0], names[3]])
        #expect(try app.new.names() == [names[2].bytes])
    }

    @Test func `nothing moves ahead once the lease is lost`() throws {
        let names = try names(3)
        try drop(names)
        let jobs = try names.enumerated().map { number, name in
            guard case .opened(let job) = try app.open(name) else { throw NotClaimed() }
            return (file: job, id: JobID(bits: UInt128(number + 1)))
        }
        spool.lease?.lose()
        #expect(app.moveAhead(jobs).isEmpty)
        #expect(try spool.claim(jobs[0].file, as: jobs[0].id, in: app) == .lapsed)
        #expect(try app.new.names().count == 3 && app.work.names().isEmpty)
    }

    @Test func `jobs whose places were taken meanwhile are archived under the next number`() throws {
        let names = try names(20)
        try drop(names)
        app.archives.lookAhead(for: names, at: noon)
        let jobs = try names.enumerated().map { number, name -> (job: ClaimedJob, place: ArchivePlace) in
            guard case .opened(let job) = try app.open(name),
                case .claimed(let claimed) = try app.claim(job, id: JobID(bits: UInt128(number + 1)))
            else { throw NotClaimed() }
            return (claimed, try app.archives.place(for: name, in: .done, at: noon, withResult: false))
        }
        let day = try Directory.open(path: "\(place.path)/weather/done/2026-11-21")
        try day.put(names[7].bytes, Array("another".utf8))
        let moved = app.archives.moveAhead(jobs)
        #expect(moved == Set(jobs.map(\.job.id)).subtracting([jobs[7].job.id]))
        for (job, place) in jobs {
            let final = try moved.contains(job.id) ? place : app.archives.archive(job, at: place, result: nil)
            #expect((final == place) == (job.name != names[7]))
            #expect(try day.status(of: final.name.bytes)?.inode == job.status.inode)
        }
        #expect(try app.work.names().isEmpty && day.names().count == 21)
        // The places are free for others again.
        try day.unlink(names[0].bytes)
        #expect(try app.archives.place(for: names[0], in: .done, at: noon, withResult: false).name == names[0])
    }
}
