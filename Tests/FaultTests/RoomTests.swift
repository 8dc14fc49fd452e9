import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// A journal that is full, or damaged, because of one app or one job: the others go on.
@Suite(.serialized) struct RoomTests {
    /// A file of lines, every other one of which has a token that is none.
    private func alternating(_ count: Int) -> String {
        let lines = (0..<count).map { index in
            index % 2 == 0
                ? #"{"token":"\#(Recipient(job: 1_000_000, index: index).token)"}"# : #"{"token":"none!"}"#
        }
        return ([#"{"defaults":{"alert":"a"}}"#] + lines + [""]).joined(separator: "\n")
    }

    @Test func `a job with more refusals than the journal has room for ends, and others beside it`() async throws {
        // Twice as many as filled all of it when each stood in the way of the ring.
        let count = trials(160_000, full: 400_000)
        try await Bench.running(.smallJournal()) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.put("huge.jsonl", alternating(count), in: "weather")
                try await eventually("the long job has begun") {
                    await bench.simulator.ledger.arrivedCount > 1_000
                }
                for number in 0..<10 { try bench.drop(Drop(number: 2 * number + 1, count: 3)) }
                try await eventually("others end meanwhile") {
                    bench.archived("news").count == 10 || bench.names(in: "weather/done").isEmpty == false
                }
                #expect(bench.archived("news").count == 10 && !bench.claimed("weather").isEmpty)
                try await eventually("all of it", within: isFullRun ? .seconds(500) : patience) {
                    bench.archived("weather").count == 2
                }
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
            #expect(await bench.simulator.ledger.arrivedCount == count / 2 + 30)
            #expect(try bench.lines("weather").filter { $0.kind == "notification" }.count == count / 2)
            report("J68 journal-room: a job of \(count) with \(count / 2) refusals: ok, \(bench.age) s")
        }
    }

    @Test func `an app whose gateway is down holds up no other, and goes on when it is back`() async throws {
        try await Bench.running(.smallJournal()) { bench in
            let file = try String(contentsOfFile: bench.home + "/etc/apps/weather.yaml", encoding: .utf8)
            try bench.write("etc/apps/weather.yaml", bench.withoutGateway(file))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let count = trials(420, full: 1_000)
                for number in 1...count { try bench.drop(Drop(number: 2 * number, count: 1, padding: 30_000)) }
                let waits = "waits for room in the journal to claim more jobs"
                try await daemon.says("app \(waits)")
                try await eventually("a reason in the status") { try bench.status().contains(waits) }
                for number in 1...count { try bench.drop(Drop(number: 2 * number + 1, count: 1, padding: 30_000)) }
                try await eventually("the other app's jobs") {
                    bench.archived("news").count == count
                }
                #expect(bench.archived("weather").isEmpty && bench.names(in: "weather/new").count > count / 2)
                try bench.write("etc/apps/weather.yaml", file)
                try await eventually("the rest") { try bench.isIdle() }
                try await daemon.says("app no longer waits for room")
                try await eventually("no reason in the status") { try !bench.status().contains(waits) }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("J70 gateway-down", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `files that wait for room are not kept waiting for the next feedback file`() async throws {
        try await Bench.running(.smallJournal()) { bench in
            let file = try String(contentsOfFile: bench.home + "/etc/pushspool.yaml", encoding: .utf8)
            try bench.write("etc/pushspool.yaml", file.replacing("every: 20ms", with: "every: 1h"))
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                // Several times as many as there is room for.
                for number in 1...420 { try bench.drop(Drop(number: number, count: 1, padding: 30_000)) }
                try await eventually("all are taken") {
                    bench.names(in: "weather/new").isEmpty && bench.names(in: "news/new").isEmpty
                }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("J70 room for those that wait", allowance: 0)
            #expect(verdict.isGood && verdict.jobCount == 420, "\(verdict)")
        }
    }

    @Test(arguments: [false, true])
    func `jobs that a gateway keeps from being sent go back to new when others want their room`(
        restarts: Bool
    ) async throws {
        try await Bench.running(
            .smallJournal {
                $0.latency = .milliseconds(200)
                $0.daemon += "\nlog: {level: info}"
            }
        ) { bench in
            let file = try String(contentsOfFile: bench.home + "/etc/apps/weather.yaml", encoding: .utf8)
            var lastDrop = Date.distantPast
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.write("etc/apps/weather.yaml", bench.withoutGateway(file))
                try await daemon.says("configuration loaded")
                // The gateway is down, which is not known before the first connection fails.
                for number in 1...60 { try bench.drop(Drop(number: 2 * number, count: 1, padding: 30_000)) }
                try await eventually("claimed") { bench.claimed("weather").count > 8 }
                let claimedCount = bench.claimed("weather").count
                lastDrop = Date.now
                for number in 1...80 { try bench.drop(Drop(number: 2 * number + 1, count: 1, padding: 60_000)) }
                try await daemon.says("moved back to new/")
                try await eventually("the other app's jobs") {
                    bench.archived("news").count == 80
                }
                #expect(bench.claimed("weather").count < claimedCount)
                if restarts { return #expect(try await daemon.stop() == 0) }
                try bench.write("etc/apps/weather.yaml", file)
                try await end(daemon, on: bench)
            }
            if restarts {
                try bench.write("etc/apps/weather.yaml", file)
                try await bench.withDaemon { daemon in try await end(daemon, on: bench) }
            }
            let verdict = try await bench.judge("J70 gateway-down, jobs go back", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
            // The way back changes the file's time, but not when it was dropped.
            let drops = try bench.lines("weather").filter { $0.kind == "job" }.compactMap(\.dropped_at)
            let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            #expect(try drops.count == 60 && drops.allSatisfy { try format.parse($0) <= lastDrop })
        }
    }

    /// Lets a daemon send all that is left, and stops it.
    private func end(_ daemon: Child, on bench: Bench) async throws {
        try await eventually("the rest") { try bench.isIdle() }
        #expect(try await daemon.stop() == 0)
    }

    @Test(arguments: ["flipped", "cut"])
    func `damage to the journal sends nothing again that must not be`(_ damage: String) async throws {
        var setup = Bench.Setup.smallJournal { ($0.app, $0.latency) = ("on_doubt: report", .milliseconds(30)) }
        setup.apps = ["weather"]
        try await Bench.running(setup) { [setup] bench in
            try await bench.withDaemon { daemon in
                for number in 1...4 { try bench.drop(Drop(number: number, count: 4_000)) }
                try await bench.arrived(3_000)
                try await daemon.destroy()
            }
            let path = bench.spool + "/.pushspool/node-a/journal"
            if damage == "cut" {
                try #require(unsafe truncate(path, 4 << 20) == 0)
            } else {
                try bench.flipBit(of: path, at: 4096 + 1_500)
            }
            try await bench.withDaemon { daemon in
                try await daemon.says("journal is damaged")
                try await eventually("held") { bench.names(in: "weather/hold").count == 4 }
                #expect(try await daemon.stop() == 0)
            }
            let entries = try await bench.entries()
            #expect(Set(entries.map(\.token)).count == entries.count, "\(setup.window)")
            report("J75 damaged-journal, \(damage): I3 ok; \(entries.count) sent, none twice")
        }
    }
}

extension Bench.Setup {
    /// Two apps, the first of even jobs, and the smallest journal, which is full soonest.
    static func smallJournal(_ change: (inout Bench.Setup) -> Void = { _ in }) -> Bench.Setup {
        var setup = Bench.Setup(
            window: 500, apps: ["weather", "news"], daemon: "journal: {size: 8MiB}\nlimits: {free_space: 1MiB}")
        change(&setup)
        return setup
    }
}

extension Bench {
    /// Renames a file into place that no drop describes.
    func put(_ name: String, _ text: String, in app: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(seenGround)/staged/\(name)"))
        try FileManager.default.moveItem(
            atPath: "\(seenGround)/staged/\(name)", toPath: "\(spool)/\(app)/new/\(name)")
    }

    /// What the daemon says of itself.
    func status() throws -> String {
        try String(contentsOfFile: "\(spool)/.pushspool/public/node-a/status.json", encoding: .utf8)
            .replacing(#"\/"#, with: "/")
    }

    /// An app's file with a gateway where nothing listens.
    fileprivate func withoutGateway(_ file: String) -> String {
        let lines = file.split(separator: "\n").map { $0.hasPrefix("gateway:") ? "gateway: localhost:1" : $0 }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Changes one bit of a file.
    fileprivate func flipBit(of path: String, at offset: UInt64) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: offset)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data([byte ^ 0x10]))
        try file.close()
    }
}
