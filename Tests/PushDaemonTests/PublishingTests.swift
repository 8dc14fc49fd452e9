import Foundation
import GatewaySimulator
import JobFormat
import LinuxIO
import SpoolModel
import TestSupport
import Testing

/// The ways in which producers make a file appear (publish-matrix).
@Suite struct PublishingTests {
    enum Way: String, CaseIterable {
        case inPlace, rename, pointName, linkAndUnlink, linkFromElsewhere, unnamedFile, cp, install, moveAcross,
            exchange
    }

    @Test(.catalogue("D36 publish-matrix", checks: [.onePlace, .nobodyLost, .fewDoubled]), arguments: Way.allCases)
    func `a file is picked up exactly once, however it is published`(way: Way) async throws {
        try await Bench.serving(try .init(patience: "3s")) { bench, _ in
            try await publish("matrix.json", by: way, on: bench)
            _ = try await bench.end(of: "matrix.json")
            try bench.drop("behind.json", job(2))
            _ = try await bench.end(of: "behind.json")
            let ledger = try await bench.accepted(2)
            #expect(ledger.accepted.map(\.tokenText) == [token(1), token(2)])
            #expect(bench.jobs(in: "done") == ["behind.json", "matrix.json"])
            #expect(bench.names(in: "weather/new").allSatisfy { $0.hasPrefix(".") })
        }
    }

    private func publish(_ name: String, by way: Way, on bench: Bench) async throws {
        let (new, outside) = (bench.path + "/spool/weather/new", bench.path + "/staged/one")
        let files = FileManager.default
        switch way {
        case .inPlace: try bench.write("spool/weather/new/\(name)", job(1))
        case .rename: try bench.drop(name, job(1))
        case .pointName:
            try bench.write("spool/weather/new/.\(name)", job(1))
            try files.moveItem(atPath: new + "/." + name, toPath: new + "/" + name)
        case .linkAndUnlink:
            try bench.write("spool/weather/new/.\(name)", job(1))
            try files.linkItem(atPath: new + "/." + name, toPath: new + "/" + name)
            try files.removeItem(atPath: new + "/." + name)
        case .linkFromElsewhere:
            try bench.write("staged/one", job(1))
            try files.linkItem(atPath: outside, toPath: new + "/" + name)
        case .unnamedFile:
            try bench.folder.linkUnnamed("spool/weather/new/\(name)", contents: job(1))
        case .cp, .install:
            try bench.write("staged/one", job(1))
            try await bench.tool(way.rawValue, outside, new + "/" + name)
        case .moveAcross:
            let other = "/dev/shm/\(UUID().uuidString).json"
            try Data(job(1).utf8).write(to: URL(fileURLWithPath: other))
            try await bench.tool("mv", other, new + "/" + name)
        case .exchange:
            try bench.write("spool/weather/tmp/\(name)", job(1))
            try bench.write("spool/weather/new/\(name)", "")
            try bench.folder.exchange("spool/weather/tmp/\(name)", "spool/weather/new/\(name)")
        }
    }

    @Test(.catalogue("G54 all-names", checks: [.onePlace, .nobodyLost, .fewDoubled, .toldFirst]))
    func `every name is taken, archived under its own bytes, and can be read back from its line`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let names = hostileNames
            let new = try Directory.open(path: bench.path + "/spool/weather/new")
            let staged = try Directory.open(path: bench.path + "/staged")
            for (number, name) in names.enumerated() {
                try staged.put("x", job(number))
                try staged.rename(Array("x".utf8), to: new, as: name)
            }
            try await eventually("all lines") { try bench.lines("job").count == names.count }
            let told = try bench.lines("job").compactMap { FileName(escaped: $0.job ?? "")?.bytes }
            #expect(Set(told) == Set(names))
            try await eventually("all archived") { try archivedNames(bench).count == names.count }
            #expect(Set(try archivedNames(bench)) == Set(names))
            let tokens = try await bench.accepted(names.count).accepted.map(\.tokenText)
            #expect(tokens.count == names.count && Set(tokens).count == names.count)
        }
    }

    /// Each single byte, 255 bytes, what is no UTF-8, two spellings of one letter, and what shells stumble over.
    private var hostileNames: [[UInt8]] {
        let single = (UInt8(1)...255).filter { $0 != 0x2F }.map { Array("b".utf8) + [$0] + Array(".json".utf8) }
        let texts = [
            "caf\u{E9}.json", "cafe\u{301}.json", "-rf.json", "a\r\nb.json", "a b .json", "%41.json", "*.json",
        ]
        let long = [String(repeating: "x", count: 250) + ".json", String(repeating: "é", count: 125) + ".json"]
        let broken: [[UInt8]] = [[0xFF, 0xFE] + Array(".json".utf8), [0xC3] + Array(".json".utf8)]
        return single + (texts + long).map { Array($0.utf8) } + broken
    }

    private func archivedNames(_ bench: Bench) throws -> [[UInt8]] {
        let done = try Directory.open(path: bench.path + "/spool/weather/done")
        return try done.names().flatMap { try done.openChild($0).names() }
    }

    @Test func `names that are no job's are left alone`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let names = ["..json", ".hidden.json", "a.json~", "a.json.tmp", "a.result.json", "a.txt", "b.json "]
            for name in names { try bench.drop(name, job(7)) }
            try bench.drop("z.json", job(1))
            _ = try await bench.end(of: "z.json")
            #expect(bench.names(in: "weather/new") == names.sorted())
            #expect(await bench.simulator.ledger.acceptedCount == 1)
        }
    }

    @Test(.catalogue("G56 special-files", checks: [.onePlace, .toldFirst]))
    func `what is no regular file is moved to failed with a reason, and never opened`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let new = "spool/weather/new/"
            try bench.write("staged/secret", job(66))
            try bench.folder.makePipe(new + "pipe.json")
            try bench.folder.makeSocket(new + "socket.json")
            try bench.folder.link(new + "dangling.json", to: "/nowhere")
            try bench.folder.link(new + "cyclic.json", to: "cyclic.json")
            try bench.folder.link(new + "secret.json", to: bench.path + "/staged/secret")
            try FileManager.default.createDirectory(
                atPath: bench.path + "/" + new + "folder.json", withIntermediateDirectories: false)
            let names = ["pipe", "socket", "dangling", "cyclic", "secret", "folder"].map { $0 + ".json" }
            for name in names {
                let line = try await bench.endAsItIs(of: name)
                #expect(line.state == "failed" && line.code == "unreadable")
                #expect(try await bench.result(of: line).why?.contains("not a regular file") == true)
            }
            // A file is moved behind its line.
            try await eventually("all moved") { bench.jobs(in: "failed").count == names.count }
            #expect(Set(bench.jobs(in: "failed")) == Set(names))
            #expect(bench.names(in: "weather/new").isEmpty)
            #expect(await bench.simulator.ledger.arrivedCount == 0)
        }
    }

    @Test(.catalogue("G55 symlink-swap", checks: []))
    func `a link that changes places with a job never leads to another file`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            try bench.write("staged/secret", job(66))
            for number in 0..<(isFullRun ? 2000 : 100) {
                let (name, link) = ("swap\(number).json", "staged/link\(number)")
                try bench.folder.link(link, to: bench.path + "/staged/secret")
                try bench.drop(name, job(number + 1000))
                try? bench.folder.exchange(link, "spool/weather/new/" + name)
            }
            try await eventually("all judged") { bench.names(in: "weather/new").isEmpty }
            try bench.drop("behind.json", job(1))
            _ = try await bench.end(of: "behind.json")
            #expect(await !bench.simulator.ledger.acceptedTokens.contains(Array(hex: token(66))))
            #expect(try !bench.texts().joined().contains(token(66)))
        }
    }

    @Test(.catalogue("F52 replace-while-claimed", checks: [.onePlace, .nobodyLost, .fewDoubled]))
    func `a job that its producer replaces again and again is whole in every version that is sent`() async throws {
        try await Bench.serving(try .init()) { bench, _ in
            let count = isFullRun ? 5000 : 300
            for number in 0..<count { try bench.drop("same.json", job(number)) }
            try await eventually("all taken") { bench.names(in: "weather/new").isEmpty }
            try bench.drop("behind.json", job(count))
            _ = try await bench.end(of: "behind.json")
            try await eventually("none under way") { bench.names(in: "weather/work/node-a").isEmpty }
            let archived = try bench.archived("done").map { try bench.contents($0) }
            let ledger = try await bench.accepted(archived.count)
            #expect(ledger.duplicates.isEmpty && ledger.acceptedCount == archived.count)
            #expect(Set(archived) == Set(ledger.accepted.map { job(Int($0.tokenText.suffix(16), radix: 16) ?? -1) }))
            #expect(archived.contains(job(count - 1)))
            #expect(bench.jobs(in: "failed").isEmpty)
        }
    }

    @Test(.catalogue("D31 overflow, a daemon that does not read", checks: [.onePlace, .nobodyLost, .fewDoubled]))
    func `many jobs at once are all picked up, each once`() async throws {
        try await Bench.serving(try .init()) { bench, daemon in
            let count = isFullRun ? max(20_000, try queuedEventLimit + 1000) : 600
            // A daemon that does not read lets the kernel's queue overflow in the long run.
            try await daemon.freeze()
            for number in 0..<count { try bench.drop("n\(number).json", job(number)) }
            daemon.send(SIGCONT)
            try await eventually("all done", within: isFullRun ? .seconds(600) : patience) {
                bench.jobs(in: "done").count == count
            }
            if isFullRun { try await daemon.says("overflows=1") }
            let ledger = try await bench.accepted(count)
            #expect(ledger.acceptedCount == count && ledger.duplicates.isEmpty)
        }
    }

    @Test(.catalogue("D31 overflow, names that are never told", checks: [.nobodyLost, .fewDoubled]))
    func `what the kernel's full queue does not tell is found, new apps too`() async throws {
        var setup = try Bench.Setup()
        // Nothing but the overflow makes the daemon look.
        setup.rescan = "1h"
        try await Bench.serving(setup) { bench, daemon in
            try bench.configureApp("late")
            daemon.send(SIGHUP)
            try await daemon.says("app started", times: 2)
            try await daemon.freeze()
            try bench.fillEventQueue()
            for number in 0..<10 { try bench.drop("n\(number).json", job(number)) }
            try bench.replaceApp("late", job(10))
            daemon.send(SIGCONT)
            _ = try await bench.accepted(11)
            try await daemon.says("overflows=1")
            // Both are watched again.
            try bench.drop("a.json", job(11))
            try bench.drop("b.json", job(12), app: "late")
            let ledger = try await bench.accepted(13)
            #expect(ledger.acceptedCount == 13 && ledger.duplicates.isEmpty)
        }
    }
}

extension Bench {
    /// Waits for the line of something that is no file, such as a dangling link.
    func endAsItIs(of name: String) async throws -> Line {
        try await awaited("line of \(name)") { try lines("job").last { $0.job == name } }
    }

    /// Causes more events in an app's `new/` than the kernel keeps for a daemon that does not read.
    fileprivate func fillEventQueue() throws {
        let new = try Directory.open(path: path + "/spool/weather/new")
        let (one, other) = (Array(".one".utf8), Array(".other".utf8))
        try new.put(one, [])
        for _ in 0...(try queuedEventLimit / 2) {
            try new.rename(one, to: new, as: other)
            try new.rename(other, to: new, as: one)
        }
    }

    /// Puts a new directory with one job in place of an app's.
    fileprivate func replaceApp(_ name: String, _ text: String) throws {
        let files = FileManager.default
        try files.createDirectory(atPath: path + "/staged/app/new", withIntermediateDirectories: true)
        try write("staged/app/new/first.json", text)
        try folder.exchange("staged/app", "spool/" + name)
    }
}

/// How many events the kernel keeps for one reader.
private var queuedEventLimit: Int {
    get throws {
        let text = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
        return try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
