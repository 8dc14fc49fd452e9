import Foundation
import Glibc
import TestSupport
import Testing

/// The program as the first process of a PID namespace, as in a container.
@Suite(.enabled(if: FirstProcess.isPossible, "PID namespaces are forbidden here")) struct FirstProcessTests {
    @Test func `orphans of a hook are reaped, and TERM ends the daemon in order`() async throws {
        try await running { bench, first in
            let hooks = bench.path + "/hooks"
            try bench.configureApp("weather", "hook: setsid sleep 0 & echo $$ >> \(hooks)")
            try await first.program.says("configuration loaded")
            for number in 0..<3 {
                try bench.drop("n\(number).json", job(number))
                #expect(try await bench.end(of: "n\(number).json").accepted == 1)
            }
            try await eventually("a hook has run") {
                (try? String(contentsOfFile: hooks, encoding: .utf8))?.isEmpty == false
            }
            try await eventually("only the daemon is left") { try first.children.count == 1 }
            kill(try first.id, SIGTERM)
            #expect(try await first.program.end() == 0, "\(first.program.log)")
            #expect(first.program.log.contains(" notice stopped"))
        }
    }

    @Test func `each signal reaches the daemon once`() async throws {
        try await running { _, first in
            kill(try first.id, SIGHUP)
            try await first.program.says("configuration loaded")
            kill(try first.id, SIGUSR1)
            try await first.program.says("signal ignored")
            kill(try first.id, SIGTERM)
            #expect(try await first.program.end() == 0, "\(first.program.log)")
            for words in ["configuration loaded", "signal ignored", " notice stopping"] {
                #expect(first.program.log.components(separatedBy: words).count == 2, "\(words): \(first.program.log)")
            }
        }
    }

    @Test func `it ends as a signal ends the daemon`() async throws {
        try await running { _, first in
            kill(try #require(try first.children.first), SIGKILL)
            #expect(try await first.program.end() == 128 + SIGKILL)
        }
    }

    @Test func `it ends with the exit status of a command`() async throws {
        try await Bench.running(try .init()) { bench in
            try bench.write("etc/broken.yaml", "spol: x\n")
            for (name, code) in [("pushspool", 0), ("broken", 78)] as [(String, Int32)] {
                let first = try FirstProcess(["check", "--config", "\(bench.path)/etc/\(name).yaml"], bench)
                #expect(try await first.program.end() == code, "\(first.program.log)")
            }
        }
    }

    private func running(_ body: @Sendable (Bench, FirstProcess) async throws -> Void) async throws {
        try await Bench.running(try .init()) { bench in
            let first = try FirstProcess(["run", "--config", bench.path + "/etc/pushspool.yaml"], bench)
            try await bench.watching(first.program) { program in
                try await program.says("app started")
                try await body(bench, first)
            }
        }
    }
}

/// The program in a PID namespace of its own, which ends with it.
private struct FirstProcess {
    private static let namespace = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]

    static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = namespace + ["true"]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// unshare(1), which waits for the first process, and exits as it does.
    let program: Program

    init(_ arguments: [String], _ bench: Bench) throws {
        program = try Program(
            "/usr/bin/env", Self.namespace + [try BuiltProgram.path] + arguments, logs: bench.path + "/logs")
    }

    /// The id of the first process, outside of its namespace.
    var id: Int32 { get throws { try #require(Self.children(of: program.process.processIdentifier).first) } }

    /// The ids of its children, of those too that have ended and were not reaped.
    var children: [Int32] { get throws { try Self.children(of: id) } }

    private static func children(of process: Int32) throws -> [Int32] {
        let text = try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        return text.split(separator: " ").compactMap { Int32($0) }
    }
}
