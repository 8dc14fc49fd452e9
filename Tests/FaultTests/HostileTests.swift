import Foundation
import GatewaySimulator
import Glibc
import LinuxIO
import TestSupport
import Testing

/// Files that are not what they seem, or too much.
@Suite(.serialized) struct HostileTests {
    /// What keeps a daemon that is not root from a job.
    enum Bar: String, CaseIterable {
        case mode, foreignOwner, accessList, stickyOwner

        /// Those that can be put up here.
        static var possible: [Self] { allCases.filter { $0 != .accessList || Volume.isInstalled("setfacl") } }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"), .needs("setpriv"), arguments: Bar.possible)
    func `a job that may not be read fails with a remedy, and nothing spins`(bar: Bar) async throws {
        try await Bench.running { bench in
            try await bench.giveAway()
            let command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + (try bench.command())
            let daemon = try Child(command, logs: bench.home + "/logs")
            try await daemon.says("app started")
            try await bench.dropBarred("barred.json", by: bar)
            for number in 1...3 { try bench.drop(Drop(number: number, count: 1), owner: 65_534) }
            try await eventually("the others: \(daemon.log.suffix(2000))") {
                bench.archived("weather").count { $0.hasPrefix("done/") } == 3
            }
            let cost = try daemon.processorSeconds
            try await moment(.seconds(1))
            #expect(try daemon.processorSeconds - cost < 0.5, "it spins")
            let warnings = daemon.log.split(separator: "\n").count { $0.contains("barred.json") }
            #expect(warnings <= 3, "\(daemon.log.suffix(2000))")
            #expect(try await daemon.stop() == 0)
            report("G57 perm \(bar): \(warnings) warnings; seed \(seed), \(bench.age) s")
        }
    }

    @Test func `a lease of somebody's delays a job, but nothing else and not for long`() async throws {
        try await Bench.running { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                let path = "\(bench.seenGround)/staged/j1.json"
                let drop = Drop(number: 1, count: 1)
                try Data(drop.text.utf8).write(to: URL(fileURLWithPath: path))
                bench.drops.append(drop)
                let file = try await Self.leased(path)
                try FileManager.default.moveItem(atPath: path, toPath: "\(bench.spool)/weather/new/j1.json")
                try bench.drop(Drop(number: 2, count: 1))
                try await eventually("the other") { bench.archived("weather").contains { $0.hasSuffix("/j2.json") } }
                close(file)
                try await eventually("both") { try bench.isIdle() }
                #expect(try await daemon.stop() == 0)
            }
            let verdict = try await bench.judge("G58 lease-abuse", allowance: 0)
            #expect(verdict.isGood, "\(verdict)")
        }
    }

    /// Opens a file and takes a write lease, which opening it elsewhere breaks, after a wait.
    private static func leased(_ path: String) async throws -> Int32 {
        // The kernel says so by SIGIO, which ends a process that does not care.
        _ = signal(SIGIO, SIG_IGN)
        let file = unsafe open(path, O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        let setLease: Int32 = 1024
        // A program that another test starts has the file, too, until it is another program.
        try await eventually("a lease") { fcntl(file, setLease, Int32(F_WRLCK)) == 0 }
        return file
    }

    /// Files that would cost a careless reader its memory.
    static let bombs: [(name: String, text: String)] = [
        ("nested.json", String(repeating: "[", count: 100_000)),
        ("nested.yaml", String(repeating: "- ", count: 50_000) + "x\n"),
        ("aliases.yaml", "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\ntoken: *c\n"),
        ("twice.json", #"{"token":"\#(Recipient(job: 9, index: 9).token)","alert":"a","alert":"b"}"#),
        ("nan.yaml", "token: \(Recipient(job: 9, index: 9).token)\npayload: {aps: {alert: x}, n: .nan}\n"),
    ]

    @Test func `bombs fail with a reason and cost nothing`() async throws {
        try await Bench.running { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                for bomb in Self.bombs { try bench.put(bomb.name, bomb.text) }
                try await bench.putSparse("sparse.json", "1T")
                try bench.drop(Drop(number: 1, count: 1))
                try await eventually("all judged: \(bench.names(in: "weather/new"))") {
                    bench.names(in: "weather/new").isEmpty && bench.claimed("weather").isEmpty
                }
                #expect(try daemon.peakMemory < 200 << 20)
                #expect(try await daemon.stop() == 0)
            }
            let failed = try bench.lines("weather").filter { $0.kind == "job" && $0.state == "failed" }
            #expect(failed.count == Self.bombs.count + 1 && failed.allSatisfy { $0.code != nil }, "\(failed)")
            #expect(try await bench.entries().count == 1)
            report("G59 bombs: \(failed.count) failed; seed \(seed), \(bench.age) s")
        }
    }

    @Test(.needs(.tmpfs), arguments: ["huge.jsonl", "huge.json"])
    func `a file as long as there can be fails with a reason, and another app goes on`(name: String) async throws {
        let setup = Bench.Setup(apps: ["weather", "news"], volume: Volume.Shape(kind: .tmpfs))
        try await Bench.running(setup) { bench in
            try await bench.putSparse(name, "\(Int64.max)")
            try bench.drop(Drop(number: 1, count: 1))
            try await bench.withDaemon { daemon in
                try await eventually("both apps: \(daemon.log.suffix(2000))") {
                    bench.archived("news").contains { $0.hasSuffix("/j1.json") }
                        && bench.archived("weather").contains { $0.hasSuffix("/\(name)") }
                }
                #expect(try await daemon.stop() == 0)
            }
            let failed = try bench.lines("weather").filter { $0.kind == "job" }
            #expect(failed.map(\.code) == ["invalid"], "\(failed)")
        }
    }

    @Test(.full) func `a million recipients in one job go out in bounded memory`() async throws {
        try await Bench.running(.init(window: 1_000)) { bench in
            let count = 1_000_000
            try bench.putLines("million.jsonl", count: count)
            try await bench.withDaemon { daemon in
                try await eventually("all of them", within: .seconds(900)) {
                    try bench.lines("weather").contains { $0.kind == "job" && $0.sum == count }
                }
                report("G59 million recipients: peak memory \(try daemon.peakMemory >> 20) MiB")
                #expect(try daemon.peakMemory < 400 << 20)
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `however many jobs wait, sending begins and memory is bounded`() async throws {
        let count = trials(4_000, full: 1_000_000)
        try await Bench.running { bench in
            try bench.putMany(count)
            let start = ContinuousClock.now
            try await bench.withDaemon { daemon in
                try await bench.arrived(1)
                let first = start.duration(to: .now)
                try await moment(.seconds(trials(1, full: 60)))
                let peak = try daemon.peakMemory
                report("G60 million-files: \(count) jobs, the first sent after \(first), peak memory \(peak >> 20) MiB")
                // A debug build: the daemon that is delivered takes a fraction. How soon that sends is for the benchmarks.
                #expect(peak < (100 << 20) + count * 64)
            }
        }
    }
}

extension Bench {
    /// Gives everything to nobody, as whom a daemon may then run.
    fileprivate func giveAway() async throws {
        try await tool(["chown", "-R", "65534:65534", home], logs: home + "/logs")
        try await tool(["chmod", "755", home], logs: home + "/logs")
    }

    fileprivate func put(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(seenGround)/staged/\(name)"))
        try FileManager.default.moveItem(atPath: "\(seenGround)/staged/\(name)", toPath: "\(spool)/weather/new/\(name)")
    }

    fileprivate func dropBarred(_ name: String, by bar: HostileTests.Bar) async throws {
        let path = "\(seenGround)/staged/\(name)"
        try Data(Drop(number: 7, count: 1).text.utf8).write(to: URL(fileURLWithPath: path))
        switch bar {
        case .mode: try await tool(["chmod", "0000", path], logs: home + "/logs")
        case .foreignOwner: try await tool(["chmod", "0600", path], logs: home + "/logs")
        case .accessList:
            try await tool(["chmod", "0644", path], logs: home + "/logs")
            try await tool(["setfacl", "--modify", "user:65534:---", path], logs: home + "/logs")
        case .stickyOwner:
            try await tool(["chmod", "0644", path], logs: home + "/logs")
            try await tool(["chown", "0:65534", "\(spool)/weather/new"], logs: home + "/logs")
            try await tool(["chmod", "3770", "\(spool)/weather/new"], logs: home + "/logs")
        }
        try FileManager.default.moveItem(atPath: path, toPath: "\(spool)/weather/new/\(name)")
    }

    fileprivate func putSparse(_ name: String, _ size: String) async throws {
        try await tool(["truncate", "-s", size, "\(seenGround)/staged/\(name)"], logs: home + "/logs")
        try FileManager.default.moveItem(atPath: "\(seenGround)/staged/\(name)", toPath: "\(spool)/weather/new/\(name)")
    }

    fileprivate func putLines(_ name: String, count: Int) throws {
        var text = Array(#"{"defaults":{"alert":"Hi"}}"#.utf8) + [0x0A]
        for index in 0..<count {
            text += Array(#"{"token":"\#(Recipient(job: 1, index: index).token)"}"#.utf8)
            text.append(0x0A)
        }
        try Data(text).write(to: URL(fileURLWithPath: "\(seenGround)/staged/\(name)"))
        try FileManager.default.moveItem(atPath: "\(seenGround)/staged/\(name)", toPath: "\(spool)/weather/new/\(name)")
    }

    /// Fills `new/` before any daemon looks.
    fileprivate func putMany(_ count: Int) throws {
        let new = try Directory.open(path: "\(spool)/weather/new")
        for number in 0..<count {
            let token = Recipient(job: 1, index: number).token
            try new.put("n\(number).json", #"{"token":"\#(token)","alert":"Hi"}"#)
        }
    }
}
