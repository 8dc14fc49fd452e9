import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// Files that are written in place, and how far.
@Suite struct HalfWrittenTests {
    static let json = #"{"tokens":["\#(token(1))","\#(token(2))"],"payload":{"aps":{"alert":"whole","badge":12}}}"#
    static let yaml = "payload: {aps: {alert: whole}}\ncount: 2\ntokens:\n  - \(token(1))\n  - \(token(2))\n"
    static let marked = "alert: whole\nbadge: 12\ncount: 2\ntokens:\n  - \(token(1))\n  - \(token(2))\n...\n"
    static let lines =
        #"{"job":{"count":2},"defaults":{"alert":"whole"}}"# + "\n" + #"{"token":"\#(token(1))"}"# + "\n"
        + #"{"token":"\#(token(2))","badge":12}"# + "\n"

    /// What may follow the shortest prefix that is the whole of it, as far as meaning goes: a line's end.
    static let forms: [(ending: String, text: String)] = [
        ("json", json), ("yaml", yaml), ("yml", marked), ("jsonl", lines),
    ]

    @Test(.catalogue("F51 prefix-property", checks: [.toldFirst]), arguments: forms)
    func `of all prefixes of a job written in place only the whole is accepted`(ending: String, text: String)
        async throws
    {
        try await Bench.serving(try .init(patience: "300ms")) { bench, _ in
            let bytes = Array(text.utf8)
            for count in 0...bytes.count {
                try Data(bytes.prefix(count)).write(
                    to: URL(fileURLWithPath: bench.path + "/spool/weather/new/p\(count).\(ending)"))
            }
            try await eventually("all judged") { bench.names(in: "weather/new").isEmpty }
            _ = try await bench.end(of: "p\(bytes.count).\(ending)")
            try await eventually("all over") { try bench.lines("job").count == bytes.count + 1 }
            let trimmed = bytes.reversed().drop { $0 == 0x0A || $0 == UInt8(ascii: ".") }.count
            let taken = try bench.lines("job").filter { $0.accepted != 0 }.compactMap(\.job)
            #expect(taken.contains("p\(bytes.count).\(ending)"))
            #expect(
                taken.allSatisfy { name in (trimmed...bytes.count).contains { name == "p\($0).\(ending)" } }, "\(taken)"
            )
        }
    }

    @Test func `a prefix in YAML that nothing seals is told to be unsealed when it is taken`() async throws {
        try await Bench.serving(try .init(patience: "300ms")) { bench, _ in
            try bench.write("spool/weather/new/open.yaml", "token: \(token(1))\nalert: Hi\n")
            #expect(try await bench.end(of: "open.yaml").sealed == false)
            try bench.write("spool/weather/new/cut.yaml", "token: \(token(1))\nalert: H")
            let line = try await bench.end(of: "cut.yaml")
            #expect(line.code == "incomplete" && line.accepted == 0)
            let fault = try #require(try await bench.result(of: line).diagnostics?.first)
            #expect(fault.message.contains("the last line has no line feed"), "\(fault)")
            #expect(fault.hint?.contains("end it with a line feed, or write it elsewhere and rename it") == true)
            try bench.drop("renamed.yaml", "token: \(token(2))\nalert: Hi")
            #expect(try await bench.end(of: "renamed.yaml").sealed == nil)
        }
    }

    /// Each pause is longer than the daemon's patience: what a writer has open is not judged, empty or not.
    @Test(.catalogue("F46 slow-writer", checks: [.nobodyLost]))
    func `a writer that pauses with the file open is waited for`() async throws {
        try await Bench.serving(try .init(patience: "100ms")) { bench, _ in
            let text = Array(job(1).utf8)
            let new = try Directory.open(path: bench.path + "/spool/weather/new")
            let file = try new.create(Array("slow.json".utf8), mode: 0o644)
            for piece in stride(from: 0, to: text.count, by: 40) {
                let mark = "mark\(piece).json"
                try bench.drop(mark, job(1000 + piece))
                _ = try await bench.end(of: mark)
                #expect(bench.names(in: "weather/new") == ["slow.json"])
                try file.write(Array(text[piece..<min(piece + 40, text.count)]))
            }
            try file.closeNow()
            #expect(try await bench.end(of: "slow.json").accepted == 1)
            #expect(bench.jobs(in: "failed").isEmpty)
        }
    }

    @Test func `where an end is required, what is written in place without one fails, and what is renamed does not`()
        async throws
    {
        // On a busy machine the watch may be late by seconds, and a scan does not see that a file was renamed.
        var setup = try Bench.Setup(patience: "10s")
        setup.intake = ", require_end: in_place"
        try await Bench.serving(setup) { bench, daemon in
            let app = try Directory.open(path: bench.path + "/spool/weather")
            let inode = try #require(try app.status(of: Array("new".utf8))).inode
            try await eventually("the watch of new/") { try daemon.watches(inode: inode) }
            // The scan at the start may come after the watch, and would see the others first.
            try bench.drop("first.json", job(3))
            _ = try await bench.end(of: "first.json")
            let text = "token: \(token(1))\nalert: Hi\n"
            try bench.write("spool/weather/new/open.yaml", text)
            try bench.write("spool/weather/new/sealed.yaml", text + "...\n")
            try bench.write("spool/weather/new/closed.json", job(2))
            try bench.drop("renamed.yaml", text)
            let line = try await bench.end(of: "open.yaml")
            let message = try await bench.result(of: line).diagnostics?.first?.message
            #expect(
                line.code == "incomplete" && message == "nothing in the file marks its end, so it may be incomplete")
            for name in ["sealed.yaml", "closed.json", "renamed.yaml"] {
                let line = try await bench.end(of: name)
                #expect(line.accepted == 1, "\(line)")
            }
        }
    }

    @Test func `what is added to a job file after its claim is told in feedback, result and log`() async throws {
        // The job is claimed at once, and its notification waits for another rate.
        try await Bench.serving(try .init(app: "rate: 1/h")) { bench, daemon in
            try bench.drop("grows.yaml", "tokens: [\(token(1))]\nalert: Hi\n")
            let entry = try await awaited("the claim") {
                bench.names(in: "weather/work/node-a").first { $0.hasSuffix("-grows.yaml") }
            }
            let path = "\(bench.path)/spool/weather/work/node-a/\(entry)"
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data("# more\n".utf8))
            try file.close()
            try bench.configureApp("weather")
            daemon.send(SIGHUP)
            let line = try await bench.end(of: "grows.yaml")
            #expect(line.state == "done" && line.accepted == 1)
            let text = try #require(try bench.texts().first { $0.contains("grows.yaml") })
            #expect(text.contains(#""unread_bytes":7"#), "\(text)")
            let result = try bench.contents(try #require(line.path) + ".result.json")
            #expect(result.contains(#""unread_bytes": 7"#), "\(result)")
            #expect(result.contains("the file grew after it was claimed"), "\(result)")
            try await daemon.says("job file grew after it was claimed")
        }
    }

    enum Copying: String, CaseIterable {
        case plain, delayed, temporary, interrupted
    }

    @Test(
        .catalogue("F50 rsync-matrix", checks: [.onePlace, .nobodyLost, .fewDoubled]),
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/rsync"), "rsync is not installed"),
        arguments: Copying.allCases)
    func `rsync delivers each job once, and half of one never`(copying: Copying) async throws {
        try await Bench.serving(try .init(patience: "1s")) { bench, _ in
            for number in 1...20 { try bench.write("staged/r\(number).json", job(number)) }
            let (from, to) = (bench.path + "/staged/", bench.path + "/spool/weather/new/")
            switch copying {
            case .plain: try await bench.tool("rsync", "-r", "--fsync", from, to)
            case .delayed: try await bench.tool("rsync", "-r", "--delay-updates", from, to)
            case .temporary: try await bench.tool("rsync", "-r", "--temp-dir=\(bench.path)/spool/weather/tmp", from, to)
            case .interrupted:
                try leaveHalf(of: "r1.json", on: bench)
                try await bench.tool("rsync", "-r", "--partial", from, to)
            }
            try await eventually("all over") { bench.jobs(in: "done").count == 20 }
            let ledger = try await bench.accepted(20)
            #expect(ledger.acceptedCount == 20 && ledger.duplicates.isEmpty)
            #expect(bench.jobs(in: "failed").isEmpty)
        }
    }

    /// What `rsync --partial` leaves when it is interrupted: half the bytes under the final name, and no time.
    private func leaveHalf(of name: String, on bench: Bench) throws {
        let half = String(job(1).prefix(60))
        let path = "\(bench.path)/spool/weather/new/"
        try half.write(toFile: path + "." + name + ".Xa81kZ", atomically: false, encoding: .utf8)
        let times: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSince1970: 0)]
        try FileManager.default.setAttributes(times, ofItemAtPath: path + "." + name + ".Xa81kZ")
        try FileManager.default.moveItem(atPath: path + "." + name + ".Xa81kZ", toPath: path + name)
    }

    /// Which of rsync's processes is killed: the one that reads, those that write, or all.
    enum Victim: CaseIterable {
        case sender, receivers, all
    }

    /// The one way that leaves half a file under the job's name is the death of the sender: the receiver then keeps it,
    /// and with `-t` gives it the time 0.
    @Test(
        .catalogue("F50 rsync-matrix, killed", checks: [.onePlace, .nobodyLost, .fewDoubled]),
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/rsync"), "rsync is not installed"),
        arguments: Victim.allCases)
    func `an rsync that is killed half-way and started again delivers its job once and whole`(victim: Victim)
        async throws
    {
        try await Bench.serving(try .init(patience: "30s")) { bench, _ in
            let tokens = (0..<12_000).map { "\"\(token($0))\"" }.joined(separator: ",\n")
            try bench.write("staged/big.json", #"{"tokens":[\#(tokens)],"payload":{"aps":{"alert":"whole"}}}"#)
            let (from, new) = (bench.path + "/staged/big.json", bench.path + "/spool/weather/new/")
            let slow = try Program(
                "/usr/bin/rsync", ["-t", "--partial", "--bwlimit=200", from, new], logs: bench.path + "/logs")
            // It writes 256 KiB at a time.
            try await eventually("a part of it") { bench.partialSize(in: new) > 0 }
            slow.kill(victim)
            #expect(try await slow.end() != 0)
            if victim == .sender {
                try await eventually("half under its name") { bench.names(in: "weather/new") == ["big.json"] }
            }
            try await bench.tool("rsync", "-t", "--partial", from, new)
            #expect(try await bench.end(of: "big.json").accepted == 12_000)
            let ledger = try await bench.accepted(12_000)
            #expect(ledger.acceptedCount == 12_000 && ledger.duplicates.isEmpty)
            #expect(bench.jobs(in: "done") == ["big.json"] && bench.jobs(in: "failed").isEmpty)
        }
    }
}

extension Bench {
    /// How large rsync's temporary file is by now.
    fileprivate func partialSize(in folder: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let sizes = names.filter { $0.hasPrefix(".big.json.") }.compactMap {
            (try? FileManager.default.attributesOfItem(atPath: folder + $0))?[.size] as? Int
        }
        return sizes.max() ?? 0
    }
}

extension Program {
    /// Kills a local rsync's sender, which was started first, or its children and theirs.
    fileprivate func kill(_ victim: HalfWrittenTests.Victim) {
        let sender = process.processIdentifier
        let receivers = Self.children(of: sender).flatMap { [$0] + Self.children(of: $0) }
        if victim != .sender { for receiver in receivers { Glibc.kill(receiver, SIGKILL) } }
        if victim != .receivers { Glibc.kill(sender, SIGKILL) }
    }

    private static func children(of process: Int32) -> [Int32] {
        let text = try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        return (text ?? "").split(separator: " ").compactMap { Int32($0) }
    }
}
