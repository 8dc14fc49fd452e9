import ArgumentParser
import CommandProgram
import Configuration
import Doctor
import LinuxIO
import PushModel
import ServiceProcess
import SpoolInspection
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
            try output.append(lines: status.lines(at: now, isDead: isDead))
            guard status.cluster != nil else { return }
            let others = StatusFile.all(of: daemon.spool).filter { $0.node != node }.sorted { $0.node < $1.node }
            try output.append(lines: others.map(\.line))
        }
        guard !isDead else {
            Talk.complain(
                "the daemon ended without a clean shutdown; this is its last status",
                hint: "check its log, and start it: \(DaemonStart.command(for: options.config))")
            throw ExitCode.tryAgain
        }
        let age = now - status.writtenAt
        guard age <= SpoolStatus.interval * 2 else {
            Talk.complain(
                "the daemon has not updated its status for \(age.inSeconds)",
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
                hint: "start one: \(DaemonStart.command(for: options.config))")
            throw ExitCode.tryAgain
        }
    }
}
