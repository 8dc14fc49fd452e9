import Foundation
import TestSupport
import Testing

/// What programs say of a command line.
struct CommandLineTests {
    @Test(arguments: [
        (["list", "--nonsense"], "pushspool: unknown option '--nonsense'", "hint: see: pushspool list --help"),
        (["hold"], "pushspool: name jobs, or give --all", "hint: see: pushspool hold --help"),
        (
            ["channel", "create", "a", "--nonsense"], "pushspool: missing expected argument",
            "see: pushspool channel create --help"
        ),
        (["stop", "--timeout", "x"], "pushspool: ", "hint: see: pushspool stop --help"),
        (
            ["status", "--watch", "--json"], "pushspool: --watch cannot be combined with --json\n",
            "hint: see: pushspool status"
        ),
        (["lst"], "pushspool: unknown command `lst`", "hint: did you mean `list`?"),
    ])
    func `a fault of the command line looks like any other error`(words: [String], message: String, hint: String)
        async throws
    {
        let end = try await run(try BuiltProgram.path, words)
        #expect(end.code == 64 && end.text.hasPrefix(message) && end.text.contains(hint), "\(end)")
        #expect(!end.text.contains("Error:") && !end.text.contains("Usage:"), "\(end)")
    }

    @Test(arguments: [
        (["check", "--nonsense"], "unknown option '--nonsense'\nhint: see: pushspool-door check --help\n"),
        (["docter"], "unknown command `docter`\nhint: did you mean `doctor`?\n"),
    ])
    func `the doors' program says the same`(words: [String], text: String) async throws {
        let end = try await run(try BuiltProgram.doorPath, words)
        #expect(end.code == 64 && end.text == "pushspool-door: " + text, "\(end)")
    }

    /// Runs a program to its end, and returns what it writes to standard error.
    private func run(_ path: String, _ words: [String]) async throws -> (code: Int32, text: String) {
        let folder = try TemporaryDirectory()
        let process = Process()
        let file = folder.path + "/errors"
        try Data().write(to: URL(fileURLWithPath: file))
        (process.executableURL, process.arguments) = (URL(fileURLWithPath: path), words)
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        process.standardError = errors
        try process.run()
        try errors.close()
        try await eventually("the end of \(words)") { !process.isRunning }
        return (process.terminationStatus, try String(contentsOfFile: file, encoding: .utf8))
    }
}
