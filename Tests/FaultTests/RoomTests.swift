import Foundation
import GatewaySimulator
import Glibc
import TestSupport
import Testing

/// What one app or one job does to the others: with the smallest journal, which is full soonest.
@Suite(.serialized) struct RoomTests {
    private static let smallJournal = "journal: {size: 8MiB}\nlimits: {free_space: 1MiB}"

    /// Two apps, the first of even jobs.
    private static func setup(_ change: (inout Bench.Setup) -> Void = { _ in }) -> Bench.Setup {
        var setup = Bench.Setup(window: 500, apps: ["weather", "news"], daemon: smallJournal)
        change(&setup)
        return setup
    }

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
        try await Bench.running(Self.setup()) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.put("huge.jsonl", alternating(count), in: "weather")
                try await eventually("the long job has begun", within: .seconds(200)) {
                    await bench.simulator.ledger.arrivedCount > 1_000
                }
                for number in 0..<10 { try bench.drop(Drop(number: 2 * number + 1, count: 3)) }
                try await eventually("others end meanwhile") {
                    bench.archived("news").count == 10 || bench.names(in: "weather/done").isEmpty == false
                }
                #expect(bench.archived("news").count == 10 && !bench.claimed("weather").isEmpty)
                try await eventually("all of it", within: .seconds(isFullRun ? 500 : 120)) {
                    bench.archived("weather").count == 2
                }
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
            #expect(await bench.simulator.ledger.arrivedCount == count / 2 + 30)
            #expect(try bench.lines("weather").filter { $0.kind == "notification" }.count == count / 2)
            report("J68 journal-room: a job of \(count) with \(count / 2) refusals: ok, \(bench.age) s")
        }
    }

    @Test(.enabled(if: Immutable.isPossible, "needs chattr +i"))
    func `an app whose feedback cannot be written holds up no other, and goes on when it can`() async throws {
        try await Bench.running(
            Self.setup {
                $0.script = "token=\(Recipient(job: 2, index: 0).token) answer status=400 reason=BadDeviceToken"
            }
        ) { bench in
            try await bench.withDaemon { daemon in
                let feedback = try await bench.freezeFeedback(of: "weather", daemon)
                defer { _ = Immutable.set(false, feedback) }
                try bench.drop(Drop(number: 2, count: 1))
                // One and a half times what the journal has room for.
                let numbers = (0..<trials(420, full: 1_500)).map { 2 * $0 + 101 }
                for number in numbers { try bench.drop(Drop(number: number, count: 1, padding: 30_000)) }
                try await eventually("the other app's jobs", within: .seconds(120)) {
                    bench.archived("news").count == numbers.count
                }
                #expect(bench.archived("weather").isEmpty)
                #expect(Immutable.set(false, feedback))
                try await eventually("the rest") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("J69 stalled-feedback", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    /// Files that fail, each with a result file: one whose only token is none, and one that is empty.
    enum Failing: String, CaseIterable {
        case rejected, empty
        var text: String { self == .empty ? "" : "{\"defaults\":{\"alert\":\"a\"}}\n{\"token\":\"none!\"}\n" }
    }

    @Test(arguments: Failing.allCases)
    func `a disk that is slow with the result files of one app does not delay another`(_ kind: Failing) async throws {
        try await Bench.running(Self.setup()) { bench in
            let sabotage = try await Sabotage(on: bench)
            try sabotage.begin(.slowResult)
            try await bench.withDaemon(sabotage.environment) { daemon in
                try await daemon.says("app started")
                let count = 150
                for number in 0..<count { try bench.put("bad\(number).jsonl", kind.text, in: "weather") }
                try await eventually("results are written") { bench.archived("weather").count > 2 }
                for number in 0..<5 {
                    try bench.drop(Drop(number: 2 * number + 1, count: 1))
                    try await eventually("the other app's job") { bench.archived("news").count == number + 1 }
                }
                let failedCount = bench.archived("weather").count { !$0.hasSuffix(".result.json") }
                #expect(failedCount < count * 2 / 3, "the other app's jobs waited for the results of \(failedCount)")
                try sabotage.end(.slowResult)
                try await eventually("the rest") { bench.archived("weather").count == 2 * count }
                #expect(try await daemon.stop() == 0)
                report("J79 slow-results \(kind): \(failedCount) of \(count) failed beside 5 jobs: ok, \(bench.age) s")
            }
        }
    }

    @Test(.enabled(if: Immutable.isPossible, "needs chattr +i"))
    func `an app whose feedback cannot be written reads no further than its lines have room`() async throws {
        // At least three times as many bytes of lines as an app may keep.
        let count = trials(120_000, full: 250_000)
        try await Bench.running(Self.setup()) { bench in
            try await bench.withDaemon { daemon in
                let feedback = try await bench.freezeFeedback(of: "weather", daemon)
                defer { _ = Immutable.set(false, feedback) }
                let line = #"{"token":"none!"}"# + "\n"
                let head = #"{"defaults":{"alert":"a"}}"# + "\n"
                try bench.put("huge.jsonl", head + String(repeating: line, count: count), in: "weather")
                let settledCount = try await bench.restingCount(of: "weather")
                #expect(settledCount < count / 2, "so many are in memory")
                let waits = "waits for feedback/ to be written"
                try await daemon.says("app \(waits)")
                try await eventually("a reason in the status") { try bench.status().contains(waits) }
                for number in 0..<10 { try bench.drop(Drop(number: 2 * number + 1, count: 3)) }
                try await eventually("the other app's jobs") { bench.archived("news").count == 10 }
                #expect(Immutable.set(false, feedback))
                try await eventually("all of it", within: .seconds(200)) { bench.archived("weather").count == 2 }
                try await daemon.says("app has room again")
                try await eventually("no reason in the status") { try !bench.status().contains(waits) }
                #expect(daemon.log.components(separatedBy: waits).count == 2, "told once")
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
            let told = try bench.lines("weather").filter { $0.kind == "notification" }.compactMap(\.index)
            #expect(told.count == count && Set(told).count == count)
            report("J69 stalled-feedback, one long job: ok, \(bench.age) s")
        }
    }

    @Test(.enabled(if: Immutable.isPossible, "needs chattr +i"))
    func `an app that waits for room in the journal to read more of a job says so until there is some`() async throws {
        let script = "every=1 answer status=400 reason=BadDeviceToken"
        try await Bench.running(
            Self.setup { ($0.window, $0.apps, $0.script) = (4, ["weather"], script) }
        ) { bench in
            try await bench.withDaemon { daemon in
                let feedback = try await bench.freezeFeedback(of: "weather", daemon)
                defer { _ = Immutable.set(false, feedback) }
                // Not so much that none may be claimed any more: that would be the reason then.
                for number in 1...18 { try bench.drop(Drop(number: number, count: 1, padding: 30_000)) }
                try await eventually("all are claimed") { bench.claimed("weather").count == 18 }
                try bench.drop(Drop(number: 100, count: 30_000, isInLines: true))
                let waits = "waits for room in the journal to send more"
                try await daemon.says("app \(waits)", within: .seconds(200))
                try await eventually("a reason in the status") { try bench.status().contains(waits) }
                #expect(Immutable.set(false, feedback))
                try await daemon.says("app has room again")
                try await eventually("no reason in the status") { try !bench.status().contains(waits) }
                try await eventually("all of it", within: .seconds(200)) { try bench.isIdle() }
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
            let verdict = try await bench.judge("J69 stalled-feedback, a job that is read", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test func `an app whose gateway is down holds up no other, and goes on when it is back`() async throws {
        try await Bench.running(Self.setup()) { bench in
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
                try await eventually("the other app's jobs", within: .seconds(120)) {
                    bench.archived("news").count == count
                }
                #expect(bench.archived("weather").isEmpty && bench.names(in: "weather/new").count > count / 2)
                try bench.write("etc/apps/weather.yaml", file)
                try await eventually("the rest", within: .seconds(120)) { try bench.isIdle() }
                try await daemon.says("app has room again")
                try await eventually("no reason in the status") { try !bench.status().contains(waits) }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("J70 gateway-down", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    @Test(arguments: [false, true])
    func `jobs that a gateway keeps from being sent go back to new when others want their room`(
        restarts: Bool
    ) async throws {
        try await Bench.running(
            Self.setup {
                $0.latency = .milliseconds(200)
                $0.daemon += "\nlog: {level: info}"
            }
        ) { bench in
            let file = try String(contentsOfFile: bench.home + "/etc/apps/weather.yaml", encoding: .utf8)
            var lastDrop = Date.distantPast
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.write("etc/apps/weather.yaml", bench.withoutGateway(file))
                try await daemon.says("configuration read")
                // The gateway is down, which is not known before the first connection fails.
                for number in 1...60 { try bench.drop(Drop(number: 2 * number, count: 1, padding: 30_000)) }
                try await eventually("claimed") { bench.claimed("weather").count > 8 }
                let claimedCount = bench.claimed("weather").count
                lastDrop = Date.now
                for number in 1...80 { try bench.drop(Drop(number: 2 * number + 1, count: 1, padding: 60_000)) }
                try await daemon.says("goes back to new/")
                try await eventually("the other app's jobs", within: .seconds(120)) {
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
        try await eventually("the rest", within: .seconds(120)) { try bench.isIdle() }
        #expect(try await daemon.stop() == 0)
    }

    @Test(arguments: ["flipped", "cut"])
    func `damage to the journal sends nothing again that must not be`(_ damage: String) async throws {
        var setup = Self.setup { ($0.app, $0.latency) = ("on_doubt: report", .milliseconds(30)) }
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

extension Bench {
    /// Renames a file into place that no drop describes.
    fileprivate func put(_ name: String, _ text: String, in app: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(seenGround)/staged/\(name)"))
        try FileManager.default.moveItem(
            atPath: "\(seenGround)/staged/\(name)", toPath: "\(spool)/\(app)/new/\(name)")
    }

    /// Has nothing be created in an app's `feedback/`, once the daemon has made that.
    ///
    /// - Returns: Its path, to make it changeable again.
    fileprivate func freezeFeedback(of app: String, _ daemon: Child) async throws -> String {
        let feedback = "\(spool)/\(app)/feedback"
        try await daemon.says("app started")
        try await eventually("folders") { FileManager.default.fileExists(atPath: feedback) }
        try #require(Immutable.set(true, feedback))
        return feedback
    }

    /// How many notifications of an app's only job have an outcome, as its status says, once that stays so for seconds.
    fileprivate func restingCount(of app: String) async throws -> Int {
        var counts: [Int] = []
        try await eventually("a job that rests, \(counts)", within: .seconds(120)) {
            try await moment(.seconds(1))
            counts.append(try settledCount(of: app) ?? -1)
            return counts.count > 3 && counts.suffix(3).allSatisfy { $0 == counts.last } && counts.max() != -1
        }
        return counts.max() ?? 0
    }

    /// What the daemon says of itself.
    fileprivate func status() throws -> String {
        try String(contentsOfFile: "\(spool)/.pushspool/public/node-a/status.json", encoding: .utf8)
            .replacing(#"\/"#, with: "/")
    }

    private func settledCount(of app: String) throws -> Int? {
        let status = try JSONSerialization.jsonObject(with: Data(try status().utf8)) as? [String: Any]
        let apps = status?["apps"] as? [[String: Any]]
        let jobs = apps?.first { $0["app"] as? String == app }?["progress"] as? [[String: Any]]
        return jobs?.first?["settled"] as? Int
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
