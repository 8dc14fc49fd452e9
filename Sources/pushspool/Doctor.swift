import ArgumentParser
import LinuxIO
import PushDaemon

/// The command `pushspool doctor`.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find out why nothing is sent, and say what to do.",
        discussion: """
            Looks at the configuration and the credentials, the spool with its owners and modes, the way to each \
            gateway (names, routes, TLS, and what it says of the app), the clock, the filesystem, the kernel's limits \
            and the daemon, and prints a line for each: fault, warn or ok, with a hint; faults first. May be used while \
            the daemon runs: it takes no lock and sends no notification; its files are called .doctor-<process> and are \
            removed. Run it as the daemon's user. Exits with 78 for a fault, 1 for a warning, 0 if all is well.

            Example: pushspool doctor --config etc/pushspool.yaml weather
            """)

    @OptionGroup var options: ConfigurationOption

    @Option(help: ArgumentHelp("How long all of it may take: 30 or 30s, 5m.", valueName: "duration"))
    var timeout = TimeLimit(seconds: 30)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var input: NameInput

    @Argument(
        help: ArgumentHelp("Apps to look at; all if none is named; - for those on standard input.", valueName: "app"))
    var apps: [String] = []

    func validate() throws {
        guard (1...3600).contains(timeout.seconds) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    }

    func run() async throws {
        let names = try input.all(of: apps)
        // Standard input may have contained no names.
        if names.isEmpty, !apps.isEmpty { return }
        let settings = Examination.Settings(path: options.config, apps: names, timeout: .seconds(timeout.seconds))
        let report = try await report(settings)
        if json {
            Talk.say(report.json)
        } else {
            for line in report.lines { Talk.say(line) }
        }
        switch report.severity {
        case .fault: throw ExitCode.badConfiguration
        case .warn: throw ExitCode.failure
        case .ok: return
        }
    }

    private func report(_ settings: Examination.Settings) async throws -> DoctorReport {
        do {
            return try await Examination(settings).report()
        } catch let error as SystemError {
            Talk.complain("\(error)", hint: "see the limits on open files and threads, and try again")
            throw ExitCode.tryAgain
        }
    }
}
