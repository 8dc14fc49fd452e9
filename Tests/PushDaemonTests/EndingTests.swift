import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// Apps that end: everything that their gateway has settled by then is recorded.
@Suite struct EndingTests {
    @Test func `what the gateway never answered is told as unknown by a daemon that stops`() async throws {
        try await Modern("withhold").running { bench in
            try bench.configureModern("on_doubt: report")
            try await bench.withDaemon(drain: 1) { daemon in
                try await daemon.says("app started")
                try bench.drop("silent.json", job(1), app: "modern")
                _ = try await bench.accepted(1)
                #expect(try await daemon.stop() == 0)
                #expect(try bench.lines("notification", app: "modern").map(\.outcome) == ["unknown"])
                #expect(try bench.lines("job", app: "modern").map(\.unknown) == [1])
                #expect(bench.jobs(in: "done", app: "modern") == ["silent.json"])
                #expect(!daemon.log.contains("stay in work/"), "\(daemon.log)")
            }
        }
    }

    @Test func `what is in flight when an app's file is removed is recorded before the app ends`() async throws {
        var manner = HTTP2Manner()
        (manner.latency, manner.streamLimitBeforeToken) = (.seconds(1), nil)
        try await Modern(manner: manner).serving { bench, daemon in
            try bench.drop("flies.json", job(tokens: 0..<100), app: "modern")
            _ = try await bench.accepted(100)
            try FileManager.default.removeItem(atPath: bench.path + "/etc/apps/modern.yaml")
            daemon.send(SIGHUP)
            try await daemon.says("app removed from the configuration")
            #expect(try await bench.end(of: "flies.json", app: "modern").accepted == 100)
            #expect(bench.names(in: "modern/work/node-a").isEmpty)
        }
    }
}

/// Folders that are moved, replaced or removed under a running daemon.
@Suite struct MovedFolderTests {
    /// What becomes of a folder.
    enum Event: String, CaseIterable {
        case moved, replaced
    }

    @Test(arguments: ["new", "tmp", "hold", "work", "work/node-a", "done", "failed", "feedback"], Event.allCases)
    func `a job is sent and archived although a folder of its app was moved`(folder: String, event: Event) async throws
    {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.drop("first.json", job(1))
            _ = try await bench.end(of: "first.json")
            let (files, path) = (FileManager.default, "\(bench.path)/spool/weather/\(folder)")
            try files.moveItem(atPath: path, toPath: bench.path + "/elsewhere")
            if event == .replaced { try files.createDirectory(atPath: path, withIntermediateDirectories: false) }
            if !["done", "failed", "feedback"].contains(folder) {
                try await daemon.says("app started", times: 2)
                #expect(daemon.log.contains("opening the app again app=weather path="), "\(daemon.log)")
            }
            try bench.drop("second.json", job(2))
            #expect(try await bench.end(of: "second.json").accepted == 1)
            try bench.drop("bad.json", "{")
            #expect(try await bench.end(of: "bad.json").state == "failed")
            #expect(await bench.simulator.ledger.acceptedCount == 2)
        }
    }

    @Test func `a job under way when new/ is replaced is sent once`() async throws {
        try await Bench.serving(try .init(app: "binary: {confirm_after: 2s}")) { bench, daemon in
            try bench.drop("under-way.json", job(1))
            _ = try await bench.accepted(1)
            let new = bench.path + "/spool/weather/new"
            try FileManager.default.moveItem(atPath: new, toPath: bench.path + "/elsewhere")
            try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
            try bench.drop("after.json", job(2))
            #expect(try await bench.end(of: "after.json").accepted == 1)
            #expect(try await bench.end(of: "under-way.json").accepted == 1)
            #expect(await bench.simulator.ledger.acceptedCount == 2)
        }
    }

    @Test func `a daemon whose work folder is removed says why a job cannot be claimed`() async throws {
        // The folder is looked for more rarely than this test lasts.
        var setup = try Bench.Setup()
        setup.rescan = "1h"
        try await Bench.serving(setup) { bench, daemon in
            // The scan at the start would make the folder again.
            try bench.drop("first.json", job(1))
            _ = try await bench.end(of: "first.json")
            try FileManager.default.removeItem(atPath: bench.path + "/spool/weather/work/node-a")
            try bench.drop("a.json", job(2))
            try await daemon.says("job cannot be claimed")
            #expect(daemon.log.contains("work/node-a"), "\(daemon.log)")
        }
    }

    /// Folders of the daemon, from the bench on.
    @Test(arguments: ["spool", "spool/.pushspool", "spool/.pushspool/node-a", "state"], Event.allCases)
    func `a daemon whose folder is moved ends with 75, and the next one serves the folder that is there`(
        folder: String, event: Event
    ) async throws {
        try await Bench.running(try .init()) { bench in
            let path = "\(bench.path)/\(folder)"
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("first.json", job(1))
                _ = try await bench.end(of: "first.json")
                try FileManager.default.moveItem(atPath: path, toPath: bench.path + "/elsewhere")
                if event == .replaced {
                    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                }
                #expect(try await daemon.end() == 75, "\(daemon.log)")
                #expect(daemon.log.contains("moved, replaced or removed while the daemon ran"), "\(daemon.log)")
            }
            if folder == "spool", event == .moved {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            if event == .replaced {
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("second.json", job(2))
                #expect(try await bench.end(of: "second.json").accepted == 1)
                #expect(try await daemon.stop() == 0, "\(daemon.log)")
            }
        }
    }

    /// What becomes of the journal of a daemon whose job is on the wire.
    enum JournalEvent: String, CaseIterable {
        case allFoldersRemoved, folderRemoved, folderMoved, removed, moved

        func happen(in spool: String) throws {
            let (files, folder) = (FileManager.default, spool + "/.pushspool/node-a")
            let journal = folder + "/journal"
            switch self {
            case .allFoldersRemoved: try files.removeItem(atPath: spool + "/.pushspool")
            case .folderRemoved: try files.removeItem(atPath: folder)
            case .folderMoved: try files.moveItem(atPath: folder, toPath: spool + "/../elsewhere")
            case .removed: try files.removeItem(atPath: journal)
            case .moved: try files.moveItem(atPath: journal, toPath: journal + ".old")
            }
        }
    }

    @Test(arguments: JournalEvent.allCases)
    func `a job under way when the journal is moved or removed is finished, and sent once`(event: JournalEvent)
        async throws
    {
        try await Bench.running(try .init(app: "binary: {confirm_after: 3s}")) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("under-way.json", job(1))
                _ = try await bench.accepted(1)
                try event.happen(in: bench.path + "/spool")
                #expect(try await daemon.end() == 75, "\(daemon.log)")
                #expect(daemon.log.contains("moved, replaced or removed while the daemon ran"), "\(daemon.log)")
                #expect(bench.jobs(in: "done") == ["under-way.json"])
            }
            try await bench.withDaemon { daemon in
                try bench.drop("after.json", job(2))
                #expect(try await bench.end(of: "after.json").accepted == 1)
                #expect(!daemon.log.contains("job in work/"), "\(daemon.log)")
                #expect(await bench.simulator.ledger.acceptedCount == 2)
            }
        }
    }

    @Test func `a job in work/ whose journal was removed is not said to be unsent`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 60s}")) { bench in
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                try bench.drop("under-way.json", job(1))
                _ = try await bench.accepted(1)
                try await daemon.destroy()
            }
            try JournalEvent.removed.happen(in: bench.path + "/spool")
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("job in work/ is sent from its beginning")
                #expect(!daemon.log.contains("never sent"), "\(daemon.log)")
            }
        }
    }

    @Test func `the folder of public files is made again when it was removed`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let folder = bench.path + "/spool/.pushspool/public"
            try await eventually("the first") { FileManager.default.fileExists(atPath: folder + "/node-a/status.json") }
            try FileManager.default.removeItem(atPath: folder)
            try await eventually("the next", within: .seconds(60)) {
                ["status.json", "apps.json", "metrics.prom"].allSatisfy {
                    FileManager.default.fileExists(atPath: "\(folder)/node-a/\($0)")
                }
            }
        }
    }

    @Test func `the control socket is made again when it was removed`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try await eventually("the socket") {
                FileManager.default.fileExists(atPath: bench.path + "/run/node-a.sock")
            }
            try FileManager.default.removeItem(atPath: bench.path + "/run")
            try FileManager.default.createDirectory(atPath: bench.path + "/run", withIntermediateDirectories: false)
            try await eventually("the next one") {
                FileManager.default.fileExists(atPath: bench.path + "/run/node-a.sock")
            }
            #expect(try await bench.operate("pause", "weather").code == 0)
        }
    }
}
