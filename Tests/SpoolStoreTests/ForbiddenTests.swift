import JobFormat
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

/// Files that even root cannot move, which only root can make.
@Suite(.enabled(if: Immutable.isPossible)) struct ForbiddenTests {
    let spool: TestSpool
    let name: FileName

    init() throws {
        spool = try TestSpool()
        name = try fileName("a.json")
        try spool.app.new.put("a.json", "{}")
    }

    @Test(.catalogue("G57 perm, an immutable file", checks: [.onePlace]))
    func `a job that cannot be moved is not claimed`() throws {
        let job = try spool.opened(name)
        let claim = try whileImmutable { try spool.app.claim(job, id: JobID(bits: 1)) }
        guard case .forbidden(let error) = claim else { return #expect(Bool(false), "\(claim)") }
        #expect(error.isRefusal)
        #expect(try spool.app.new.sortedNames() == ["a.json"])
        #expect(try spool.app.work.names().isEmpty)
    }

    @Test func `a job that cannot be moved cannot be refused, and leaves no result`() throws {
        let sighting = try #require(try spool.sightings().first)
        let refusal = try whileImmutable { try spool.refuse(sighting) }
        guard case .forbidden = refusal else { return #expect(Bool(false), "\(refusal)") }
        #expect(try spool.folder("failed/2026-11-21").names().isEmpty)
    }

    private func whileImmutable<Result>(_ body: () throws -> Result) throws -> Result {
        let path = spool.place.path + "/weather/new/a.json"
        try #require(Immutable.set(true, path))
        defer { _ = Immutable.set(false, path) }
        return try body()
    }
}
