import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// Jobs from the drop to the archive.
@Suite struct JobTests {
    static let forms: [(name: String, text: String, payloads: [String])] = [
        (
            "one.json",
            #"{"token": "\#(token(1))", "payload": {"aps": {"badge": 1}, "x": 1.0, "n": 9007199254740993}}"#,
            [#"{"aps":{"badge":1},"x":1.0,"n":9007199254740993}"#]
        ),
        (
            "one.yaml", "token: \(token(1))\npayload: {aps: {alert: no}, z: 0x1F, a: 1}\n",
            [#"{"aps":{"alert":"no"},"z":31,"a":1}"#]
        ),
        (
            "short.yml", "tokens: [\(token(1)), \(token(2))]\nalert: Hi\nbadge: 0\n",
            Array(repeating: #"{"aps":{"alert":"Hi","badge":0}}"#, count: 2)
        ),
        (
            "paired.json",
            #"{"tokens":["\#(token(1))","\#(token(2))"],"payloads":[{"aps":{"badge":1}},{"aps":{"badge":2}}]}"#,
            [#"{"aps":{"badge":1}}"#, #"{"aps":{"badge":2}}"#]
        ),
        (
            "each.json", #"{"recipients":[{"token":"\#(token(1))","badge":3},{"token":"\#(token(2))"}],"alert":"Hi"}"#,
            [#"{"aps":{"alert":"Hi","badge":3}}"#, #"{"aps":{"alert":"Hi"}}"#]
        ),
        (
            "lines.jsonl",
            "{\"defaults\":{\"alert\":\"Hi\"}}\n\"\(token(1))\"\n{\"token\":\"\(token(2))\",\"badge\":4}\n",
            [#"{"aps":{"alert":"Hi"}}"#, #"{"aps":{"alert":"Hi","badge":4}}"#]
        ),
    ]

    @Test(arguments: forms)
    func `every form arrives at the gateway as it was written`(name: String, text: String, payloads: [String])
        async throws
    {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop(name, text)
            let line = try await bench.end(of: name)
            let accepted = try await bench.accepted(payloads.count).accepted
            #expect(accepted.map(\.payloadText) == payloads)
            #expect(accepted.map(\.tokenText) == Array([token(1), token(2)].prefix(payloads.count)))
            #expect(
                line.state == "done" && line.code == nil && line.accepted == payloads.count
                    && line.sum == line.notifications)
            #expect(try bench.contents(try #require(line.path)) == text)
            #expect(bench.archived("done").count == 1)
        }
    }

    @Test func `a fault is told with the key that it is about, in the log as a warning`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            try bench.drop("bad.json", job(1, #","topic":"no topic""#))
            let line = try await bench.end(of: "bad.json")
            #expect(try await bench.result(of: line).why == "topic: contains a space, which no bundle identifier has")
            try await daemon.says("warning job failed")
            try await daemon.says(#"error="topic: contains a space, which no bundle identifier has""#)
        }
    }

    @Test func `bad recipients are rejected, the others are sent`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("half.yaml", "tokens:\n  - \(token(1))\n  - no-token!\n  - \(token(2))\nalert: Hi\n")
            let line = try await bench.end(of: "half.yaml")
            #expect(line.state == "done" && line.accepted == 2 && line.rejected == 1 && line.sum == 3)
            let result = try await bench.result(of: line)
            #expect(result.indexes == ["rejected": [[1, 1]]])
            #expect(result.counts?.sum == 3)
            let finding = try #require(result.diagnostics?.first)
            #expect(finding.line == 3 && finding.column == 5 && finding.hint != nil)
            let told = try bench.lines("notification")
            #expect(told.count == 1 && told[0].index == 1 && told[0].outcome == "rejected")
        }
    }

    static let faults: [(name: String, text: String, line: Int, column: Int)] = [
        ("strict.yaml", "strict: true\ntokens:\n  - \(token(1))\n  - no-token!\nalert: Hi\n", 4, 5),
        ("unknown.yaml", "token: \(token(1))\nalrt: Hi\n", 2, 1),
        ("syntax.json", "{\"token\":\"\(token(1))\",\n\"alert\" 1}", 2, 9),
        ("type.json", "{\"token\":\"\(token(1))\",\n\"alert\":\"a\",\"badge\":\"x\"}", 2, 21),
    ]

    @Test(arguments: faults)
    func `a fault of the document fails the job before anything is sent, and says where`(
        name: String, text: String, line: Int, column: Int
    ) async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop(name, text)
            let told = try await bench.end(of: name)
            #expect(told.state == "failed" && told.code == "invalid" && told.accepted == 0)
            let findings = try #require(try await bench.result(of: told).diagnostics)
            #expect(findings.contains { $0.line == line && $0.column == column }, "\(findings)")
            #expect(await bench.simulator.ledger.arrivedCount == 0)
            #expect(bench.archived("failed").count == 2)
        }
    }

    @Test func `another count than the seal's makes the job incomplete`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("few.yaml", "count: 3\ntokens: [\(token(1))]\nalert: Hi\n")
            let line = try await bench.end(of: "few.yaml")
            #expect(line.state == "failed" && line.code == "incomplete")
            #expect(await bench.simulator.ledger.arrivedCount == 0)
        }
    }

    @Test func `record all tells of every notification`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop(
                "all.json", #"{"tokens":["\#(token(1))","\#(token(2))"],"alert":"Hi","record":"all","id":"mine"}"#)
            _ = try await bench.end(of: "all.json")
            let lines = try bench.lines("notification")
            #expect(lines.map(\.token) == [token(1), token(2)])
            #expect(lines.allSatisfy { $0.outcome == "accepted" && $0.ref == "mine" })
        }
    }

    @Test func `what the gateway refuses is told with its verdict, and the rest is sent`() async throws {
        var setup = try Bench.Setup()
        setup.gateway.rules.unregistered = [Array(hex: token(2))]
        try await Bench.serving(setup) { bench, _ in
            try bench.drop("three.json", #"{"tokens":["\#(token(1))","\#(token(2))","\#(token(3))"],"alert":"Hi"}"#)
            let line = try await bench.end(of: "three.json")
            #expect(line.accepted == 2 && line.rejected == 1 && line.state == "done")
            let told = try #require(try bench.lines("notification").first)
            #expect(told.index == 1 && told.status == 8 && told.verdict == "invalid" && told.token == token(2))
            let tokens = try await bench.accepted(2).acceptedTokens
            #expect(tokens.map(\.last) == [1, 3])
        }
    }

    @Test func `a job of which nothing was accepted is refused`() async throws {
        var setup = try Bench.Setup()
        setup.gateway.rules.unregistered = [Array(hex: token(1))]
        try await Bench.serving(setup) { bench, _ in
            try bench.drop("none.json", job(1))
            let line = try await bench.end(of: "none.json")
            #expect(line.state == "failed" && line.code == "refused")
            #expect(try await bench.result(of: line).indexes == ["rejected": [[0, 0]]])
        }
    }

    @Test func `a notification that is too late is not sent`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("late.json", job(1, #","expiration":1500000000"#))
            let line = try await bench.end(of: "late.json")
            #expect(line.state == "failed" && line.code == "expired" && line.expired == 1)
            #expect(await bench.simulator.ledger.arrivedCount == 0)
        }
    }

    @Test func `a notification that becomes too late while it waits is not sent`() async throws {
        // The pauses before the fourth try are longer than two seconds together.
        try await Bench.serving(try .init(script: "refuse-connection times=3")) { bench, _ in
            try bench.drop("waits.json", job(1, #","expiration":"+2s""#))
            let line = try await bench.end(of: "waits.json")
            #expect(line.state == "failed" && line.code == "expired" && line.expired == 1)
            try bench.drop("next.json", job(2))
            #expect(try await bench.end(of: "next.json").accepted == 1)
            let ledger = await bench.simulator.ledger
            #expect(ledger.arrivedCount == 1 && ledger.acceptedTokens == [Array(hex: token(2))])
        }
    }

    @Test func `what has no outcome when the job's time is up is unsent`() async throws {
        try await Bench.serving(try .init(script: "refuse-connection")) { bench, _ in
            try bench.drop("never.json", job(1, #","give_up_after":"1s""#))
            let line = try await bench.end(of: "never.json")
            #expect(line.state == "failed" && line.code == "unsent" && line.unsent == 1)
            let told = try #require(try bench.lines("notification").first)
            #expect(told.outcome == "unsent" && told.verdict == "later")
            #expect(try await bench.result(of: line).indexes == ["unsent": [[0, 0]]])
        }
    }

    @Test(arguments: ["report", "resend"])
    func `what was written without an answer is unknown or sent again, as the job wishes`(manner: String) async throws {
        try await Bench.serving(try .init(script: "connection=1 after=2 cut")) { bench, _ in
            try bench.drop("warm.json", job(9))
            _ = try await bench.end(of: "warm.json")
            try bench.drop("doubt.json", job(1, #","on_doubt":"\#(manner)""#))
            let line = try await bench.end(of: "doubt.json")
            let count = await bench.simulator.ledger.acceptedTokens.filter { $0 == Array(hex: token(1)) }.count
            #expect(line.state == "done")
            #expect(line.unknown == (manner == "report" ? 1 : 0) && line.accepted == (manner == "report" ? 0 : 1))
            #expect(count == (manner == "report" ? 1 : 2))
        }
    }

    @Test func `an archive never loses a job whose name comes again`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            for number in 1...3 {
                try bench.drop("same.json", job(number))
                _ = try await bench.accepted(number)
                try await eventually("\(number) archived") { bench.jobs(in: "done").count == number }
            }
            #expect(bench.jobs(in: "done") == ["same.json", "same~2.json", "same~3.json"])
            let texts = try bench.archived("done").map { try bench.contents($0) }
            #expect(texts == [1, 2, 3].map { job($0) })
        }
    }

    @Test(arguments: ["done", "failed", "feedback"])
    func `a folder of the daemon's that somebody removes is made again`(folder: String) async throws {
        try await Bench.serving(try .init()) { bench, _ in
            for number in 1...2 {
                try bench.drop("good\(number).json", job(number))
                try bench.drop("bad\(number).json", "{}")
                #expect(try await bench.end(of: "good\(number).json").accepted == 1)
                #expect(try await bench.end(of: "bad\(number).json").code == "invalid")
                try await bench.tool("rm", "-rf", "\(bench.path)/spool/weather/\(folder)")
            }
            #expect(await bench.simulator.ledger.acceptedCount == 2)
        }
    }

    @Test func `a job that cannot be archived now is archived when it can`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let day = ISO8601DateFormatter().string(from: Date()).prefix(10)
            try bench.write("spool/weather/done/\(day)", "in the way")
            try bench.drop("stuck.json", job(1))
            try await daemon.says("archive folder cannot be used")
            #expect(try bench.lines("job").isEmpty)
            try FileManager.default.removeItem(atPath: bench.path + "/spool/weather/done/\(day)")
            #expect(try await bench.end(of: "stuck.json").accepted == 1)
            #expect(await bench.simulator.ledger.acceptedCount == 1)
        }
    }

    @Test(arguments: ["done", "feedback"])
    func `a folder that cannot be used for many jobs is logged once, and once when it can`(folder: String) async throws
    {
        try await Bench.serving(try .init()) { bench, daemon in
            let (files, path) = (FileManager.default, "\(bench.path)/spool/weather/\(folder)")
            try bench.drop("first.json", job(0))
            _ = try await bench.end(of: "first.json")
            try files.moveItem(atPath: path, toPath: bench.path + "/elsewhere")
            try files.createSymbolicLink(atPath: path, withDestinationPath: bench.path + "/elsewhere")
            let (failure, recovery) =
                folder == "done"
                ? ("archive folder cannot be used", "jobs are archived in done/ again")
                : ("feedback cannot be written", "feedback is written again")
            for number in 1...20 { try bench.drop("\(number).json", job(number)) }
            try await daemon.says(failure)
            _ = try await bench.accepted(21)
            // A later job comes to the step in a later round, after all rounds for the others.
            for number in 21...23 {
                try bench.drop("\(number).json", job(number))
                _ = try await bench.accepted(number + 1)
            }
            #expect(daemon.log.contains("make \(folder)/ a folder"), "\(daemon.log)")
            try files.removeItem(atPath: path)
            try await daemon.says(recovery)
            try await eventually("all done") { bench.names(in: "weather/work/node-a").isEmpty }
            #expect(daemon.log.components(separatedBy: failure).count == 2, "\(daemon.log)")
            #expect(daemon.log.components(separatedBy: recovery).count == 2, "\(daemon.log)")
            #expect(await bench.simulator.ledger.acceptedCount == 24)
        }
    }
}

extension [UInt8] {
    /// The bytes that these digits stand for.
    init(hex text: String) {
        let digits = Array<Character>(text)
        self = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}
