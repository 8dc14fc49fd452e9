import Foundation
import GatewaySimulator
import TestSupport
import Testing

/// The examples of pushspool(1) are run as they stand there, and print what they print there.
@Suite struct ManualExampleTests {
    /// The token of the examples that is gone.
    private static let goneToken = "2be9fec91c2c7e4b40fedb0d2bf11da0f6fe4a7047946e3bd492a7377e7c6154"

    @Test func `the examples of pushspool(1) print what they print there`() async throws {
        let steps = try ManualStep.all()
        try #require(steps.count > 20)
        let modern = try Modern { $0.unregistered = [Array(hex: Self.goneToken): 1_795_262_400_000] }
        try await modern.running { bench in
            let desk = try Desk(on: bench)
            try bench.configureModern(as: "weather")
            try bench.configureModern("rate: 5/s", as: "news")
            try await bench.withDaemon { daemon in
                try await daemon.says("app started", times: 2)
                for step in steps { try await desk.follow(step, daemon) }
                try await daemon.destroy()
            }
        }
    }

    @Test func `the quick start of the README works as it is pasted`() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let block = try #require(readme.components(separatedBy: "pasted into a shell:\n\n```sh\n").last)
        let lines = try #require(block.components(separatedBy: "```").first).split(separator: "\n")
        // The program is built.
        try #require(lines.first?.hasPrefix("make build && PATH=") == true)
        try await Bench.running(try .init()) { bench in
            let checkout = bench.path + "/checkout"
            try FileManager.default.createDirectory(atPath: checkout + "/.build", withIntermediateDirectories: true)
            for name in ["etc", "spool"] { try await bench.tool("cp", "-r", "\(root.path)/\(name)", checkout) }
            try await bench.tool("chmod", "-R", "go-w", checkout)
            let folder = try BuiltProgram.path.split(separator: "/").dropLast().joined(separator: "/")
            let script =
                ["cd '\(checkout)'", "PATH=/\(folder):$PATH"] + lines.dropFirst() + ["pushspool stop; kill %1; wait"]
            let shell = try Program("/bin/bash", ["-c", script.joined(separator: "\n")], logs: bench.path + "/logs")
            _ = try await shell.end()
            #expect(shell.text.contains(".json: done, all accepted\n"), "\(shell.text) \(shell.log)")
            for word in ["fault ", "warn names", "warn permissions", "warn daemon"] {
                #expect(!shell.text.contains("\n" + word) && !shell.text.hasPrefix(word), "\(shell.text)")
            }
            #expect(shell.text.contains("control socket answers"), "\(shell.text)")
        }
    }

    @Test func `an example is met by what differs in times and ids only`() {
        let step = ManualStep(
            line: "pushspool list", output: ["app  age  job", "news  5 s  a-0123456789abcdef.json", "[...]", "end"])
        #expect(step.isMet(by: "app   age job\nnews 12 min a-fedcba9876543210.json\nmore\nend\n"))
        #expect(!step.isMet(by: "app   age job\nnews 12 min b-fedcba9876543210.json\nmore\nend\n"))
        #expect(!step.isMet(by: "end\napp age job\nnews 1 s a-fedcba9876543210.json\n"))
        #expect(!ManualStep(line: "true", output: ["a"]).isMet(by: "a\nb\n"))
        #expect(ManualStep(line: "true", output: []).isMet(by: ""))
    }
}

/// A folder in which the lines of the examples are run, beside a spool.
private struct Desk {
    /// What is not to be done again until it prints what it should.
    private static let doneOnce = [
        "pushspool submit ", "pushspool demo ", "pushspool hold ", "pushspool release ", "pushspool cancel ",
        "pushspool expire ", "pushspool retry news", "pushspool stop ", "pushspool channel delete ",
        "pushspool app add ",
    ]

    private let bench: Bench
    private var path: String { bench.path + "/desk" }

    /// Makes the folder, and a program called pushspool that takes the bench's configuration for the usual one.
    init(on bench: Bench) throws {
        self.bench = bench
        for folder in ["desk", "bin"] {
            try FileManager.default.createDirectory(
                atPath: "\(bench.path)/\(folder)", withIntermediateDirectories: true)
        }
        let program = try BuiltProgram.path
        try bench.write(
            "bin/pushspool",
            """
            #!/bin/sh
            case $1 in
            simulate | demo | journal | schema) exec '\(program)' "$@" ;;
            esac
            command=$1
            shift
            if [ "$command" = channel ] || [ "$command" = app ]; then
                action=$1
                shift
                exec '\(program)' "$command" "$action" --config '\(bench.path)/etc/pushspool.yaml' "$@"
            fi
            exec '\(program)' "$command" --config '\(bench.path)/etc/pushspool.yaml' "$@"

            """)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: bench.path + "/bin/pushspool")
        try FileManager.default.copyItem(
            atPath: bench.path + "/etc/key.p8", toPath: bench.path + "/desk/AuthKey_ABC123DEFG.p8")
        try bench.write(
            "desk/weather-adminsdk.json", String(decoding: try ThrowawayServiceAccount().file, as: UTF8.self))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: bench.path + "/desk/weather-adminsdk.json")
    }

    /// Does what a step does, and judges what it prints.
    func follow(_ step: ManualStep, _ daemon: Program) async throws {
        if step.line.hasPrefix("cat ") {
            // What the page shows is what is to be there.
            try bench.write("desk/\(step.line.dropFirst(4))", step.output.map { $0 + "\n" }.joined())
        } else if step.line == "pushspool run" {
            let said = Set(ManualStep.forms(told(daemon.log)))
            let wanted = ManualStep.forms(step.output.joined(separator: "\n")).filter { $0 != "[...]" }
            #expect(!wanted.isEmpty && said.isSuperset(of: wanted), "\(wanted) in \(said)")
        } else if step.line.hasPrefix("pushspool simulate ") || step.line.hasSuffix(" --watch") {
            let program = try start("exec " + step.line)
            try await eventually("\(step), not \(told(program.text))") { step.isMet(by: told(program.text)) }
            try await program.destroy()
        } else if step.line.hasPrefix("pushspool "), !Self.doneOnce.contains(where: step.line.hasPrefix) {
            var text = ""
            try await eventually("\(step), not \(text)") {
                text = try await run(step.line)
                return step.isMet(by: text)
            }
        } else {
            let text = try await run(step.line)
            #expect(step.isMet(by: text), "\(step), not \(text)")
        }
    }

    private func run(_ line: String) async throws -> String {
        let program = try start(line)
        try await program.end()
        return told(program.text)
    }

    private func start(_ line: String) throws -> Program {
        let script = "exec 2>&1; cd \"$0\" || exit; PATH=\"$0/../bin:$PATH\"; \(meant(line))"
        return try Program("/bin/bash", ["-c", script, path], logs: bench.path + "/logs")
    }

    /// A line with the bench's paths in the place of the page's.
    private func meant(_ line: String) -> String {
        let places = [
            ("/var/spool/pushspool", bench.path + "/spool"), ("/host-a/", "/node-a/"),
            ("/tmp/gateway", bench.path + "/gateway"), ("/tmp/tour", bench.path + "/tour"),
        ]
        return places.reduce(line) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }

    /// What was printed with the page's paths in the place of the bench's.
    private func told(_ text: String) -> String {
        let places = [
            (bench.path + "/etc/../spool", "/var/spool/pushspool"), (bench.path + "/spool", "/var/spool/pushspool"),
            (bench.path + "/gateway", "/tmp/gateway"), (bench.path + "/tour", "/tmp/tour"), ("node-a", "host-a"),
            (bench.path + "/etc/apps", "/etc/pushspool/apps"),
            // The page has the standard file, which need not be repeated.
            (" --config \(bench.path)/etc/pushspool.yaml", ""),
        ]
        return places.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
