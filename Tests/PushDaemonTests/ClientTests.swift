import Foundation
import GatewaySimulator
import SpoolClient
import TestSupport
import Testing

/// The clients in Swift, Python and shell, each with a daemon. `Tests/Clients` tries the last two without one.
@Suite struct ClientTests {
    /// What a client is written in.
    enum Client: String, CaseIterable {
        case swift, python, shell
    }

    @Test(arguments: Client.allCases)
    func `what a client submits is sent, and it finds the job and reads what came back`(client: Client) async throws {
        var setup = try Bench.Setup()
        setup.gateway.rules.unregistered = [Array(hex: token(2))]
        try await Bench.serving(setup) { bench, _ in
            let text = #"{"tokens":["\#(token(1))","\#(token(2))"],"payload":{"aps":{"alert":"Hi"}},"id":"mine"}"#
            try bench.write("staged/two of us.json", text)
            let name = try await submit("two of us.json", by: client, on: bench)
            let line = try await bench.end(of: name)
            #expect(name.hasPrefix("two of us-") && line.accepted == 1 && line.rejected == 1 && line.ref == "mine")
            #expect(try await place(of: name, by: client, on: bench) == line.path)
            let lines = try await feedback(by: client, on: bench)
            #expect(Set(lines.compactMap(\.kind)) == ["job", "notification"] && lines.count == 2, "\(lines)")
            #expect(lines.first { $0.kind == "notification" }?.token == token(2))
            #expect(bench.names(in: "weather/feedback").allSatisfy { $0.hasPrefix(".") })
        }
    }

    @Test func `a long job that is streamed in Python is taken at once and sent whole`() async throws {
        // Were it not renamed into place, it would be waited for longer than this test lasts.
        try await Bench.serving(try .init(patience: "1h")) { bench, _ in
            let script = """
                recipients = (f"{number:064x}" for number in range(2000))
                print(pushspool.submit_lines(spool, recipients, app="weather", defaults={"alert": "Hi"}))
                """
            let name = try await python(script, [], on: bench)
            #expect(try await bench.end(of: name).accepted == 2000)
            #expect(await bench.simulator.ledger.acceptedCount == 2000)
        }
    }

    // MARK: Steps

    private func submit(_ file: String, by client: Client, on bench: Bench) async throws -> String {
        let path = bench.path + "/staged/" + file
        switch client {
        case .swift:
            let text = try String(contentsOfFile: path, encoding: .utf8)
            return try Submission(app: "weather", spool: bench.spool).submit(Array(text.utf8), name: file)
        case .python:
            return try await run(pythonClient("submit", on: bench) + [path], on: bench)
        case .shell:
            return try await shell("pushspool_submit", [path], on: bench)
        }
    }

    /// Where a client says that a job is, which all of them do with its state and its result.
    private func place(of name: String, by client: Client, on bench: Bench) async throws -> String {
        switch client {
        case .swift:
            let place = try JobLocator(app: "weather", spool: bench.spool).place(of: name)
            guard case .done(let day, _?)? = place else { return String(describing: place) }
            return "weather/done/\(day)/\(name)"
        case .python:
            let script = """
                end = pushspool.wait(spool, sys.argv[3], app="weather", timeout=60)
                print(f"weather/{end.path}" if end.state == "done" and end.result["counts"]["rejected"] == 1 else end)
                """
            return try await python(script, [name], on: bench)
        case .shell:
            let text = try await shell("pushspool_wait", [name, "60"], code: 65, on: bench)
            let lines = text.split(separator: "\n", maxSplits: 1)
            #expect(lines.count == 2 && lines.last?.contains(#""rejected":1"#) == true, "\(text)")
            return String(lines.first?.dropFirst("done ".count) ?? "")
        }
    }

    private func feedback(by client: Client, on bench: Bench) async throws -> [Line] {
        let text: String
        switch client {
        case .swift:
            let reader = try FeedbackReader(app: "weather", spool: bench.spool)
            var lines: [String] = []
            for file in try reader.files() {
                try reader.forEachLine(of: file) { lines.append($0) }
                try reader.remove(file)
            }
            text = lines.joined(separator: "\n")
        case .python: text = try await run(pythonClient("feedback", on: bench) + ["--consume"], on: bench)
        case .shell: text = try await shell("pushspool_consume", [], on: bench)
        }
        return try text.split(separator: "\n").map { try Line($0) }
    }

    // MARK: Running

    private static let clients = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "etc/clients").path

    private func pythonClient(_ command: String, on bench: Bench) -> [String] {
        ["python3", "-B", Self.clients + "/pushspool.py", command, "--spool", bench.spool, "--app", "weather"]
    }

    /// Runs lines in Python, which find the module and the spool.
    private func python(_ script: String, _ arguments: [String], on bench: Bench) async throws -> String {
        let head = "import sys; sys.path.insert(0, sys.argv[1]); spool = sys.argv[2]; import pushspool\n"
        return try await run(["python3", "-B", "-c", head + script, Self.clients, bench.spool] + arguments, on: bench)
    }

    /// Calls a function of the shell's client.
    private func shell(
        _ function: String, _ arguments: [String], code: Int32 = 0, on bench: Bench
    ) async throws -> String {
        let script = #"file=$1; shift; . "$file"; \#(function) "$@""#
        let command = ["sh", "-c", script, "sh", Self.clients + "/pushspool.sh", bench.spool, "weather"]
        return try await run(command + arguments, code: code, on: bench)
    }

    /// What a program prints, without the last line's end.
    private func run(_ command: [String], code: Int32 = 0, on bench: Bench) async throws -> String {
        let program = try Program("/usr/bin/env", command, logs: bench.path + "/logs")
        let end = try await program.end()
        try #require(end == code, "\(command): \(program.text)\(program.log)")
        return program.text.trimmingCharacters(in: .newlines)
    }
}

extension Bench {
    /// The spool's path.
    fileprivate var spool: String { path + "/spool" }
}
