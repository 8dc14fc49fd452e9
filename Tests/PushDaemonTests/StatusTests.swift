import APNSModel
import Foundation
import LinuxIO
import SpoolModel
import TestSupport
import Testing

@testable import PushDaemon

/// What the daemon says of itself.
@Suite struct StatusTests {
    @Test func `status shows each app, and an end where there is no daemon`() async throws {
        try await Bench.running(try .init()) { bench in
            let command = ["status", "--config", bench.path + "/etc/pushspool.yaml"]
            let before = try await bench.run(command)
            #expect(before.code == 75 && before.log.contains("no daemon says anything"), "\(before)")
            try bench.configureApp("faulty", "wrong: key")
            try FileManager.default.createDirectory(
                atPath: bench.path + "/spool/idle", withIntermediateDirectories: true)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await eventually("the status") {
                    let end = try await bench.run(command)
                    return end.code == 0 && end.text.contains("weather  sending")
                }
                let end = try await bench.run(command)
                #expect(end.text.contains("faulty   broken") && end.text.contains("idle     unconfigured"), "\(end)")
                let json = try await bench.run(command + ["--json"])
                #expect(json.code == 0 && json.text.hasPrefix(#"{"v":1,"node":"node-a","pid":"#), "\(json)")
                #expect(try await daemon.stop() == 0)
            }
            #expect(try await bench.run(command).code == 75)
        }
    }

    @Test func `a status that was left by a daemon that was killed is not taken for news`() async throws {
        try await Bench.running(try .init()) { bench in
            let folder = bench.path + "/spool/.pushspool/public/node-a"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let times = #""started_at":"2026-01-01T00:00:00Z","written_at":"2026-01-01T00:00:00Z""#
            try Data(#"{"v":1,"node":"node-a","pid":1,"state":"running",\#(times),"apps":[]}"#.utf8)
                .write(to: URL(fileURLWithPath: folder + "/status.json"))
            let end = try await bench.run(["status", "--config", bench.path + "/etc/pushspool.yaml"])
            #expect(end.code == 75 && end.log.contains("has said nothing for"), "\(end)")
        }
    }

    @Test func `a thread stands still when one piece of work takes ten seconds`() {
        let looks: [(second: Int, finished: Int, isAtWork: Bool)] = [
            (0, 7, true), (9, 7, true), (10, 7, true), (11, 7, true), (12, 8, true), (13, 8, false), (99, 8, false),
        ]
        var standstill = Standstill()
        var found: [String] = []
        for look in looks {
            let pulse = WorkerThread.Pulse(finishedCount: look.finished, isAtWork: look.isAtWork)
            let isNews = standstill.note(pulse, at: .zero + .seconds(look.second))
            found.append("\(isNews ? "news" : "no news"), \(standstill.begin == nil ? "goes on" : "stands")")
        }
        #expect(
            found == [
                "no news, goes on", "no news, goes on", "news, stands", "no news, stands", "news, goes on",
                "no news, goes on", "no news, goes on",
            ])
    }

    @Test func `a box that is full asks for a scan`() throws {
        let box = HintBox()
        let name = try #require(FileName(bytes: Array("a.json".utf8)))
        for _ in 0..<4097 { box.add(name, .movedIn) }
        let content = box.take()
        #expect(content.hints.count == 4096 && content.wantsScan)
        #expect(box.take().hints.isEmpty && !box.take().wantsScan)
    }
}
