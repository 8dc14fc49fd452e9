import JobFormat
import LinuxIO
import PushModel
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite struct ParkingTests {
    private let test: TestSpool

    init() throws {
        test = try TestSpool()
    }

    private func seen(_ name: FileName) throws -> SeenFile {
        try #require(try test.app.look(name))
    }

    @Test func `a claimed job is parked beside what is left of it, and released without`() throws {
        let name = try fileName("a.json")
        let job = try test.claim(name, contents: "{}", id: 1)
        let parked = try test.app.hold.park(job, leaving: Array("rest".utf8))
        #expect(parked == ParkedFile(name: name, rest: try fileName("a.json.rest")))
        #expect(try test.folder("hold").sortedNames() == ["a.json", "a.json.rest"])
        #expect(try test.folder("hold").text("a.json.rest") == "rest")
        #expect(try test.folder("work/host-a").sortedNames() == [])
        let file = try #require(try test.app.hold.look(name))
        #expect(file.status.inode == job.status.inode)
        #expect(try test.app.hold.contains(job.status.inode))
        #expect(try test.app.hold.release(file) == name)
        #expect(try test.folder("new").sortedNames() == ["a.json"])
        #expect(try test.folder("hold").sortedNames() == ["a.json.rest"])
        #expect(try test.app.hold.remainders.names().map(\.escaped) == ["a.json.rest"])
        #expect(try test.app.hold.present(of: [job.status.inode, 1]) == [job.status.inode])
        try test.app.new.unlink(name.bytes)
        #expect(try test.app.hold.release(file) == nil)
    }

    @Test func `a held file that a power loss left in another folder too leaves hold`() throws {
        let held = test.app.holdDirectory
        for name in ["released.json", "parted.json", "cancelled.json", "kept.json"] { try held.put(name, name) }
        let now = WallTime(nanoseconds: try #require(try held.status(of: Array("kept.json".utf8))).changedAt)
        let failed = try test.folder("failed").makeChild(Array(now.day.utf8), mode: 0o700)
        try held.link(Array("released.json".utf8), to: test.app.new, as: Array("released~2.json".utf8))
        try held.link(Array("cancelled.json".utf8), to: failed, as: Array("cancelled.json".utf8))
        // A link of somebody else's is no move.
        try held.link(Array("parted.json".utf8), to: test.place.directory, as: Array("backup".utf8))
        #expect(try test.app.hold.finishMoves().map(\.escaped) == ["cancelled.json", "released.json"])
        #expect(try test.folder("hold").sortedNames() == ["kept.json", "parted.json"])
        #expect(try test.folder("new").sortedNames() == ["released~2.json"])
        #expect(try failed.names().count == 1)
        #expect(try test.app.hold.finishMoves() == [])
    }

    @Test func `nothing that is parked or waits is overwritten`() throws {
        let name = try fileName("a.json")
        try test.app.holdDirectory.put("a.json", "other")
        try test.app.holdDirectory.put("a~2.json.rest", "other")
        try test.app.new.put("a.json", "mine")
        let parked = try #require(try test.app.hold.park(waiting: try seen(name), id: JobID(bits: 1), leaving: []))
        #expect(parked == ParkedFile(name: try fileName("a~3.json"), rest: try fileName("a~3.json.rest")))
        try test.app.new.put("a~3.json", "newer")
        let file = try #require(try test.app.hold.look(parked.name))
        #expect(try test.app.hold.release(file) == fileName("a~3~2.json"))
        #expect(try test.folder("new").text("a~3~2.json") == "mine")
        #expect(try test.folder("new").text("a~3.json") == "newer")
        #expect(try test.folder("hold").text("a.json") == "other")
        #expect(try test.folder("work/host-a").sortedNames() == [])
    }

    @Test func `the longest of names has room beside it`() throws {
        let name = try fileName(String(repeating: "x", count: 250) + ".json")
        try test.app.new.put(name.bytes, [])
        let parked = try #require(try test.app.hold.park(waiting: try seen(name), id: JobID(bits: 1), leaving: []))
        #expect(parked.name.isJob && parked.name.bytes.count <= 250 && parked.rest?.withoutRest == parked.name)
    }

    @Test func `what is gone is not parked, and leaves nothing beside it`() throws {
        let name = try fileName("a.json")
        try test.app.new.put("a.json", "x")
        let file = try seen(name)
        try test.app.new.unlink(name.bytes)
        #expect(try test.app.hold.park(waiting: file, id: JobID(bits: 1), leaving: []) == nil)
        #expect(try test.app.hold.park(waiting: file, id: JobID(bits: 1), leaving: nil) == nil)
        #expect(try test.folder("hold").sortedNames() == [])
        #expect(try test.folder("work/host-a").sortedNames() == [])
    }

    @Test func `a job is taken out of an archive with its result, which is gone then`() throws {
        let name = try fileName("a.json")
        let place = try test.archive(name, contents: "{}", id: 1, result: #"{"id": "x"}"#)
        #expect(try test.app.archives.days(of: .failed) == [place.day])
        #expect(try test.app.archives.days(of: .done) == [])
        #expect(try test.app.archives.places(of: place.day, in: .failed) == [place])
        #expect(try test.app.archives.resultHead(at: place) == Array(#"{"id": "x"}"#.utf8))
        #expect(try test.app.archives.result(at: place, limit: 4) == nil)
        try test.app.new.put("a.json", "another")
        let out = try #require(try test.app.hold.takeOut(place, as: name, leaving: Array("rest".utf8)))
        #expect(out == ParkedFile(name: try fileName("a~2.json"), rest: try fileName("a.json.rest")))
        #expect(try test.folder("failed/\(place.day)").sortedNames() == [])
        #expect(try test.folder("new").text("a~2.json") == "{}")
        #expect(try test.folder("hold").text("a.json.rest") == "rest")
        #expect(try test.app.hold.takeOut(place, as: name, leaving: nil) == nil)
    }

    @Test func `a file is found in failed by its number, in days that count`() throws {
        let place = try test.archive(try fileName("a.json"), contents: "{}", id: 1, result: "why")
        let inode = try #require(try test.app.archives.status(at: place)).inode
        #expect(try test.app.archives.hasFailed(inode, since: place.day))
        #expect(try test.app.archives.hasFailed(inode, since: "2020-01-01"))
        #expect(try !test.app.archives.hasFailed(inode, since: "9999-01-01"))
        #expect(try !test.app.archives.hasFailed(0, since: place.day))
    }

    @Test func `a parked job that is ended goes to failed, result first`() throws {
        let name = try fileName("a.json")
        try test.app.holdDirectory.put("a.json", "{}")
        let file = try #require(try test.app.hold.look(name))
        let place = try test.app.archives.place(for: name, in: .failed, at: test.noon, withResult: true)
        #expect(try test.app.depart(file, from: .hold, to: place) == .moved(place))
        #expect(try test.folder("failed/\(place.day)").sortedNames() == ["a.json", "a.json.result.json"])
        #expect(try test.folder("hold").sortedNames() == [])
        #expect(try test.folder("work/host-a").sortedNames() == [])
        // Once more is no harm.
        #expect(try test.app.depart(file, from: .hold, to: place) == .moved(place))
        #expect(try test.folder("failed/\(place.day)").sortedNames() == ["a.json", "a.json.result.json"])
    }
}

#if FAILPOINTS
    /// Losses of power while an operator's command is carried out.
    @Suite struct ParkingCrashTests {
        /// Where the only job may be found after a loss of power.
        private static let folders = ["new", "work/host-a", "hold", "failed/2026-11-21"].map { "weather/" + $0 }

        /// Records what a move does, and checks the states that a loss of power may leave before each of its steps and behind
        /// the last.
        private func check(
            _ test: TestSpool, _ order: MemoryVolume.Order, _ body: () throws -> Void,
            _ isGood: (_ places: [String], _ state: CrashState) -> Bool
        ) throws {
            var volume = try MemoryVolume(copying: test.place.directory, order: order)
            let plan = FailPlan(under: test.place.path, isRecording: true)
            plan.install()
            defer { plan.remove() }
            try body()
            let changes = plan.changes
            try volume.crash(during: changes, count: 12) { step, state in
                let places = Self.folders.filter { folder in
                    (state.names(in: folder) ?? []).contains { $0.hasSuffix("a.json") }
                }
                let names = Self.folders.map { state.names(in: $0) ?? [] }
                #expect(!places.isEmpty && isGood(places, state), "step \(step) of \(changes.count): \(names)")
                if step == changes.count { #expect(places.count == 1, "behind the end: \(names)") }
            }
        }

        /// Whether what is left is whole where the job is to be found without the journal.
        private func isRestWhole(_ state: CrashState) -> Bool {
            state.bytes(of: "weather/hold/a.json.rest") == Array("rest".utf8)
        }

        @Test(
            .catalogue("B12 model-crash, a job that an operator holds", checks: [.onePlace], dice: .fixed),
            arguments: MemoryVolume.Order.allCases)
        func `a job is never in hold without what is left of it`(order: MemoryVolume.Order) throws {
            let test = try TestSpool()
            let job = try test.claim(try fileName("a.json"), id: 1)
            try check(test, order, { _ = try test.app.hold.park(job, leaving: Array("rest".utf8)) }) { places, state in
                !places.contains("weather/hold") || isRestWhole(state)
            }
        }

        @Test(
            .catalogue("B12 model-crash, a job that an operator releases", checks: [.onePlace], dice: .fixed),
            arguments: MemoryVolume.Order.allCases)
        func `a released job keeps what is left of it`(order: MemoryVolume.Order) throws {
            let test = try TestSpool()
            let job = try test.claim(try fileName("a.json"), id: 1)
            _ = try test.app.hold.park(job, leaving: Array("rest".utf8))
            let file = try #require(try test.app.hold.look(try fileName("a.json")))
            try check(test, order, { _ = try test.app.hold.release(file) }) { _, state in isRestWhole(state) }
        }

        @Test(
            .catalogue("B12 model-crash, a job that is tried again", checks: [.onePlace], dice: .fixed),
            arguments: MemoryVolume.Order.allCases)
        func `a job that is tried again has what is left of it, or its result`(order: MemoryVolume.Order) throws {
            let test = try TestSpool()
            let place = try test.archive(try fileName("a.json"), contents: "{}", id: 1, result: "why")
            try test.app.archives.settle()
            let body = { _ = try test.app.hold.takeOut(place, as: place.name, leaving: Array("rest".utf8)) }
            try check(test, order, body) { places, state in
                let result = state.bytes(of: "weather/failed/\(place.day)/a.json.result.json")
                return places.contains("weather/new") ? isRestWhole(state) : result == Array("why".utf8)
            }
        }
    }
#endif
