import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// What operators do with jobs that are being sent, or were.
@Suite struct HeldJobTests {
    /// So many that a slow host has a command run before they are through.
    private static let count = 1000

    /// A gateway that takes about a hundred notifications a second.
    private func slow(_ script: String = "") throws -> Modern {
        var manner = HTTP2Manner()
        (manner.latency, manner.streamLimit) = (.milliseconds(100), 10)
        return try Modern(script, manner: manner)
    }

    /// Runs `body` with a daemon at such a gateway.
    private func slowly(
        _ script: String = "", _ body: @Sendable (Bench, Program) async throws -> Void
    ) async throws {
        try await slow(script).serving("", body)
    }

    /// Drops a job, and waits until some of it was accepted.
    private func begin(_ bench: Bench, count: Int = HeldJobTests.count) async throws {
        try bench.drop("big.json", job(tokens: 0..<count), app: "modern")
        _ = try await bench.accepted(30)
    }

    /// Has a job held that was accepted in part, by a daemon that is killed then: nothing of it is in the journal any more.
    private func holdOverAnEnd(_ bench: Bench) async throws {
        try await bench.withDaemon { daemon in
            try await daemon.says("app started")
            try await begin(bench)
            #expect(try await bench.operate("hold", "modern/big.json").code == 0)
        }
    }

    /// How often each token was accepted.
    private func acceptances(_ bench: Bench) async -> [[UInt8]: Int] {
        var counts: [[UInt8]: Int] = [:]
        for entry in await bench.simulator.ledger.entries where entry.outcome == .accepted {
            counts[entry.token, default: 0] += 1
        }
        return counts
    }

    /// Expects that everybody was accepted, and nobody twice.
    private func expectOnce(_ bench: Bench) async {
        let all = await acceptances(bench)
        #expect(all.count == Self.count && all.values.allSatisfy { $0 == 1 }, "\(all.count) tokens")
    }

    /// The id in the file beside a parked job.
    private func identifier(_ bench: Bench) throws -> String {
        let rest = try bench.contents("modern/hold/big.json.rest")
        return String(try #require(rest.firstMatch(of: /"id":"([0-9A-Z]{26})"/)).output.1)
    }

    @Test func `a job that is being sent is held, and only the rest is sent when it is released`() async throws {
        try await slowly { bench, _ in
            try await begin(bench)
            let held = try await bench.operate("hold", "modern/big.json")
            #expect(held.code == 0 && held.text.contains("held as hold/big.json"), "\(held)")
            #expect(bench.names(in: "modern/hold") == ["big.json", "big.json.rest"])
            #expect(bench.names(in: "modern/work/node-a").isEmpty)
            let sent = await acceptances(bench).count
            #expect(held.text.contains("\(Self.count - sent) of \(Self.count) left to send"), "\(held.text), \(sent)")
            let id = try identifier(bench)
            #expect(try await bench.operate("release", id).code == 0)
            let line = try await bench.end(of: "big.json", app: "modern")
            #expect(line.id == id && line.accepted == Self.count && line.state == "done")
            await expectOnce(bench)
            #expect(bench.names(in: "modern/hold").isEmpty)
        }
    }

    @Test func `a held job outlives the daemon, and mv releases it as well`() async throws {
        try await slow().running { bench in
            try bench.configureModern()
            try await holdOverAnEnd(bench)
            let id = try identifier(bench)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await bench.tool(
                    "mv", "\(bench.path)/spool/modern/hold/big.json", "\(bench.path)/spool/modern/new/other.json")
                let line = try await bench.end(of: "other.json", app: "modern")
                #expect(line.id == id && line.accepted == Self.count)
                await expectOnce(bench)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `of a job that a killed daemon left, and a new one of its name, none is chosen`() async throws {
        try await slow().running { bench in
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await begin(bench)
            }
            let left = try #require(bench.names(in: "modern/work/node-a").first)
            try bench.write("spool/modern/new/big.json", job(1))
            for command in ["hold", "cancel"] {
                let end = try await bench.operate(command, "modern/big.json")
                let told = "2 jobs match: modern/new/big.json, modern/\(left.prefix(26))"
                #expect(end.code == 1 && end.log.contains(told), "\(end)")
            }
            #expect(bench.names(in: "modern/work/node-a") == [left] && bench.names(in: "modern/new") == ["big.json"])
            let end = try await bench.operate("hold", "modern/\(left.prefix(26))")
            #expect(!end.log.contains("jobs match"), "\(end)")
        }
    }

    @Test func `what pauses is held at once`() async throws {
        try await slowly("payload=x answer reason=InternalServerError") { bench, _ in
            try bench.drop("pauses.json", job(tokens: 0..<5), app: "modern")
            try await eventually("a failure") { await bench.simulator.ledger.refusedCount > 0 }
            let held = try await bench.operate("hold", "modern/pauses.json")
            #expect(held.code == 0 && held.text.contains("5 of 5 left to send"), "\(held)")
        }
    }

    @Test(arguments: ["cancel", "expire"])
    func `a job that is being sent is ended, and what is left of it is told`(command: String) async throws {
        try await slowly { bench, _ in
            try await begin(bench)
            let end = try await bench.operate(command, "modern/big.json")
            #expect(end.code == 0, "\(end)")
            let line = try await bench.end(of: "big.json", app: "modern")
            let (accepted, left) = (line.accepted ?? 0, (line.unsent ?? 0) + (line.expired ?? 0))
            #expect(line.state == "failed" && line.code == (command == "cancel" ? "cancelled" : "expired"))
            #expect(accepted >= 30 && accepted + left == Self.count && left > 0)
            #expect(await acceptances(bench).count == accepted)
            let word = command == "cancel" ? "unsent" : "expired"
            let told = try bench.lines("notification", app: "modern").filter { $0.outcome == word }
            #expect(told.count == left && Set(told.compactMap(\.index)).count == left)
            let runs = try await bench.result(of: line).indexes?[word] ?? []
            let count = runs.reduce(0) { $0 + $1[1] - $1[0] + 1 }
            #expect(count == left)
        }
    }

    @Test func `a cancelled job is tried again with what is left, under its id`() async throws {
        try await slowly { bench, _ in
            try await begin(bench)
            #expect(try await bench.operate("cancel", "modern/big.json").code == 0)
            let line = try await bench.end(of: "big.json", app: "modern")
            let left = line.unsent ?? 0
            let plan = try await bench.operate("retry", "-n", "modern/big.json")
            #expect(plan.code == 0 && plan.text.contains("\(left) of \(Self.count) notifications"), "\(plan)")
            #expect(bench.jobs(in: "failed", app: "modern") == ["big.json"])
            let again = try await bench.operate("retry", line.id ?? "")
            #expect(again.code == 0 && again.text.split(separator: "\n").count == 2, "\(again)")
            try await eventually("another end") { try bench.lines("job", app: "modern").count == 2 }
            let end = try #require(try bench.lines("job", app: "modern").last)
            #expect(end.id == line.id && end.accepted == Self.count && end.state == "done")
            await expectOnce(bench)
            try await eventually("its archive") { bench.jobs(in: "done", app: "modern") == ["big.json"] }
            #expect(bench.archived("failed", app: "modern").isEmpty && bench.names(in: "modern/hold").isEmpty)
            let nothing = try await bench.operate("retry", "modern/big.json")
            #expect(nothing.code == 1 && nothing.log.contains("--whole"), "\(nothing)")
        }
    }

    @Test func `a whole job is tried again as a new one`() async throws {
        try await slowly { bench, _ in
            try bench.drop("one.json", job(tokens: 0..<3), app: "modern")
            let line = try await bench.end(of: "one.json", app: "modern")
            #expect(try await bench.operate("retry", "--whole", "modern/done/one.json").code == 1)
            let again = try await bench.operate("retry", "--whole", "modern/one.json")
            #expect(again.code == 0 && again.text.contains("resending all of it as a new job"), "\(again)")
            try await eventually("another end") { try bench.lines("job", app: "modern").count == 2 }
            let end = try #require(try bench.lines("job", app: "modern").last)
            #expect(end.id != line.id && end.accepted == 3)
            #expect(await acceptances(bench).values.allSatisfy { $0 == 2 })
        }
    }

    /// Jobs with an `id`, which is the same.
    private func named(_ numbers: Range<Int>) -> String {
        String(job(tokens: numbers).dropLast()) + #","id":"once"}"#
    }

    @Test func `a job of the id of one that is held and was sent in part is a duplicate`() async throws {
        try await slowly { bench, _ in
            try bench.drop("big.json", named(0..<Self.count), app: "modern")
            _ = try await bench.accepted(30)
            #expect(try await bench.operate("hold", "modern/big.json").code == 0)
            let id = try identifier(bench)
            try bench.drop("again.json", named(0..<Self.count), app: "modern")
            let again = try await bench.end(of: "again.json", app: "modern")
            #expect(again.code == "duplicate" && again.duplicate_of == id, "\(again)")
            let released = try await bench.operate("release", "ref:once")
            #expect(released.code == 0, "\(released)")
            let line = try await bench.end(of: "big.json", app: "modern")
            #expect(line.id == id && line.accepted == Self.count)
            await expectOnce(bench)
        }
    }

    @Test func `a held job that nobody got keeps no other of its id waiting, and is a duplicate then`() async throws {
        try await slowly("payload=x answer reason=InternalServerError") { bench, _ in
            try bench.drop("first.json", named(0..<3), app: "modern")
            try await eventually("a failure") { await bench.simulator.ledger.refusedCount > 0 }
            let second = named(5..<6).replacing(#""alert":"x""#, with: #""alert":"y""#)
            try bench.drop("second.json", second, app: "modern")
            #expect(try await bench.operate("hold", "modern/first.json").code == 0)
            let sent = try await bench.end(of: "second.json", app: "modern")
            #expect(sent.accepted == 1, "\(sent)")
            #expect(try await bench.operate("release", "modern/first.json").code == 0)
            let first = try await bench.end(of: "first.json", app: "modern")
            #expect(first.code == "duplicate" && first.duplicate_of == sent.id, "\(first)")
            #expect(await acceptances(bench).count == 1)
        }
    }

    @Test func `a duplicate is sent if an operator wants all of it to be, and not else`() async throws {
        try await slowly { bench, _ in
            for name in ["one.json", "two.json"] {
                try bench.drop(name, named(0..<1), app: "modern")
                _ = try await bench.end(of: name, app: "modern")
            }
            let refused = try await bench.operate("retry", "modern/two.json")
            #expect(refused.code == 1 && refused.log.contains("would fail again"), "\(refused)")
            #expect(bench.jobs(in: "failed", app: "modern") == ["two.json"])
            let again = try await bench.operate("retry", "--whole", "modern/two.json")
            #expect(again.code == 0 && again.text.split(separator: "\n").count == 2, "\(again)")
            try await eventually("another end") { try bench.lines("job", app: "modern").count == 3 }
            let end = try #require(try bench.lines("job", app: "modern").last)
            #expect(end.state == "done" && end.accepted == 1, "\(end)")
            #expect(await acceptances(bench).values.allSatisfy { $0 == 2 })
            #expect(bench.names(in: "modern/hold").isEmpty && bench.archived("failed", app: "modern").isEmpty)
        }
    }

    @Test func `a duplicate that is sent all the same is so after a death before anybody got it`() async throws {
        try await slow().running { bench in
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("one.json", named(0..<1), app: "modern")
                _ = try await bench.end(of: "one.json", app: "modern")
                await bench.simulator.setScript(try FaultScript("payload=x answer reason=InternalServerError"))
                #expect(try await bench.operate("retry", "--whole", "modern/one.json").code == 0)
                try await eventually("a failure") { await bench.simulator.ledger.refusedCount > 0 }
                // To hold/ and back, it is still wanted.
                #expect(try await bench.operate("hold", "modern/one.json").code == 0)
                #expect(try await bench.operate("release", "modern/one.json").code == 0)
                try await eventually("another claim") { bench.names(in: "modern/new").isEmpty }
            }
            await bench.simulator.setScript(.none)
            try await bench.withDaemon { _ in
                try await eventually("another end") { try bench.lines("job", app: "modern").count == 2 }
                let end = try #require(try bench.lines("job", app: "modern").last)
                #expect(end.state == "done" && end.accepted == 1, "\(end)")
                #expect(await acceptances(bench).values.allSatisfy { $0 == 2 })
            }
        }
    }

    @Test func `what is left of a held job is listed and shown`() async throws {
        try await slowly { bench, _ in
            try await begin(bench)
            #expect(try await bench.operate("hold", "modern/big.json").code == 0)
            let (id, sent) = (try identifier(bench), await acceptances(bench).count)
            let place = ["--config", bench.path + "/etc/pushspool.yaml"]
            for name in ["big.json", id] {
                let shown = try await bench.run(["show"] + place + [name])
                #expect(shown.code == 0 && shown.text.hasPrefix("modern/big.json  held\n"), "\(shown)")
                #expect(shown.text.contains("  id        \(id)\n") && shown.text.contains("  left      ["), "\(shown)")
                #expect(shown.text.contains("\(Self.count) notifications, \(sent) accepted\n"), "\(shown)")
            }
            let listed = try await bench.run(["list"] + place)
            #expect(listed.text.contains("\(sent) of \(Self.count)") && !listed.text.contains(".rest"), "\(listed)")
        }
    }

    @Test func `a held job that somebody has elsewhere over a restart is not sent whole`() async throws {
        try await slow().running { bench in
            try bench.configureModern()
            try await holdOverAnEnd(bench)
            let (spool, away) = (bench.path + "/spool/modern", bench.path + "/staged/away.json")
            try await bench.tool("mv", spool + "/hold/big.json", away)
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                // What has been sent since the start comes after the look at hold/.
                try bench.drop("small.json", job(tokens: 5000..<5001), app: "modern")
                _ = try await bench.end(of: "small.json", app: "modern")
                #expect(bench.names(in: "modern/hold") == ["big.json.rest"])
                try await bench.tool("mv", away, spool + "/new/back.json")
                #expect(try await bench.end(of: "back.json", app: "modern").accepted == Self.count)
                #expect(await acceptances(bench).values.allSatisfy { $0 == 1 })
                #expect(bench.names(in: "modern/hold").isEmpty)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `jobs that the last daemon had under way are held and ended without one`() async throws {
        try await slow().running { bench in
            try bench.configureModern()
            try await bench.withDaemon(drain: 0) { daemon in
                try await daemon.says("app started")
                try await begin(bench)
                try bench.drop("other.json", job(tokens: 1000..<1200), app: "modern")
                try await eventually("both claimed") { bench.names(in: "modern/work/node-a").count == 2 }
                #expect(try await daemon.stop() == 0)
            }
            let held = try await bench.operate("hold", "modern/big.json")
            #expect(held.code == 0 && held.text.contains("left to send"), "\(held)")
            let ended = try await bench.operate("cancel", "modern/other.json")
            #expect(ended.code == 0 && ended.text.contains("the next daemon"), "\(ended)")
            #expect(try await bench.operate("cancel", "modern/other.json").code == 1)
            #expect(bench.names(in: "modern/hold") == ["big.json", "big.json.rest"])
            let before = await acceptances(bench).count
            try await bench.withDaemon { daemon in
                let line = try await bench.end(of: "other.json", app: "modern")
                #expect(line.code == "cancelled" && (line.unsent ?? 0) + (line.accepted ?? 0) == 200)
                #expect(await acceptances(bench).count == before)
                #expect(try await bench.operate("release", "modern/big.json").code == 0)
                let end = try await bench.end(of: "big.json", app: "modern")
                #expect(end.accepted == Self.count)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `a stop that drains waits for jobs under way, and for the process`() async throws {
        try await slowly { bench, daemon in
            try await begin(bench)
            let end = try await bench.operate("stop", "--drain")
            #expect(end.code == 0 && end.log.contains("stopping, jobs under way: 1"), "\(end)")
            #expect(try await daemon.end() == 0)
            #expect(bench.jobs(in: "done", app: "modern") == ["big.json"])
            await expectOnce(bench)
        }
    }

    @Test func `a stop waits no longer than it may`() async throws {
        try await slow().running { bench in
            try bench.configureModern()
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await begin(bench, count: 3000)
                let end = try await bench.operate("stop", "--timeout", "1")
                #expect(end.code == 0, "\(end)")
                #expect(try await daemon.end() == 0)
                #expect(bench.names(in: "modern/work/node-a").count == 1)
            }
        }
    }
}
