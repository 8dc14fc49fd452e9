import Foundation
import Glibc
import TestSupport
import Testing

/// A program that runs with its output in a file, and can be killed.
final class Child {
    let process = Process()
    private let output: String

    /// Starts a program, found as a shell finds it.
    ///
    /// - Parameters:
    ///   - command: the program and its arguments.
    ///   - environment: what its environment has besides ours.
    ///   - logs: the folder for what it writes.
    /// - Throws: what keeps it from being started.
    init(_ command: [String], environment: [String: String] = [:], logs: String) throws {
        output = "\(logs)/\(UUID().uuidString).log"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        if !environment.isEmpty {
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        }
        try Data().write(to: URL(fileURLWithPath: output))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardOutput = file
        process.standardError = file
        process.standardInput = FileHandle.nullDevice
        try process.run()
        try file.close()
    }

    /// What it has written.
    var log: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

    /// The end of its log: from a crash on, if there was one.
    var lastWords: Substring {
        let log = log
        guard let crash = log.range(of: "*** ") else { return log.suffix(2000) }
        return log[crash.lowerBound...].prefix(6000)
    }

    /// Removes what it has written: a thousand runs would fill a disk.
    func forget() {
        try? FileManager.default.removeItem(atPath: output)
    }

    func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Whether it has been stopped, by a signal or by itself.
    var isStopped: Bool {
        let status = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
        return status?.components(separatedBy: ") ").last?.hasPrefix("T") == true
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit code, or the negative number of the signal that killed it.
    /// - Throws: `NotInTime`.
    @discardableResult
    func end(within limit: Duration = patience) async throws -> Int32 {
        try await eventually("the end of \(process.arguments ?? []):\n\(log.suffix(3000))", within: limit) {
            !process.isRunning
        }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// The most memory that it has had, in bytes.
    var peakMemory: Int { get throws { try status("VmHWM") << 10 } }

    /// A number of its status (proc(5)), such as `VmRSS` in KiB.
    func status(_ key: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(key + ":") })
        return try #require(Int(line.filter(\.isNumber)), "\(line)")
    }

    /// Asks it to end, and waits until it has.
    @discardableResult
    func stop(within limit: Duration = patience) async throws -> Int32 {
        send(SIGTERM)
        return try await end(within: limit)
    }

    /// Ends it without asking, and waits until it has.
    func destroy() async throws {
        send(SIGKILL)
        try await end()
    }

    /// Waits for words in its log, which cannot come once it has ended.
    func says(_ words: String, within limit: Duration = patience) async throws {
        try await eventually("log: \(words); it says:\n\(log.suffix(3000))", of: process, within: limit) {
            log.contains(words)
        }
    }
}

/// Runs one of the system's programs to its end.
///
/// - Throws: `NotInTime`; an expectation that fails when its exit code is not 0.
@discardableResult
func tool(_ command: [String], logs: String) async throws -> String {
    let child = try Child(command, logs: logs)
    let code = try await child.end()
    try #require(code == 0, "\(command): \(child.log)")
    defer { child.forget() }
    return child.log
}
