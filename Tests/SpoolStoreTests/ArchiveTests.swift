import Foundation
import JobFormat
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct ArchiveTests {
    let spool: TestSpool
    var app: AppSpool { spool.app }

    init() throws {
        spool = try TestSpool()
    }

    @Test func `nothing in an archive is ever overwritten`() throws {
        let name = try fileName("job.json")
        let places = try (0..<20).map { try spool.archive(name, contents: "\($0)", id: UInt128($0)) }
        #expect(places.first?.path == "done/2026-11-21/job.json")
        #expect(places.first?.path(of: "weather") == "weather/done/2026-11-21/job.json")
        #expect(Set(places).count == 20)
        let done = try spool.folder("done/2026-11-21")
        for (index, place) in places.enumerated() { #expect(try done.text(place.name.escaped) == "\(index)") }
    }

    @Test func `two jobs that are not moved yet do not get one place`() throws {
        let name = try fileName("job.json")
        let one = try app.archives.place(for: name, in: .done, at: spool.noon, withResult: false)
        let two = try app.archives.place(for: name, in: .done, at: spool.noon, withResult: false)
        #expect(one.name.escaped == "job.json" && two.name.escaped == "job~2.json")
    }

    @Test func `a place that the journal remembers is not given away`() throws {
        app.archives.reserve(ArchivePlace(folder: .done, day: spool.noon.day, name: try fileName("job.json")))
        let place = try app.archives.place(for: try fileName("job.json"), in: .done, at: spool.noon, withResult: false)
        #expect(place.name.escaped == "job~2.json")
    }

    /// Puts a file into the day's folder of `done/`, as people or an earlier run may have.
    private func put(_ name: String) throws {
        let done = try spool.folder("done").makeChild(Array(spool.noon.day.utf8), mode: 0o750)
        try done.put(Array(name.utf8), [])
    }

    private func place(of name: String) throws -> String {
        try app.archives.place(for: try fileName(name), in: .done, at: spool.noon, withResult: false).name.escaped
    }

    @Test func `names that are in a day's folder before the first look, or come later by hand, are taken`() throws {
        try put("earlier.json")
        try put("lone.json.result.json")
        #expect(try place(of: "earlier.json") == "earlier~2.json" && place(of: "lone.json") == "lone~2.json")
        _ = try spool.archive(try fileName("own.json"), contents: "", id: 1)
        try put("hand.json")
        try put("own~2.json")
        #expect(try place(of: "hand.json") == "hand~2.json" && place(of: "own.json") == "own~3.json")
    }

    @Test func `a file put between the choice of a place and the move to it is not overwritten`() throws {
        let name = try fileName("job.json")
        let chosen = try app.archives.place(for: name, in: .done, at: spool.noon, withResult: false)
        try put("job.json")
        let job = try spool.claim(name, id: 1)
        #expect(try app.archives.archive(job, at: chosen, result: nil).name.escaped == "job~2.json")
        #expect(try place(of: "job.json") == "job~3.json")
    }

    @Test func `a day's folder that was moved away begins anew, and one that was moved there is looked at`() throws {
        let name = try fileName("job.json")
        _ = try spool.archive(name, contents: "", id: 1)
        let path = "\(spool.place.path)/weather/done/\(spool.noon.day)"
        try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
        #expect(try spool.archive(name, contents: "", id: 2).name.escaped == "job.json")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + "-away", toPath: path)
        #expect(try spool.archive(name, contents: "", id: 3).name.escaped == "job~2.json")
    }

    @Test func `groups of jobs over two days find all names`() throws {
        let names = try (0..<40).map { try fileName("job-\($0 % 20).json") }
        for (number, time) in [spool.noon, spool.noon + .seconds(86_400), spool.noon].enumerated() {
            let places = try app.archives.keepingDaysOpen {
                Result {
                    try names.enumerated().map { index, name in
                        let job = try spool.claim(name, id: UInt128(1000 * number + index))
                        let place = try app.archives.place(for: name, in: .done, at: time, withResult: false)
                        return try app.archives.archive(job, at: place, result: nil)
                    }
                }
            }.get()
            #expect(Set(places).count == 40 && places[0].name.escaped == (number < 2 ? "job-0.json" : "job-0~3.json"))
        }
    }

    @Test func `a result stands beside its job under its name`() throws {
        let name = try fileName("job.json")
        for number in 1...3 {
            let place = try spool.archive(name, contents: "\(number)", id: UInt128(number), result: "why \(number)")
            let result = try #require(place.name.result)
            #expect(try spool.folder("failed/2026-11-21").text(result.escaped) == "why \(number)")
        }
        try app.archives.settle()
        #expect(try spool.folder("failed/2026-11-21").names().count == 6)
    }

    @Test(.catalogue("G54 all-names, cut ones in an archive", checks: [.onePlace]))
    func `names too long for their result are cut and stay apart`() throws {
        let stem = String(repeating: "x", count: 249)
        let names = try ["a", "b"].map { try #require(FileName(stem + $0 + ".json")) }
        for (index, name) in (names + names).enumerated() {
            let place = try spool.archive(name, contents: "\(index)", id: UInt128(index), result: "\(index)")
            #expect(place.name.isJob && place.name.result != nil)
        }
        #expect(try spool.folder("failed/2026-11-21").names().count == 8)
    }

    @Test func `a place taken by somebody else meanwhile costs the job a number`() throws {
        let job = try spool.claim(try fileName("job.json"), id: 1)
        let place = try app.archives.place(for: job.name, in: .failed, at: spool.noon, withResult: true)
        try spool.folder("failed/2026-11-21").put("job.json", "theirs")
        let taken = try app.archives.archive(job, at: place, result: Array("why".utf8))
        #expect(taken.name.escaped == "job~2.json")
        #expect(try spool.folder("failed/2026-11-21").text("job.json") == "theirs")
        #expect(try spool.folder("failed/2026-11-21").text("job~2.json.result.json") == "why")
    }

    @Test func `archiving again after a crash does what is left`() throws {
        let job = try spool.claim(try fileName("job.json"), id: 1)
        let place = try app.archives.place(for: job.name, in: .failed, at: spool.noon, withResult: true)
        // The crash: the job has its new name and its old one, and the result is only staged.
        try app.work.link(job.entry.bytes, to: try spool.folder("failed/2026-11-21"), as: place.name.bytes)
        try app.work.put("\(job.id).result", "half")
        for _ in 0..<2 { #expect(try app.archives.archive(job, at: place, result: Array("why".utf8)) == place) }
        #expect(try app.work.names().isEmpty)
        #expect(try spool.folder("failed/2026-11-21").sortedNames() == ["job.json", "job.json.result.json"])
        #expect(try spool.folder("failed/2026-11-21").text("job.json.result.json") == "why")
    }

    @Test func `a result is there before its job, and goes when the job does not come`() throws {
        let job = try spool.claim(try fileName("job.json"), id: 1)
        let place = try app.archives.place(for: job.name, in: .failed, at: spool.noon, withResult: true)
        // The file is gone: the move fails after the result is out.
        try app.work.unlink(job.entry.bytes)
        let error = #expect(throws: SystemError.self) {
            try app.archives.archive(job, at: place, result: Array("why".utf8))
        }
        #expect(error?.isNotFound == true)
        #expect(try spool.folder("failed/2026-11-21").names().isEmpty)
    }

    @Test(arguments: [true, false])
    func `a crash between result and job leaves neither, and the place is used again`(isPublished: Bool) throws {
        let job = try spool.claim(try fileName("job.json"), id: 1)
        let place = try app.archives.place(for: job.name, in: .failed, at: spool.noon, withResult: true)
        try app.work.put("\(job.id).place", place.path)
        let day = try spool.folder("failed/2026-11-21")
        if isPublished {
            try day.put("job.json.result.json", "half")
        } else {
            try app.work.put("\(job.id).result", "half")
        }
        let again = try spool.restarted()
        #expect(try again.claimed().jobs.map(\.id) == [job.id])
        #expect(try day.names().isEmpty && app.work.sortedNames() == [job.entry.escaped])
        #expect(try again.archives.place(for: job.name, in: .failed, at: spool.noon, withResult: true) == place)
    }

    @Test func `a result that a power loss left without its job and without a note is known by its bytes`() throws {
        let job = try spool.claim(try fileName("job.json"), id: 1)
        let place = try app.archives.place(for: job.name, in: .failed, at: spool.noon, withResult: true)
        let day = try spool.folder("failed/2026-11-21")
        try day.put("job.json.result.json", "why")
        #expect(try app.archives.archive(job, at: place, result: Array("why".utf8)) == place)
        #expect(try day.sortedNames() == ["job.json", "job.json.result.json"] && app.work.names().isEmpty)
    }

    @Test func `a crash after the job has moved leaves its result where it is`() throws {
        let job = try spool.claim(try fileName("job.json"), id: 1)
        let place = try app.archives.place(for: job.name, in: .failed, at: spool.noon, withResult: true)
        _ = try app.archives.archive(job, at: place, result: Array("why".utf8))
        try app.work.put("\(job.id).place", place.path)
        #expect(try app.claimed().jobs.isEmpty && app.work.names().isEmpty)
        #expect(try spool.folder("failed/2026-11-21").sortedNames() == ["job.json", "job.json.result.json"])
    }

    @Test(arguments: ["", "failed", "failed/2026-11-21/", "failed/../x", "lost/2026-11-21/x.json", "done/2000-01-01/x"])
    func `a note that says nothing is removed`(note: String) throws {
        try app.work.put("\(JobID(bits: 1)).place", note)
        let found = try app.claimed()
        #expect(try found.jobs.isEmpty && found.strangers.isEmpty && app.work.names().isEmpty)
    }

    @Test func `a held job keeps its name, or gets the next number`() throws {
        let name = try fileName("job.json")
        let held = try (1...2).map {
            try app.hold.park(try spool.claim(name, contents: "\($0)", id: UInt128($0))).escaped
        }
        #expect(held == ["job.json", "job~2.json"])
        #expect(try spool.folder("hold").text("job~2.json") == "2")
        #expect(try app.work.names().isEmpty)
    }
}
