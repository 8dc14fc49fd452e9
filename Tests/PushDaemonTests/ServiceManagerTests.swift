import Foundation
import LinuxIO
import Logging
import ServiceProcess
import SpoolModel
import Synchronization
import TestSupport
import Testing

@testable import AppEngine
@testable import Configuration
@testable import JobOperations
@testable import PushDaemon

/// What a service manager hears of the daemon, and what its journal gets.
@Suite struct ServiceManagerTests {
    @Test func `a service manager hears of start, life, reloads, jobs and end`() async throws {
        try await Bench.running(try .init(app: "binary: {confirm_after: 1h}")) { bench in
            let manager = try Manager(bench.path + "/notify")
            let daemon = try bench.start(telling: manager, for: "$$")
            try await bench.watching(daemon) { daemon in
                try await manager.hears("READY=1")
                try await manager.hears("STATUS=1 app; 0 jobs under way")
                try await manager.hears("WATCHDOG=1", times: 3)
                daemon.send(SIGHUP)
                try await manager.hears("RELOADING=1")
                try await manager.hears("READY=1", times: 2)
                try bench.drop("waits.json", job(1))
                try await manager.hears("STATUS=1 app; 1 job under way")
                daemon.send(SIGTERM)
                try await manager.hears("STOPPING=1")
                try await manager.hears("EXTEND_TIMEOUT_USEC=61000000")
                #expect(try await daemon.end() == 0, "\(daemon.log.suffix(2000))")
            }
            let lines = manager.lines
            #expect(lines.first?.hasPrefix("EXTEND_TIMEOUT_USEC=") == true)
            #expect(lines.contains { $0.hasPrefix("STATUS=stopping: 1 app") }, "\(lines)")
            let order = ["READY=1", "RELOADING=1", "STOPPING=1"].compactMap { lines.firstIndex(of: $0) }
            #expect(order.count == 3 && order == order.sorted(), "\(lines)")
        }
    }

    @Test func `the life of a daemon is nobody's business when another process is watched`() async throws {
        try await Bench.running(try .init()) { bench in
            let manager = try Manager("@" + bench.path)
            let daemon = try bench.start(telling: manager, for: "1")
            try await bench.watching(daemon) { daemon in
                try await manager.hears("READY=1")
                #expect(try await daemon.stop() == 0)
            }
            try await manager.hears("STOPPING=1")
            #expect(!manager.lines.contains("WATCHDOG=1"))
        }
    }

    @Test func `a daemon that is ended while it starts is not ready any more`() async throws {
        try await Bench.running(try .init()) { bench in
            for round in 0..<trials(5, full: 50) {
                let manager = try Manager("@\(bench.path)-\(round)")
                let daemon = try bench.start(telling: manager, for: "1")
                try await bench.watching(daemon) { daemon in
                    try await manager.hears("STATUS=starting: reading the journal")
                    daemon.send(SIGTERM)
                    #expect(try await daemon.end() == 0, "\(daemon.log.suffix(2000))")
                }
                try await manager.hears("STOPPING=1")
                let end = try #require(manager.lines.firstIndex(of: "STOPPING=1"))
                #expect(!manager.lines[end...].contains("READY=1"), "\(manager.lines)")
            }
        }
    }

    @Test func `a manager without a name is none`() async throws {
        try await Bench.running(try .init()) { bench in
            let daemon = try bench.start(with: "NOTIFY_SOCKET= WATCHDOG_USEC=200000")
            try await bench.watching(daemon) { daemon in
                try await daemon.says("app started")
                #expect(try await daemon.stop() == 0)
                #expect(!daemon.log.contains("service manager"), "\(daemon.log)")
            }
        }
    }

    @Test func `a manager that cannot be told is warned of once, and jobs are sent all the same`() async throws {
        try await Bench.running(try .init()) { bench in
            let daemon = try bench.start(with: "NOTIFY_SOCKET=\(bench.path)/nobody")
            try await bench.watching(daemon) { daemon in
                try await daemon.says("service manager cannot be notified")
                try await daemon.says("app started")
                try bench.drop("a.json", job(1))
                #expect(try await bench.end(of: "a.json").state == "done")
                #expect(try await daemon.stop() == 0)
                #expect(daemon.log.components(separatedBy: "service manager cannot be notified").count == 2)
            }
        }
    }

    @Test func `apps that do not send are told apart in the status line`() {
        var apps = ["a", "b", "c", "d"].map { SpoolStatus.App(name: $0, state: .sending) }
        apps[0].jobCount = 12
        apps[1].jobCount = 1
        apps[1].state = .stuck
        apps[2].state = .stopped
        apps[3].state = .stopped
        let line = SpoolStatus.line
        #expect(line(apps, false) == "4 apps, 2 stopped, 1 stuck; 13 jobs under way")
        #expect(line([apps[1]], true) == "stopping: 1 app, 1 stuck; 1 job under way")
        #expect(line([], false) == "0 apps; 0 jobs under way")
    }
}

/// How lines begin that go to systemd's journal.
@Suite struct JournalPriorityTests {
    @Test func `a log that goes to the journal has priorities instead of times`() async throws {
        try await Bench.running(try .init()) { bench in
            let daemon = try bench.start(with: "JOURNAL_STREAM=$(stat --dereference --format=%d:%i /proc/self/fd/2)")
            try await bench.watching(daemon) { daemon in
                try await daemon.says("app started")
                let lines = daemon.log.split(separator: "\n")
                #expect(lines.allSatisfy { $0.hasPrefix("<") }, "\(lines)")
                #expect(lines.contains { $0.hasPrefix("<5>notice started path=") }, "\(lines)")
                #expect(lines.contains { $0.hasPrefix("<6>info app started app=weather ") }, "\(lines)")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test func `a log that goes elsewhere has times, whatever the journal's name is`() async throws {
        try await Bench.running(try .init()) { bench in
            let daemon = try bench.start(with: "JOURNAL_STREAM=1:1")
            try await bench.watching(daemon) { daemon in
                try await daemon.says("app started")
                let lines = daemon.log.split(separator: "\n")
                #expect(lines.allSatisfy { !$0.hasPrefix("<") }, "\(lines)")
                #expect(lines.contains { $0.contains("Z notice started path=") }, "\(lines)")
                #expect(try await daemon.stop() == 0)
            }
        }
    }

    @Test(arguments: [
        (Logger.Level.trace, 7), (.debug, 7), (.info, 6), (.notice, 5), (.warning, 4), (.error, 3), (.critical, 2),
    ])
    func `each level has its priority, in both formats`(level: Logger.Level, priority: Int) throws {
        let text = line(.text, level)
        #expect(text == "<\(priority)>\(level) it happened app=weather\n")
        let object = line(.json, level)
        #expect(object.hasPrefix(#"<\#(priority)>{"time":""#), "\(object)")
        #expect(object.hasSuffix(#""app":"weather"}"# + "\n"), "\(object)")
    }

    private func line(_ format: LogFormat, _ level: Logger.Level) -> String {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in
            LineLogHandler(level: .trace, format: format, opening: .priority) { lines.add($0) }
        }
        logger.log(level: level, "it happened", metadata: [LogKey.app: "weather"])
        return lines.text
    }
}

/// Stands in for a service manager.
private final class Manager {
    let name: String
    private let socket: DatagramSocket
    /// What it was told, line by line.
    private(set) var lines: [String] = []

    init(_ name: String) throws {
        self.name = name
        socket = try DatagramSocket(name)
    }

    /// Waits until it was told this line so often in all.
    func hears(_ line: String, times: Int = 1) async throws {
        try await eventually("\(line), told \(lines)") {
            lines += socket.received().flatMap { $0.split(separator: "\n").map(String.init) }
            return lines.count { $0 == line } >= times
        }
    }
}

/// What a logger has written.
final class Lines: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func add(_ line: [UInt8]) { bytes.withLock { $0 += line } }

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
}

extension Bench {
    /// Starts a daemon that tells a manager how it does, every tenth of a second if `process` is its own.
    fileprivate func start(telling manager: Manager, for process: String) throws -> Program {
        try start(with: "NOTIFY_SOCKET=\(manager.name) WATCHDOG_USEC=200000 WATCHDOG_PID=\(process)")
    }
}
