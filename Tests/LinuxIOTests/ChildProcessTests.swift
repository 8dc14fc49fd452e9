import LinuxIO
import Synchronization
import TestSupport
import Testing

struct ChildProcessTests {
    /// Runs a shell's line with this input to its end.
    private func end(_ line: String, input: String = "") async throws -> ChildProcess.End? {
        let folder = try TemporaryDirectory()
        let directory = try Directory.open(path: folder.path)
        try directory.put(Array("input".utf8), Array(input.utf8))
        let child = try ChildProcess.start(
            ["sh", "-c", line], environment: ["PATH=/usr/bin:/bin", "FOLDER=\(folder.path)", "WORD=b"],
            input: try directory.openForReading(Array("input".utf8)))
        let reactor = try Reactor()
        defer { reactor.stop() }
        return try await ChildWatch(on: reactor).end(of: child, until: .now + .seconds(60))
    }

    @Test(arguments: [0, 1, 65, 255] as [Int32])
    func `an exit status is told`(status: Int32) async throws {
        #expect(try await end("exit \(status)") == .exited(status))
    }

    @Test func `a signal is told, and kills although this program has it blocked`() async throws {
        #expect(try await end("kill -TERM $$; exit 1") == .killed(15))
        #expect(try await end("kill -PIPE $$; exit 1") == .killed(13))
    }

    @Test func `input and environment are those given, and no others`() async throws {
        #expect(try await end("test \"$(cat)$WORD\" = ab", input: "a") == .exited(0))
        #expect(try await end("test -z \"$HOME$USER\"") == .exited(0))
    }

    /// What a shell's line prints, line by line, and how it ends.
    private func printed(_ line: String) async throws -> (lines: [String], end: ChildProcess.End?) {
        let folder = try TemporaryDirectory()
        let directory = try Directory.open(path: folder.path)
        try directory.put(Array("input".utf8), [])
        let reactor = try Reactor()
        defer { reactor.stop() }
        let output = try ChildOutput(on: reactor)
        let child = try ChildProcess.start(
            ["sh", "-c", line], environment: ["PATH=/usr/bin:/bin"],
            input: try directory.openForReading(Array("input".utf8)), output: output)
        let lines = Mutex<[String]>([])
        let reading = Task { try await output.lines { line in lines.withLock { $0.append(line) } } }
        let end = try await ChildWatch(on: reactor).end(of: child, until: .now + .seconds(60))
        await output.finish()
        try await reading.value
        return (lines.withLock { $0 }, end)
    }

    @Test func `what it prints and complains of is told line by line`() async throws {
        let told = try await printed("echo one; echo two >&2; printf 'three\\n\\nfo'; printf ur; exit 7")
        #expect(told.lines == ["one", "two", "three", "", "four"] && told.end == .exited(7))
    }

    @Test func `what is more than a pipe holds is told, long lines cut`() async throws {
        let told = try await printed("seq 100000; head -c 5000 /dev/zero | tr '\\0' x; echo; echo end")
        #expect(told.lines.count == 100_002 && told.lines[99_999] == "100000" && told.lines.last == "end")
        #expect(told.lines[100_000] == String(repeating: "x", count: ChildOutput.lineLimit) + "…")
    }

    @Test(.timeLimit(.minutes(10)))
    func `who has left the group and goes on printing keeps nobody`() async throws {
        let told = try await printed("echo one; setsid sleep 20 & echo two")
        #expect(told.lines == ["one", "two"] && told.end == .exited(0))
    }

    @Test func `no descriptor but the usual three is passed on`() async throws {
        // One is that of the folder that ls reads.
        #expect(try await end("exec 2>/dev/null; test $(ls /proc/self/fd | wc -l) = 4") == .exited(0))
    }

    @Test func `a program that is not there is told`() throws {
        let folder = try TemporaryDirectory()
        let directory = try Directory.open(path: folder.path)
        try directory.put(Array("input".utf8), [])
        let error = #expect(throws: SystemError.self) {
            _ = try ChildProcess.start(
                ["/nowhere/program"], environment: [], input: try directory.openForReading(Array("input".utf8)))
        }
        #expect(error?.isNotFound == true && error?.subject == "/nowhere/program")
    }

    @Test(
        .catalogue("J78 hook-leftovers, a process", checks: []),
        arguments: ["", "exec <&- >&- 2>&-; ", "trap '' HUP TERM; "])
    func `one that ends by itself takes with it what it has left behind`(before: String) async throws {
        let folder = try TemporaryDirectory()
        let line = "(\(before)exec sleep 1000) & echo $! > \(folder.path)/number"
        #expect(try await end(line) == .exited(0))
        let number = String(Self.text(of: folder.path + "/number").dropLast())
        try #require(Int32(number) != nil)
        try await eventually("the end of \(number)") { Self.isGone(number) }
    }

    /// Whoever asks without a pause asks in the middle of the end.
    @Test(arguments: 0..<20)
    func `one that ends while it is asked takes with it what it has left behind`(round: Int) async throws {
        let folder = try TemporaryDirectory()
        try folder.directory.put("input")
        let child = try ChildProcess.start(
            ["sh", "-c", "sleep 1000 & echo $! > \(folder.path)/number"], environment: ["PATH=/usr/bin:/bin"],
            input: try folder.directory.openForReading(Array("input".utf8)))
        var end: ChildProcess.End?
        while end == nil { end = child.ended() }
        #expect(end == .exited(0))
        let number = String(Self.text(of: folder.path + "/number").dropLast())
        try await eventually("the end of \(number)") { Self.isGone(number) }
    }

    @Test func `one that takes too long can be ended, with all that it has started`() async throws {
        let folder = try TemporaryDirectory()
        let directory = try Directory.open(path: folder.path)
        try directory.put(Array("input".utf8), [])
        let child = try ChildProcess.start(
            ["sh", "-c", "sleep 1000 & sleep 1000"], environment: ["PATH=/usr/bin:/bin"],
            input: try directory.openForReading(Array("input".utf8)))
        let reactor = try Reactor()
        defer { reactor.stop() }
        let watch = ChildWatch(on: reactor)
        #expect(try await watch.end(of: child, until: .now + .milliseconds(20)) == nil)
        child.killNow()
        #expect(try await watch.end(of: child, until: .now + .seconds(60), isFinal: true) == .killed(9))
    }

    @Test func `one that is asked to end takes with it what it has started`() async throws {
        let folder = try TemporaryDirectory()
        let directory = try Directory.open(path: folder.path)
        try directory.put(Array("input".utf8), [])
        let stubborn = "sh -c 'trap \"\" TERM; echo $$ > \(folder.path)/number; exec sleep 1000' & wait"
        let child = try ChildProcess.start(
            ["sh", "-c", stubborn], environment: ["PATH=/usr/bin:/bin"],
            input: try directory.openForReading(Array("input".utf8)))
        let reactor = try Reactor()
        defer { reactor.stop() }
        var number = ""
        try await eventually("it ignores TERM") {
            number = Self.text(of: folder.path + "/number")
            return number.hasSuffix("\n")
        }
        child.terminate()
        let end = try await ChildWatch(on: reactor).end(of: child, until: .now + .seconds(60), isFinal: true)
        #expect(end == .killed(15))
        try await eventually("nobody is left") { Self.isGone(String(number.dropLast())) }
    }

    /// Whether a process has ended. Whoever is its parent now may not have noticed yet.
    private static func isGone(_ number: String) -> Bool {
        let status = text(of: "/proc/\(number)/stat")
        return status.isEmpty || status.contains(") Z ")
    }

    /// What is in a file; nothing if it is not there.
    private static func text(of path: String) -> String {
        String(decoding: (try? OpenFile.open(path: path).contents(limit: 4096)) ?? [], as: UTF8.self)
    }
}
