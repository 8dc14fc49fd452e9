import LinuxIO
import SpoolModel
import SpoolStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SpoolWatchTests {
    let spool: TestSpool

    init() throws {
        spool = try TestSpool()
    }

    @Test func `a job that is renamed in is told as published`() async throws {
        let watch = try SpoolWatch(spool.spool)
        try spool.app.staging.put("a.json", "{}")
        try spool.app.staging.rename(Array("a.json".utf8), to: spool.app.new, as: Array("a.json".utf8))
        try await expect(.job(app: "weather", name: try fileName("a.json"), change: .published), from: watch)
        watch.stop()
    }

    @Test func `a job that is written in place is told as such`() async throws {
        let watch = try SpoolWatch(spool.spool)
        try spool.app.new.put("a.json", "{}")
        let hints = try await expect(.job(app: "weather", name: try fileName("a.json"), change: .closed), from: watch)
        #expect(hints.contains(.job(app: "weather", name: try fileName("a.json"), change: .created)))
        watch.stop()
    }

    @Test func `rsync's temporary files are told too`() async throws {
        let watch = try SpoolWatch(spool.spool)
        try spool.app.new.put(".a.json.X1y2Z3")
        try await expect(.job(app: "weather", name: try fileName(".a.json.X1y2Z3"), change: .created), from: watch)
        watch.stop()
    }

    @Test func `an app that appears is followed at once`() async throws {
        let watch = try SpoolWatch(spool.spool)
        let new = try spool.spool.app("late").new
        try await expect(.app("late"), from: watch)
        // The app's hint may have come before its new/ was there: then another follows, and a scan finds the job.
        try new.put("a.json", "{}")
        var isNoticed = false
        while !isNoticed {
            for hint in try #require(await watch.next()) {
                if case .job(app: "late", _, _) = hint { isNoticed = true }
                if hint == .app("late") { isNoticed = try new.names().contains(Array("a.json".utf8)) }
            }
        }
        watch.stop()
    }

    @Test func `an app that is moved away and back is followed again`() async throws {
        let root = spool.spool.root
        let watch = try SpoolWatch(spool.spool)
        try root.rename(Array("weather".utf8), to: root, as: Array(".away".utf8))
        try await expect(.appGone("weather"), from: watch)
        try root.rename(Array(".away".utf8), to: root, as: Array("weather".utf8))
        try await expect(.app("weather"), from: watch)
        try spool.app.new.put("a.json", "{}")
        try await expect(.job(app: "weather", name: try fileName("a.json"), change: .closed), from: watch)
        #expect(watch.unwatched.isEmpty && watch.rootFault == nil)
        watch.stop()
    }

    @Test func `a new folder in place of the old one is followed`() async throws {
        let watch = try SpoolWatch(spool.spool)
        let app = try Directory.open(path: spool.place.path + "/weather")
        try app.rename(Array("new".utf8), to: app, as: Array("old".utf8))
        let new = try app.makeChild(Array("new".utf8), mode: 0o770)
        try await expect(.app("weather"), from: watch)
        try await settle(watch, in: new)
        watch.stop()
    }

    @Test func `lost events are told as everything`() async throws {
        let watch = try SpoolWatch(spool.spool, capacity: 4)
        for number in 0..<100 { try spool.app.new.put("\(number).json", "{}") }
        try await expect(.everything, from: watch)
        watch.stop()
    }

    /// Waits for a hint, and returns all that came up to it.
    @discardableResult
    private func expect(_ hint: SpoolHint, from watch: SpoolWatch) async throws -> [SpoolHint] {
        var seen: [SpoolHint] = []
        while !seen.contains(hint) { seen += try #require(await watch.next()) }
        return seen
    }

    /// Drops jobs until one is told: the watch follows a folder only once it has heard of it.
    private func settle(_ watch: SpoolWatch, in new: Directory) async throws {
        try new.put("a.json", "{}")
        while true {
            for hint in try #require(await watch.next()) {
                if case .job = hint { return }
                if hint == .app("weather"), try new.names().contains(Array("a.json".utf8)) { return }
            }
        }
    }
}
