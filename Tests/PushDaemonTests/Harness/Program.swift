import Foundation
import Glibc
import TestSupport
import Testing

/// The built program, or another, running with its output in files.
final class Program {
    let process = Process()
    private let output: String
    private let errors: String

    /// Starts a program.
    init(_ path: String, _ arguments: [String], input: String? = nil, logs: String) throws {
        let name = logs + "/" + UUID().uuidString
        (output, errors) = (name + ".out", name + ".err")
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        var files = try [Self.file(output), Self.file(errors)]
        (process.standardOutput, process.standardError) = (files[0], files[1])
        if let input {
            try Data(input.utf8).write(to: URL(fileURLWithPath: name + ".in"))
            files.append(try FileHandle(forReadingFrom: URL(fileURLWithPath: name + ".in")))
            process.standardInput = files[2]
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
        // They would stay open: with more than 1,300 open files, starting the next process may crash in Foundation, which
        // reads behind the end of a listing of /proc/self/fd.
        for file in files { try file.close() }
    }

    private static func file(_ path: String) throws -> FileHandle {
        try Data().write(to: URL(fileURLWithPath: path))
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    /// What it has written to standard error.
    var log: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    /// What it has written to standard output.
    var text: String { (try? String(contentsOfFile: output, encoding: .utf8)) ?? "" }

    func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Whether it watches this inode with inotify(7).
    func watches(inode: UInt64) throws -> Bool {
        let folder = "/proc/\(process.processIdentifier)/fdinfo"
        let wanted = "ino:\(String(inode, radix: 16)) "
        return try FileManager.default.contentsOfDirectory(atPath: folder).contains {
            // A descriptor may be closed meanwhile.
            (try? String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8))?.contains(wanted) == true
        }
    }

    /// Stops the program in its tracks, and returns when every thread of it stands still; SIGCONT lets it go on.
    ///
    /// One thread passes the signal on to the others, so that they still run while it waits for a processor.
    func freeze() async throws {
        send(SIGSTOP)
        let tasks = "/proc/\(process.processIdentifier)/task"
        try await eventually("all threads stopped") {
            try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
                // A thread may have ended since.
                guard let status = try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8) else {
                    return true
                }
                return status.components(separatedBy: ") ").last?.hasPrefix("T") == true
            }
        }
    }

    /// The names of its threads.
    var threads: [String] {
        get throws {
            let tasks = "/proc/\(process.processIdentifier)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap { task in
                // A thread may have ended since.
                let name = try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)
                return name.map { String($0.dropLast()) }
            }
        }
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit code, or the negative number of the signal that killed it.
    @discardableResult
    func end(within limit: Duration = patience) async throws -> Int32 {
        try await eventually("the end of \(process.arguments ?? [])\n\(log)", within: limit) { !process.isRunning }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// Asks it to end, and waits until it has.
    @discardableResult
    func stop() async throws -> Int32 {
        send(SIGTERM)
        return try await end()
    }

    /// Ends it without asking, and waits until it has.
    func destroy() async throws {
        send(SIGKILL)
        try await end()
    }

    /// Waits for words in its log, which cannot come once it has ended.
    func says(_ words: String, times: Int = 1, within limit: Duration = patience) async throws {
        do {
            try await eventually("log: \(words)", of: process, within: limit) {
                log.components(separatedBy: words).count > times
            }
        } catch {
            throw NotInTime(description: "\(error); it says:\n\(log.suffix(3000))")
        }
    }
}
