import Foundation
import TestSupport
import Testing

/// A spool that no daemon serves, for the commands that only read one.
struct StillSpool: Sendable {
    private let folder: TemporaryDirectory
    /// Where the spool is.
    let path: String
    private let logs: String

    init() throws {
        folder = try TemporaryDirectory()
        (path, logs) = (folder.path + "/spool", folder.path + "/logs")
        for folder in [path, logs] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
    }

    /// Writes a file of the spool, and makes the folders above it.
    func write(_ name: String, _ text: String) throws {
        let url = URL(fileURLWithPath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Makes the folders of an app.
    func makeApp(_ name: String) throws {
        for folder in ["new", "work", "hold", "done", "failed", "feedback"] {
            try FileManager.default.createDirectory(
                atPath: "\(path)/\(name)/\(folder)", withIntermediateDirectories: true)
        }
    }

    /// Writes a file of feedback, published so many seconds after some morning.
    func publish(_ lines: [String], app: String = "weather", node: String = "node-a", second: Int) throws {
        try makeApp(app)
        try write("\(app)/feedback/\(Self.feedbackName(second, node))", lines.map { $0 + "\n" }.joined())
    }

    /// The name of such a file.
    static func feedbackName(_ second: Int, _ node: String = "node-a") -> String {
        let digits = String(100_000 + second).dropFirst(2)
        return "20261121T08\(digits.prefix(2))\(digits.suffix(2)).000000Z-\(node).jsonl"
    }

    /// The names in a folder of the spool, in order; none if it is not there.
    func names(in name: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name)").sorted()) ?? []
    }

    /// Starts a command with these arguments and `--spool`.
    func start(_ arguments: [String], input: String? = nil) throws -> Program {
        try Program(try BuiltProgram.path, arguments + ["--spool", path], input: input, logs: logs)
    }

    /// Runs a command with these arguments and `--spool` to its end.
    func run(_ arguments: [String], input: String? = nil) async throws -> (code: Int32, text: String, log: String) {
        let program = try start(arguments, input: input)
        let code = try await program.end()
        return (code, program.text, program.log)
    }

    /// Runs a line of shell in which `$pushspool` is the program and `$spool` the spool.
    func shell(_ line: String) async throws -> (code: Int32, text: String, log: String) {
        let names = ["pushspool=\(try BuiltProgram.path)", "spool=\(path)"]
        let program = try Program("/usr/bin/env", names + ["bash", "-c", line], logs: logs)
        let code = try await program.end()
        return (code, program.text, program.log)
    }
}

/// Feedback lines as the daemon writes them, for spools that no daemon serves.
enum FeedbackText {
    /// A `notification` line.
    static func notification(
        _ index: Int, job: String = "a.json", app: String = "weather", _ more: String = #""outcome":"rejected""#
    ) -> String {
        #"{"v":1,"kind":"notification","app":"\#(app)","node":"node-a","job":"\#(job)","id":"\#(id(1))","#
            + #""index":\#(index),"token":"\#(token(index))",\#(more),"at":"2026-11-21T08:00:0\#(index % 10).000Z"}"#
    }

    /// A `token` line.
    static func goneToken(_ number: Int, app: String = "weather", goneSince: String) -> String {
        #"{"v":1,"kind":"token","app":"\#(app)","node":"node-a","token":"\#(token(number))","#
            + #""verdict":"gone","gone_since":"\#(goneSince)","source":"feedback_service"}"#
    }

    /// An id of a job.
    static func id(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 26 - digits.count) + digits
    }
}
