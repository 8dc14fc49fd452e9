import Foundation
import GatewaySimulator
import PushModel
import TestSupport
import Testing

/// Jobs with the same `id:`.
@Suite struct DuplicateTests {
    private func job(_ number: Int, id: String = "once", _ more: String = "") -> String {
        #"{"token":"\#(token(number))","payload":{"aps":{"alert":"n\#(number)"}},"id":"\#(id)"\#(more)}"#
    }

    @Test func `the second job of an id fails, says of which, and is not sent`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("first.json", job(1))
            let first = try await bench.end(of: "first.json")
            try bench.drop("second.json", job(2))
            try bench.drop("other.json", job(3, id: "Once"))
            let second = try await bench.end(of: "second.json")
            #expect(second.state == "failed" && second.code == "duplicate" && second.ref == "once")
            #expect(second.duplicate_of == first.id && second.duplicate_of_at == first.finished_at)
            let result = try await bench.result(of: second)
            #expect(result.duplicate_of == first.id && result.duplicate_of_at == first.finished_at)
            #expect(result.why?.contains("give it another id") == true && first.id != second.id)
            #expect(try await bench.end(of: "other.json").accepted == 1)
            let tokens = await bench.simulator.ledger.acceptedTokens
            #expect(tokens.map(\.last) == [1, 3])
        }
    }

    @Test func `a job that comes back to new from an archive is one, too`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.drop("again.json", job(1))
            let first = try await bench.end(of: "again.json")
            let (path, spool) = (try #require(first.path), bench.path + "/spool/")
            try FileManager.default.moveItem(atPath: spool + path, toPath: spool + "weather/new/back.json")
            #expect(try await bench.end(of: "back.json").duplicate_of == first.id)
            #expect(await bench.simulator.ledger.acceptedCount == 1)
        }
    }

    @Test func `while the first is under way the second waits`() async throws {
        try await Bench.serving(try .init(app: "binary: {confirm_after: 5s}")) { bench, daemon in
            try bench.drop("first.json", job(1))
            _ = try await bench.accepted(1)
            try bench.drop("second.json", job(2))
            try await daemon.says("job waits for a possible duplicate")
            let first = try await bench.end(of: "first.json")
            #expect(try await bench.end(of: "second.json").duplicate_of == first.id)
            #expect(await bench.simulator.ledger.acceptedCount == 1)
        }
    }

    @Test func `if nothing of the first was accepted the second is sent`() async throws {
        var setup = try Bench.Setup()
        setup.gateway.rules.unregistered = [Array(hex: token(1))]
        try await Bench.serving(setup) { bench, _ in
            for name in ["a.json", "b.json"] { try bench.drop(name, job(1)) }
            #expect(try await bench.end(of: "a.json").code == "refused")
            #expect(try await bench.end(of: "b.json").code == "refused")
            try bench.drop("d.json", job(2))
            #expect(try await bench.end(of: "d.json").accepted == 1)
        }
    }

    @Test func `of many at once one is sent`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            for number in 1...20 { try bench.drop("n\(number).json", job(number)) }
            var ends: [Line] = []
            for number in 1...20 { ends.append(try await bench.end(of: "n\(number).json")) }
            let done = ends.filter { $0.state == "done" }
            #expect(done.count == 1 && ends.count { $0.duplicate_of == done[0].id } == 19)
            #expect(await bench.simulator.ledger.acceptedCount == 1)
        }
    }

    @Test func `a restart changes nothing`() async throws {
        try await Bench.running(try .init()) { bench in
            for name in ["first.json", "second.json", "third.json"] {
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started")
                    try bench.drop(name, job(1))
                    let code = try await bench.end(of: name).code
                    #expect(code == (name == "first.json" ? nil : "duplicate"))
                }
            }
            #expect(await bench.simulator.ledger.acceptedCount == 1)
        }
    }

    @Test func `a job that a daemon died over is no duplicate of itself, and the next waits for it`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 30s}")) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try bench.drop("first.json", job(1))
                _ = try await bench.accepted(1)
                try await daemon.destroy()
            }
            try bench.configureApp("weather")
            try bench.drop("second.json", job(2))
            try await bench.withDaemon { _ in
                let first = try await bench.end(of: "first.json")
                #expect(first.accepted == 1)
                #expect(try await bench.end(of: "second.json").duplicate_of == first.id)
            }
            #expect(await bench.simulator.ledger.acceptedTokens.allSatisfy { $0.last == 1 })
        }
    }

    @Test func `with dedupe 0 an id is a name and no more`() async throws {
        var setup = try Bench.Setup()
        setup.intake = ", dedupe: 0"
        try await Bench.serving(setup) { bench, _ in
            for number in 1...2 {
                try bench.drop("n\(number).json", job(number))
                #expect(try await bench.end(of: "n\(number).json").accepted == 1)
            }
            #expect(!FileManager.default.fileExists(atPath: bench.path + "/state/dedupe"))
        }
    }

    @Test func `a ref counts as long as the configuration says`() async throws {
        var setup = try Bench.Setup()
        setup.intake = ", dedupe: 1s"
        try await Bench.serving(setup) { bench, _ in
            try bench.drop("first.json", job(1))
            let first = try await bench.end(of: "first.json")
            let text = try #require(first.finished_at)
            let end = try #require(WallTime(rfc3339: text))
            try await eventually("a second later") { Date.now.timeIntervalSince1970 > Double(end.epochSeconds) + 2.5 }
            try bench.drop("second.json", job(2))
            #expect(try await bench.end(of: "second.json").accepted == 1)
        }
    }
}

/// Jobs whose files are the same (`intake.dedupe_content`).
@Suite struct SameFileTests {
    /// A job without an `id`, in a file whose time is told.
    private func drop(_ name: String, _ number: Int, at time: String, _ bench: Bench) async throws {
        try bench.write("staged/\(name)", job(number))
        try await bench.tool("touch", "-d", time, "\(bench.path)/staged/\(name)")
        try await bench.tool("mv", "\(bench.path)/staged/\(name)", "\(bench.path)/spool/weather/new/\(name)")
    }

    private func setup() throws -> Bench.Setup {
        var setup = try Bench.Setup()
        setup.intake = ", dedupe_content: true"
        return setup
    }

    /// The end of the job that ended after so many others, and lies in its archive.
    private func end(_ count: Int, _ bench: Bench) async throws -> Line {
        try await eventually("another end") { try bench.lines("job").count > count }
        let line = try bench.lines("job")[count]
        let path = "\(bench.path)/spool/\(try #require(line.path))"
        try await eventually("its archive") { FileManager.default.fileExists(atPath: path) }
        return line
    }

    @Test func `a copy fails, and what differs in name, time or bytes is sent`() async throws {
        try await Bench.serving(try setup()) { bench, _ in
            try await drop("a.json", 1, at: "2026-11-21T12:00:00.123456789Z", bench)
            let first = try await end(0, bench)
            try await drop("a.json", 1, at: "2026-11-21T12:00:00.123456789Z", bench)
            let copy = try await end(1, bench)
            #expect(copy.code == "duplicate" && copy.duplicate_of == first.id)
            #expect(try await bench.result(of: copy).why?.contains("touch or rename it") == true)
            try await drop("b.json", 1, at: "2026-11-21T12:00:00.123456789Z", bench)
            #expect(try await end(2, bench).accepted == 1)
            try await drop("a.json", 1, at: "2026-11-21T12:00:00.12345678Z", bench)
            #expect(try await end(3, bench).accepted == 1)
            try await drop("a.json", 2, at: "2026-11-21T12:00:00.123456789Z", bench)
            #expect(try await end(4, bench).accepted == 1)
            #expect(await bench.simulator.ledger.acceptedCount == 4)
        }
    }

    @Test(arguments: [10, 20_000])
    func `a file of lines is compared as a whole, over a restart`(count: Int) async throws {
        try await Bench.running(try setup()) { bench in
            let head = #"{"defaults":{"payload":{"aps":{"alert":"x"}}}}"# + "\n"
            let lines = (1...count).map { #"{"token":"\#(token($0 % 200))"}"# + "\n" }.joined()
            try bench.write("staged/a.jsonl", head + lines)
            let (staged, new) = ("\(bench.path)/staged/a.jsonl", "\(bench.path)/spool/weather/new/")
            for round in 0..<2 {
                try await bench.withDaemon { daemon in
                    try await daemon.says("app started")
                    try await bench.tool("rsync", "--times", staged, new)
                    let line = try await end(round, bench)
                    #expect(line.code == (round == 0 ? nil : "duplicate"), "\(line)")
                    #expect(try await daemon.stop() == 0)
                }
            }
            #expect(await bench.simulator.ledger.acceptedCount == count)
        }
    }

    @Test func `a file that comes back from an archive is sent again, and its copies are duplicates then`() async throws
    {
        try await Bench.serving(try setup()) { bench, _ in
            let spool = bench.path + "/spool/weather"
            try await drop("a.json", 1, at: "2026-11-21T12:00:00Z", bench)
            let path = try #require(try await end(0, bench).path)
            try await bench.tool("mv", "\(bench.path)/spool/\(path)", "\(spool)/new/a.json")
            let again = try await end(1, bench)
            #expect(again.accepted == 1, "\(again)")
            try await drop("a.json", 1, at: "2026-11-21T12:00:00Z", bench)
            let copy = try await end(2, bench)
            #expect(copy.duplicate_of == again.id, "\(copy)")
            #expect(try await bench.operate("retry", copy.id ?? "").code == 1)
            #expect(try await bench.operate("retry", "--whole", copy.id ?? "").code == 0)
            #expect(try await end(3, bench).accepted == 1)
            // And so is the first, whose copy was sent meanwhile.
            let back = try #require(again.path)
            try await bench.tool("mv", "\(bench.path)/spool/\(back)", "\(spool)/new/a.json")
            #expect(try await end(4, bench).accepted == 1)
        }
    }
}
