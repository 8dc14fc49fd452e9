import APNSModel
import ArgumentParser
import Configuration
import Doctor
import LinuxIO
import PushDaemon
import SpoolModel

/// The command `pushspool status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the state of the daemon and of each app.",
        discussion: """
            Reads <spool>/.pushspool/public/<node>/status.json, which the daemon writes once a second while jobs are active \
            and every 30 seconds otherwise. Exits with 75 if no daemon is running. With --watch, repeats each second, with \
            the waiting jobs, until you press q or send a signal. If you name apps, shows only those.

            Example: pushspool status --config etc/pushspool.yaml
            """)

    @OptionGroup var options: ConfigurationOption

    @Flag(help: "Print the file unchanged.")
    var json = false

    @Flag(name: .shortAndLong, help: "Refresh each second.")
    var watch = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("Apps to show; all apps by default; - reads names from standard input.", valueName: "app"))
    var apps: [String] = []

    func validate() throws {
        guard !json || apps.isEmpty else { throw ValidationError("--json prints the whole file: do not name apps.") }
        guard !(watch && json) else { throw ValidationError("--watch cannot be combined with --json.") }
    }

    func run() throws {
        let daemon = try ConfigurationLoader(path: options.config).places().daemon
        let node = daemon.node ?? Host.name
        let names = try input.all(of: apps)
        // Standard input may have contained no names.
        if names.isEmpty, !apps.isEmpty { return }
        if watch { return try keepShowing(names, of: daemon) }
        let file = try file(of: node, daemon)
        guard let status = file.status?.limited(to: names) else {
            Talk.complain(
                "\(SpoolStatus.fileName) of \(node) in \(daemon.spool) has another format version",
                hint: "use the daemon's version of pushspool")
            throw ExitCode.badInput
        }
        let isDead = daemon.hasDaemon == false
        try OutputBuffer.printing(hint: "check where standard output goes") { output in
            guard !json else { return try output.append(file.bytes) }
            try output.append(lines: lines(of: status, isDead: isDead))
        }
        guard !isDead else {
            Talk.complain(
                "the daemon ended without a clean shutdown; this is its last status",
                hint: "check its log, and start it: pushspool run --config \(ShellWord.spelled(options.config))")
            throw ExitCode.tryAgain
        }
        let age = now - status.writtenAt
        guard age <= SpoolStatus.interval * 2 else {
            Talk.complain(
                "the daemon has not updated its status for \(seconds(age))",
                hint: "check whether process \(status.processID) is running and its disk responds")
            throw ExitCode.tryAgain
        }
        try complain(ofMissing: names.filter { name in !status.apps.contains { $0.name == name } })
    }

    private func complain(ofMissing names: [String]) throws {
        guard !names.isEmpty else { return }
        for name in names {
            Talk.complain("the daemon has no app named \(name)", hint: "see: pushspool status\(options.repeated)")
        }
        throw ExitCode.failure
    }

    private func keepShowing(_ apps: [String], of daemon: DaemonConfiguration) throws {
        do throws(SystemError) {
            var watch = StatusWatch(of: daemon, apps: apps)
            try watch.run(until: Program.signals)
        } catch {
            // The reader has closed the pipe.
            if error.isBrokenPipe { return }
            Talk.complain("\(error)", hint: "check the spool's path and the terminal")
            throw ExitCode.badInput
        }
    }

    private var now: WallTime { WallTime(nanoseconds: WallClock.nanoseconds()) }

    private func file(of node: String, _ daemon: DaemonConfiguration) throws -> StatusFile {
        do throws(SystemError) {
            return try StatusFile(spool: daemon.spool, node: node)
        } catch {
            if daemon.hasDaemon == true {
                Talk.complain(
                    "the daemon is running, but its status cannot be read: \(error)",
                    hint: "check its log, and whether the volume of \(daemon.spool) is full")
                throw ExitCode.tryAgain
            }
            Talk.complain(
                "no daemon is running (no status.json in \(daemon.spool)): \(error)",
                hint: "start one: pushspool run --config \(ShellWord.spelled(options.config))")
            throw ExitCode.tryAgain
        }
    }

    private func lines(of status: SpoolStatus, isDead: Bool) -> [String] {
        let doing = isDead ? "dead" : status.isStopping ? "stopping" : "running"
        let head = "node \(status.node), process \(status.processID), \(doing), started \(status.startedAt.rfc3339)"
        let rows = status.apps.map { app in
            let since = app.since.map { "  for \(seconds(now - $0))" } ?? ""
            let until = app.until.map { "  until \($0.rfc3339)" } ?? ""
            let answer = app.silence(at: now).map { "  last answer \(seconds($0)) ago" } ?? ""
            return [app.name, app.state.rawValue, "\(app.jobCount)", (app.gateway ?? "") + since + until + answer]
        }
        let table = Table(header: ["app", "state", "jobs", "gateway"], rows: rows, rightAligned: [2]).lines
        let warnings = status.apps.compactMap { app in app.expiry(at: now).map { "\($0); see pushspool check" } }
        let faults = status.apps.compactMap(\.waitReason)
        let ignored = status.apps.filter { $0.ignoredCount > 0 }.map { app in
            "\(app.name): \(app.ignoredCount.of("file")) in new/ ignored; see pushspool doctor"
        }
        let jobs = status.apps.flatMap { app in app.progress.map { "\(app.name)/\($0.name)  \($0.inWords)" } }
        return [head] + table + faults + ignored + warnings + jobs
    }

    private func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}

extension SpoolStatus {
    /// Returns the status with only these apps; unchanged if none are named.
    func limited(to names: [String]) -> SpoolStatus {
        guard !names.isEmpty else { return self }
        var status = self
        status.apps.removeAll { !names.contains($0.name) }
        return status
    }
}

extension SpoolStatus.App {
    /// The reason why the app waits or does not start, if it has one: `weather waits for room in the journal: …`.
    var waitReason: String? { reason.map { "\(name) \(state == .starting ? "cannot start: " : "")\($0)" } }

    /// The time since the gateway's last answer, if jobs are under way and it is longer than 10 s.
    func silence(at now: WallTime) -> Duration? {
        guard state == .sending, !progress.isEmpty, let answeredAt, now - answeredAt > .seconds(10) else { return nil }
        return now - answeredAt
    }

    /// The warning about the app's certificate, if at most 30 days are left: `weather: certificate expires on …`.
    func expiry(at now: WallTime) -> String? {
        guard let notAfter = credentials?.notAfter else { return nil }
        return CertificateExpiry.words(of: notAfter, at: now).map { "\(name): certificate \($0)" }
    }
}
