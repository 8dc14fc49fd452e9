import Configuration
import LinuxIO
import Logging
import PushModel
import ServiceProcess
import SpoolModel
import TestSupport
import Testing

@testable import AppEngine
@testable import JobOperations

/// Operators' commands while no daemon is running.
@Suite struct StoppedAppsTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
    }

    /// Runs `body` with the apps of a spool with these files in `new/`.
    private func withApps(
        _ files: [(app: String, name: String)], _ body: (StoppedApps, Directory) async throws -> Void
    ) async throws {
        for app in Set(files.map(\.app)) {
            let new = try folder.directory.makeChild(Array(app.utf8), mode: 0o755).makeChild(
                Array("new".utf8), mode: 0o755)
            for file in files where file.app == app { try new.put(file.name, "{}") }
        }
        var configuration = DaemonConfiguration()
        (configuration.spool, configuration.node) = (folder.path, "node-a")
        configuration.journal.byteCount = 8 << 20
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let apps = try StoppedApps(configuration, logger: logger)
        try await body(apps, folder.directory)
        try apps.close()
    }

    /// Expects that a file is there, or not.
    private func expect(_ path: String..., isThere: Bool = true, in spool: Directory) throws {
        var folder = spool
        for part in path.dropLast() { folder = try folder.openChild(Array(part.utf8)) }
        let status = try folder.status(of: Array(path[path.count - 1].utf8))
        #expect((status != nil) == isThere, "\(path.joined(separator: "/"))")
    }

    @Test func `a waiting job is held and released`() async throws {
        try await withApps([("weather", "a.json")]) { apps, spool in
            let held = await apps.carryOut(ControlRequest(.hold, job: "weather/a.json"))
            #expect(held.kind == .done && held.text == "held as hold/a.json, nothing sent yet")
            try expect("weather", "hold", "a.json", in: spool)
            let again = await apps.carryOut(ControlRequest(.hold, job: "weather/a.json"))
            #expect(again.kind == .refused && again.text == "already in hold/")
            let released = await apps.carryOut(ControlRequest(.release, job: "a.json"))
            #expect(released.kind == .done && released.app == "weather")
            try expect("weather", "new", "a.json", in: spool)
        }
    }

    @Test func `a waiting job is cancelled once, and retried`() async throws {
        try await withApps([("weather", "a.json")]) { apps, spool in
            let day = WallTime.now.day
            let cancelled = await apps.carryOut(ControlRequest(.cancel, job: "a.json"))
            #expect(cancelled.kind == .done && cancelled.text == "cancelled, nothing was sent")
            try expect("weather", "failed", day, "a.json.result.json", in: spool)
            let again = await apps.carryOut(ControlRequest(.cancel, job: "a.json"))
            #expect(again.kind == .refused && again.text == "already in failed/\(day)/")
            var retry = ControlRequest(.retry, job: "a.json")
            retry.isWhole = true
            #expect(await apps.carryOut(retry).kind == .done)
            try expect("weather", "new", "a.json", in: spool)
        }
    }

    @Test(arguments: [ControlRequest.Command.hold, .cancel, .expire])
    func `a name that two apps have is refused, and both are named`(command: ControlRequest.Command) async throws {
        try await withApps([("news", "a.json"), ("weather", "a.json")]) { apps, spool in
            let answer = await apps.carryOut(ControlRequest(command, job: "a.json"))
            #expect(answer.kind == .refused && answer.text == "2 jobs match: news/new/a.json, weather/new/a.json")
            for app in ["news", "weather"] { try expect(app, "new", "a.json", in: spool) }
            #expect(await apps.carryOut(ControlRequest(command, job: "a.json", app: "news")).kind == .done)
        }
    }

    @Test func `what is no job, or of no app, is answered as such`() async throws {
        try await withApps([("weather", "a.json")]) { apps, _ in
            #expect(await apps.carryOut(ControlRequest(.hold, job: "b.json")).kind == .notFound)
            #expect(await apps.carryOut(ControlRequest(.hold, job: "news/a.json")).kind == .notFound)
            #expect(await apps.carryOut(ControlRequest(.hold, job: "")).text == "not a job")
            #expect(await apps.carryOut(ControlRequest(.pause, app: "news")).text == "no such app")
        }
    }

    @Test func `an app is paused and resumed`() async throws {
        try await withApps([("weather", "a.json")]) { apps, spool in
            #expect(await apps.carryOut(ControlRequest(.pause)).text == "paused: weather")
            try expect("weather", "paused", in: spool)
            #expect(await apps.carryOut(ControlRequest(.resume, app: "weather")).text == "resumed")
            try expect("weather", "paused", isThere: false, in: spool)
        }
    }
}
