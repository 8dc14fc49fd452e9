import APNSModel
import ArgumentParser
import LinuxIO
import PushDaemon
import SpoolModel

/// `pushspool status`.
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what the daemon and each app are doing.",
        discussion: """
            Reads what the daemon says of itself in <spool>/.pushspool/public/<node>/status.json, once a second while jobs \
            are under way and every 30 seconds otherwise. Exits with 75 if no daemon says anything. With --watch, shows it \
            and what waits in new/ again each second until q is pressed or a signal comes. With names, only those apps are shown.

            Example: pushspool status --config etc/pushspool.yaml
            """)

    @OptionGroup var options: ConfigurationOption

    @Flag(help: "Print the file as it is.")
    var json = false

    @Flag(name: .shortAndLong, help: "Show it again each second.")
    var watch = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("Apps to show; all if none is named; - for those on standard input.", valueName: "app"))
    var apps: [String] = []

    func validate() throws {
        guard !json || apps.isEmpty else { throw ValidationError("--json prints the whole file: leave out the apps.") }
        guard !(watch && json) else { throw ValidationError("--watch is for people: leave out --json.") }
    }

    func run() throws {
        let daemon = try ConfigurationLoader(path: options.config).daemon()
        let node = daemon.node ?? Host.name
        let names = try input.all(of: apps)
        // Standard input may have had no names at all.
        if names.isEmpty, !apps.isEmpty { return }
        if watch { return try keepShowing(node, names, in: daemon.spool) }
        let file = try file(of: node, in: daemon.spool)
        guard let status = file.status?.limited(to: names) else {
            Talk.complain(
                "\(SpoolStatus.fileName) of \(node) in \(daemon.spool) is not of this version",
                hint: "use the pushspool that the daemon is of")
            throw ExitCode.badInput
        }
        try OutputBuffer.printing(hint: "see where standard output goes") { output in
            if json { try output.append(file.bytes) } else { try output.append(lines: lines(of: status)) }
        }
        let age = now - status.writtenAt
        guard age <= SpoolStatus.interval * 2 else {
            Talk.complain(
                "the daemon has said nothing for \(seconds(age))",
                hint: "see whether process \(status.processID) runs, and whether its disk answers")
            throw ExitCode.tryAgain
        }
        try complain(ofMissing: names.filter { name in !status.apps.contains { $0.name == name } })
    }

    private func complain(ofMissing names: [String]) throws {
        guard !names.isEmpty else { return }
        for name in names {
            Talk.complain("the daemon says nothing of an app \(name)", hint: "see: pushspool status\(options.repeated)")
        }
        throw ExitCode.failure
    }

    private func keepShowing(_ node: String, _ apps: [String], in spool: String) throws {
        do throws(SystemError) {
            var watch = StatusWatch(spool: spool, node: node, apps: apps)
            try watch.run(until: Program.signals)
        } catch {
            // Whoever read this has enough.
            if error.isBrokenPipe { return }
            Talk.complain("\(error)", hint: "check the spool's path, and whether the terminal is still there")
            throw ExitCode.badInput
        }
    }

    private var now: WallTime { WallTime(nanoseconds: WallClock.nanoseconds()) }

    private func file(of node: String, in spool: String) throws -> StatusFile {
        do throws(SystemError) {
            return try StatusFile(spool: spool, node: node)
        } catch {
            Talk.complain(
                "no daemon says anything: \(error)",
                hint: "start one: pushspool run --config \(ShellWord.spelled(options.config))")
            throw ExitCode.tryAgain
        }
    }

    private func lines(of status: SpoolStatus) -> [String] {
        let doing = status.isStopping ? "stopping" : "running"
        let head = "node \(status.node), process \(status.processID), \(doing), started \(status.startedAt.rfc3339)"
        let rows = status.apps.map { app in
            let since = app.since.map { "  for \(seconds(now - $0))" } ?? ""
            let until = app.until.map { "  until \($0.rfc3339)" } ?? ""
            return [app.name, app.state.rawValue, "\(app.jobCount)", (app.gateway ?? "") + since + until]
        }
        let table = Table(header: ["app", "state", "jobs", "gateway"], rows: rows, rightAligned: [2]).lines
        let warnings = status.apps.compactMap { app in app.expiry(at: now).map { "\($0); see pushspool check" } }
        let faults = status.apps.compactMap(\.waitReason)
        let jobs = status.apps.flatMap { app in app.progress.map { "\(app.name)/\($0.name)  \($0.inWords)" } }
        return [head] + table + faults + warnings + jobs
    }

    private func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}

extension SpoolStatus {
    /// It with these apps only, if any are named.
    func limited(to names: [String]) -> SpoolStatus {
        guard !names.isEmpty else { return self }
        var status = self
        status.apps.removeAll { !names.contains($0.name) }
        return status
    }
}

extension SpoolStatus.App {
    /// Why it waits, or does not start, if it says so: `weather waits for room in the journal: …`.
    var waitReason: String? { reason.map { "\(name) \(state == .starting ? "cannot start: " : "")\($0)" } }

    /// What there is to say of its certificate, if that has 30 days left at most: `weather: certificate expires on …`.
    func expiry(at now: WallTime) -> String? {
        guard let notAfter = credentials?.notAfter else { return nil }
        return CertificateExpiry.words(of: notAfter, at: now).map { "\(name): certificate \($0)" }
    }
}
