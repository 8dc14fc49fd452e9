import Foundation
import GatewaySimulator
import LinuxIO
import Logging
import TestSupport
import Testing

/// A spool with its configuration, and a gateway, for one test.
struct Bench: Sendable {
    let folder: TemporaryDirectory
    let simulator: Simulator
    let path: String
    /// How long a binary gateway is silent about what it has accepted. On a busy machine one that refuses takes a while.
    let silence: String

    /// How a bench is made.
    struct Setup: Sendable {
        var gateway = Simulator.Configuration()
        /// Lines for the daemon's file, instead of these.
        var settle = "50ms"
        var patience = "400ms"
        var rescan = "1s"
        /// More of the section on intake, such as `, require_end: in_place`.
        var intake = ""
        /// The section on archives, such as `{keep_done: 0}`.
        var archive = "{}"
        /// Whether there is an app called weather.
        var hasApp = true
        /// More lines for its file.
        var app = ""

        init(script: String = "", app: String = "", patience: String = "400ms") throws {
            gateway.script = try FaultScript(script)
            gateway.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            self.app = app
            self.patience = patience
        }
    }

    /// Runs a gateway beside an empty spool while `body` runs.
    static func running(_ setup: Setup, _ body: @Sendable (Bench) async throws -> Void) async throws {
        try await Turnstile.daemons.passing {
            let folder = try TemporaryDirectory()
            var configuration = setup.gateway
            if configuration.certificates == nil { configuration.certificates = try .throwaway() }
            try configuration.certificates?.write(into: folder.path + "/certificates")
            try await Simulator.running(configuration) { simulator in
                let silence = setup.gateway.script == .none ? "300ms" : "3s"
                let bench = Bench(folder: folder, simulator: simulator, path: folder.path, silence: silence)
                try bench.configure(setup)
                try await body(bench)
            }
        }
    }

    /// The same with a daemon that runs, and ends well, and an app called weather.
    static func serving(
        _ setup: Setup, _ body: @Sendable (Bench, Program) async throws -> Void
    ) async throws {
        try await running(setup) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.says("app started")
                try await body(bench, daemon)
                #expect(try await daemon.stop() == 0, "\(daemon.log.suffix(2000))")
            }
        }
    }

    private func configure(_ setup: Setup) throws {
        for name in ["etc/apps", "spool", "logs", "staged", "run"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
        }
        try write(
            "etc/pushspool.yaml",
            """
            spool: ../spool
            state: ../state
            node: node-a
            intake:
              {settle: \(setup.settle), patience: \(setup.patience), rescan: \(setup.rescan)\(setup.intake)}
            feedback: {every: 20ms}
            archive: \(setup.archive)
            control: {folder: ../run}
            log: {level: debug}

            """)
        if setup.hasApp { try configureApp("weather", setup.app) }
    }

    /// Writes an app's file. `more` are further lines; `credentials` replaces the usual ones.
    func configureApp(_ name: String, _ more: String = "", credentials: String? = nil) throws {
        let standard = "credentials: {certificate: \(path)/certificates/client.pem}"
        let gateway = more.contains("gateway: ") ? "" : "gateway: localhost:\(simulator.ports.gateway)"
        let trust = more.contains("trust: ") ? "" : "trust: \(path)/certificates/ca.pem"
        let binary = more.contains("binary: ") ? "" : "binary: {confirm_after: \(silence)}"
        let environment = more.contains("environment: ") ? "" : "environment: sandbox"
        try write(
            "etc/apps/\(name).yaml",
            ["protocol: binary", environment, credentials ?? standard, trust, gateway, binary, more, ""]
                .filter { !$0.isEmpty }.joined(separator: "\n") + "\n")
    }

    // MARK: Running

    /// Starts the daemon, and makes sure that it has ended when `body` has.
    func withDaemon(
        drain: Int = 30, _ sabotage: Sabotage? = nil, _ body: (Program) async throws -> Void
    ) async throws {
        let command = ["run", "--config", "\(path)/etc/pushspool.yaml", "--drain", "\(drain)"]
        let daemon = if let sabotage { try start(command, with: sabotage) } else { try start(command) }
        try await watching(daemon, body)
    }

    /// Makes sure that a daemon has ended when `body` has.
    func watching(_ daemon: Program, _ body: (Program) async throws -> Void) async throws {
        do {
            try await body(daemon)
        } catch {
            try await daemon.destroy()
            throw error
        }
        try await daemon.destroy()
    }

    /// Starts the program with these arguments.
    func start(_ arguments: [String], input: String? = nil) throws -> Program {
        try Program(try BuiltProgram.path, arguments, input: input, logs: path + "/logs")
    }

    private func start(_ arguments: [String], with sabotage: Sabotage) throws -> Program {
        try Program("/usr/bin/env", sabotage.environment + [try BuiltProgram.path] + arguments, logs: path + "/logs")
    }

    /// Runs the program to its end.
    func run(_ arguments: [String], input: String? = nil) async throws -> (code: Int32, text: String, log: String) {
        let program = try start(arguments, input: input)
        let code = try await program.end()
        return (code, program.text, program.log)
    }

    /// Gives an operator's command.
    func operate(
        _ command: String..., input: String? = nil
    ) async throws -> (code: Int32, text: String, log: String) {
        try await operate(command, input: input)
    }

    /// Runs an operator's command to its end.
    func operate(
        _ command: [String], input: String? = nil
    ) async throws -> (code: Int32, text: String, log: String) {
        try await run([command[0], "--config", "\(path)/etc/pushspool.yaml"] + command.dropFirst(), input: input)
    }

    /// Runs one of the system's programs to its end.
    func tool(_ arguments: String...) async throws {
        let program = try Program("/usr/bin/env", arguments, logs: path + "/logs")
        let code = try await program.end()
        try #require(code == 0, "\(arguments): \(program.log)")
    }

    /// Runs one of the system's programs to its end, and returns what it prints.
    func output(_ arguments: String...) async throws -> String {
        let program = try Program("/usr/bin/env", arguments, logs: path + "/logs")
        let code = try await program.end()
        try #require(code == 0, "\(arguments): \(program.log)")
        return program.text
    }

    // MARK: Files

    func write(_ name: String, _ text: String) throws {
        let file = "\(path)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        // An app's file may have a proxy's password.
        guard name.hasPrefix("etc/apps/") else { return }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    /// Drops a job as it should be: written elsewhere, then renamed into place.
    func drop(_ name: String, _ text: String, app: String = "weather") throws {
        let staged = Array(UUID().uuidString.utf8)
        let staging = try Directory.open(path: path + "/staged")
        try staging.put(staged, Array(text.utf8))
        let new = try Directory.open(path: "\(path)/spool/\(app)/new")
        try staging.rename(staged, to: new, replacing: Array(name.utf8))
    }

    /// The names in a folder of the spool, such as `weather/new`; none if it is not there.
    ///
    /// Without the file that a daemon moves through an app's folders when it opens them: it may be in any of them for a moment.
    func names(in name: String) -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/spool/\(name)").sorted()) ?? []
        return all.filter { !$0.hasPrefix(".probe-") }
    }

    /// The paths of files in an archive (`done`, `failed`), from the spool on; day by day.
    func archived(_ folder: String, app: String = "weather") -> [String] {
        names(in: "\(app)/\(folder)").flatMap { day in
            names(in: "\(app)/\(folder)/\(day)").map { "\(app)/\(folder)/\(day)/\($0)" }
        }
    }

    /// The names of jobs in an archive, without result files.
    func jobs(in folder: String, app: String = "weather") -> [String] {
        archived(folder, app: app).compactMap { $0.split(separator: "/").last.map(String.init) }
            .filter { !$0.hasSuffix(".result.json") }
    }

    func contents(_ name: String) throws -> String {
        try String(contentsOfFile: "\(path)/spool/\(name)", encoding: .utf8)
    }

    // MARK: Outcomes

    /// All feedback lines so far, in order, as text.
    func texts(app: String = "weather") throws -> [String] {
        try names(in: "\(app)/feedback").filter { $0.hasSuffix(".jsonl") && !$0.hasPrefix(".") }.flatMap {
            try contents("\(app)/feedback/\($0)").split(separator: "\n").map(String.init)
        }
    }

    /// All feedback lines of a kind so far, in order.
    func lines(_ kind: String, app: String = "weather") throws -> [Line] {
        try texts(app: app).map { try Line($0) }.filter { $0.kind == kind }
    }

    /// Waits until a job is over: its line is out and it is archived.
    func end(of name: String, app: String = "weather") async throws -> Line {
        let line = try await awaited("line of \(name), have \(try texts(app: app))") {
            try lines("job", app: app).last { $0.job == name }
        }
        let path = try #require(line.path)
        try await eventually("\(path)") { FileManager.default.fileExists(atPath: "\(self.path)/spool/\(path)") }
        return line
    }

    /// The result file beside an archived job.
    func result(of line: Line) async throws -> Line {
        let path = try #require(line.path) + ".result.json"
        return try await awaited(path) { (try? contents(path)).flatMap { try? Line($0) } }
    }

    /// Waits until so many notifications were accepted in all.
    func accepted(_ count: Int) async throws -> Ledger {
        try await awaited("\(count) accepted") {
            let ledger = await simulator.ledger
            return ledger.acceptedCount >= count ? ledger : nil
        }
    }
}

/// The token with this number, in hexadecimal.
func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "ab", count: 24) + String(repeating: "0", count: 16 - digits.count) + digits
}

/// A job for the token with this number, as JSON.
func job(_ number: Int, _ more: String = "") -> String {
    #"{"token":"\#(token(number))","payload":{"aps":{"alert":"n\#(number)"}}\#(more)}"#
}
