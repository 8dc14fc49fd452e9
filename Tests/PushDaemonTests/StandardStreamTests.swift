import Foundation
import Glibc
import LinuxIO
import TestSupport
import Testing

/// Programs whose standard streams are closed, or are pipes that nobody reads.
@Suite struct StandardStreamTests {
    @Test func `a daemon started without standard streams writes its log into no file`() async throws {
        try await Bench.running(try .init()) { bench in
            let daemon = try bench.start(with: "exec 0<&- 1>&- 2>&-;")
            try await bench.watching(daemon) { daemon in
                try await bench.hasApp()
                try bench.drop("a.json", job(1))
                #expect(try await bench.end(of: "a.json").state == "done")
                for number in 0...2 {
                    let path = "/proc/\(daemon.process.processIdentifier)/fd/\(number)"
                    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "/dev/null")
                }
                #expect(try await daemon.stop() == 0)
            }
            let journal = try await bench.run(["journal", bench.path + "/spool/.pushspool/node-a/journal"])
            #expect(journal.code == 0, "\(journal.log)")
        }
    }

    @Test(
        arguments: [
            ("list >&-", 65, "EBADF"), ("list 2>&-", 0, nil), ("list <&-", 0, nil),
            ("submit --app weather - <&-", 65, "EBADF"),
        ] as [(String, Int32, String?)])
    func `a command says what a closed stream makes it lose`(command: String, code: Int32, words: String?) async throws
    {
        try await Turnstile.daemons.passing {
            let spool = try StillSpool()
            try spool.makeApp("weather")
            try spool.write("weather/new/a.json", "{}")
            try FileManager.default.createDirectory(
                atPath: spool.path + "/weather/tmp", withIntermediateDirectories: true)
            let end = try await spool.shell(
                "\"$pushspool\" \(command.replacing(" ", with: " --spool \"$spool\" ", maxReplacements: 1))")
            #expect(end.code == code && words.map(end.log.contains) ?? true, "\(end)")
        }
    }

    @Test func `a log pipe that nobody reads stops neither jobs nor commands nor the end`() async throws {
        try await Bench.running(try .init()) { bench in
            let pipe = try FullPipe(bench.path + "/log")
            let manager = try DatagramSocket(bench.path + "/notify")
            let environment = "NOTIFY_SOCKET=\(bench.path)/notify WATCHDOG_USEC=200000"
            let daemon = try bench.start(with: "exec 2>\(pipe.path); \(environment)")
            try await bench.watching(daemon) { daemon in
                try await bench.hasApp()
                for number in 1...20 { try bench.drop("\(number).json", job(number)) }
                for number in 1...20 { #expect(try await bench.end(of: "\(number).json").state == "done") }
                let pause = try await bench.operate("pause", "weather")
                #expect(pause.code == 0, "\(pause)")
                _ = manager.received()
                try await eventually("a sign of life") { manager.received().contains { $0.contains("WATCHDOG=1") } }
                #expect(try await daemon.stop() == 0)
            }
            withExtendedLifetime(pipe) {}
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a watch whose output nobody reads ends when asked to`(signal: Int32) async throws {
        try await Turnstile.daemons.passing {
            let folder = try TemporaryDirectory()
            let pipe = try FullPipe(folder.path + "/output")
            try Data("spool: spool\nstate: state\n".utf8).write(
                to: URL(fileURLWithPath: folder.path + "/pushspool.yaml"))
            let line =
                "exec \(try BuiltProgram.path) status --watch --config \(folder.path)/pushspool.yaml >\(pipe.path)"
            let watch = try Program("/usr/bin/env", ["sh", "-c", line], logs: folder.path)
            try await eventually("it receives signals itself") { Self.blocks(signal, watch) }
            watch.send(signal)
            #expect(try await watch.end() == 0, "\(watch.log)")
            withExtendedLifetime(pipe) {}
        }
    }

    @Test func `what a daemon logs last is written before it ends`() async throws {
        try await Bench.running(try .init()) { bench in
            for _ in 0..<trials(5, full: 50) {
                let daemon = try bench.start(with: "")
                try await bench.watching(daemon) { daemon in
                    try await daemon.says("app started")
                    #expect(try await daemon.stop() == 0)
                    #expect(
                        daemon.log.split(separator: "\n").last?.hasSuffix("notice stopped") == true, "\(daemon.log)")
                }
            }
        }
    }

    /// Whether a program has a signal blocked (proc(5)).
    private static func blocks(_ signal: Int32, _ program: Program) -> Bool {
        let path = "/proc/\(program.process.processIdentifier)/status"
        let line = (try? String(contentsOfFile: path, encoding: .utf8))?.firstMatch(of: #/SigBlk:\s*([0-9a-f]+)/#)
        return line.flatMap { UInt64($0.output.1, radix: 16) }.map { $0 >> (signal - 1) & 1 == 1 } ?? false
    }

    @Test func `doors whose log nobody reads end when asked to`() async throws {
        try await Modern().running { bench in
            let way = try Doorway(bench)
            try way.configure(#"http: {listen: "127.0.0.1:0"}"#)
            let pipe = try FullPipe(bench.path + "/log")
            let line = "exec \(try BuiltProgram.doorPath) run --config \(bench.path)/door/doors.yaml 2>\(pipe.path)"
            let manager = try DatagramSocket(bench.path + "/notify")
            let words = ["NOTIFY_SOCKET=\(bench.path)/notify", "sh", "-c", line]
            let door = try Program("/usr/bin/env", words, logs: bench.path + "/logs")
            try await bench.watching(door) { door in
                try await eventually("it is ready") { manager.received().contains { $0.contains("READY=1") } }
                #expect(try await door.stop() == 0)
            }
            withExtendedLifetime(pipe) {}
        }
    }
}

extension Bench {
    /// Waits for the folders of the app: its daemon's log cannot be read.
    fileprivate func hasApp() async throws {
        try await eventually("the app's folders") {
            FileManager.default.fileExists(atPath: "\(path)/spool/weather/feedback")
        }
    }
}

/// A pipe with a name that is full and that nobody reads.
private final class FullPipe: Sendable {
    let path: String
    private let descriptor: Descriptor

    init(_ path: String) throws {
        self.path = path
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let number = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(number >= 0)
        descriptor = Descriptor(adopting: number)
        let piece = [UInt8](repeating: 0x2E, count: 4_096)
        while unsafe Glibc.write(number, piece, piece.count) > 0 {}
        while unsafe Glibc.write(number, piece, 1) > 0 {}
    }
}
